//! Faults of a reply's JSON: something that cannot be read stands before what is right.

use axum::response::Response;
use bytes::Bytes;

use super::commit::whole;
use crate::catalog::FaultKind as Kind;

/// How deep the deeply nested lists are.
const DEPTH: usize = 100_000;

/// The reply with a member that cannot be read in front of the others.
pub(super) async fn spoil(kind: Kind, response: Response) -> Response {
    if !response.status().is_success() {
        return response;
    }
    let (parts, bytes) = whole(response).await;
    let Some(rest) = bytes.strip_prefix(b"{") else { return Response::from_parts(parts, bytes.into()) };
    let member = match kind {
        Kind::InvalidUtf8 => b"\"injected\":\"\xff\xfe\"".to_vec(),
        Kind::DeepNesting => ["\"injected\":", &"[".repeat(DEPTH), &"]".repeat(DEPTH)].concat().into_bytes(),
        Kind::HugeNumber => b"\"injected\":1e999".to_vec(),
        _ => b"\"injected\":,".to_vec(),
    };
    let spoilt = Bytes::from([b"{", member.as_slice(), b",", rest].concat());
    Response::from_parts(parts, spoilt.into())
}
