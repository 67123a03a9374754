//! The exact body of a run's first measured request, so that a number can be traced to what was asked.

use serde_json::{Value, json};

use crate::execute::wire;
use crate::plan::{Phases, Plan, VariantPlan};

/// Longest piece of a body that is kept as text; pictures and videos are longer.
const LONGEST_PIECE: usize = 64 << 10;

/// The first measured request as it goes over the wire, without headers, which may hold secrets.
pub(super) fn example(plan: &Plan, variant: &VariantPlan, phases: &Phases, model: &str) -> Option<Value> {
    let wire = wire(plan, &variant.endpoint, model);
    // a request that cannot be encoded fails its run, which says so
    let body = wire.encode(&phases.measured.request(0)?).ok()?;
    let text: String = body.segments.iter().map(|piece| shown(piece)).collect();
    Some(json!({
        "method": "POST",
        "path": wire.path(),
        "content_type": body.content_type,
        "content_length": body.len(),
        "body": text,
    }))
}

/// A piece of a body as text; of a file only its length.
fn shown(piece: &[u8]) -> String {
    match std::str::from_utf8(piece) {
        Ok(text) if text.len() <= LONGEST_PIECE => text.to_owned(),
        _ => format!("[{} bytes]", piece.len()),
    }
}
