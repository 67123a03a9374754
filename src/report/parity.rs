//! How alike the outputs of two arms are → sentences and a table. What was found comes from `parity`; what it
//! means beside the numbers of a comparison is said here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number::{ABSENT, fixed};
use super::sections::Section;
use super::table::{Align, Cell, Column, Table};
use super::text::counted;
use crate::compare::{Change, Comparison, Excluded};
use crate::parity::{Band, Counts, Likeness, Parity};

/// Metrics that tell which arm is the faster one.
const PACE: [&str; 2] = ["throughput_per_s", "latency_s.mean"];

/// Reasons told below the table; the rest are in the JSON.
const REASONS: usize = 5;

/// What `compare --format json` prints: the comparison, and how alike the outputs are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonJson {
    /// The numbers compared.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// The outputs compared; null when no run kept any (`run --save-media`), or with `--no-parity`.
    pub parity: Option<OutputParity>,
}

/// How alike the outputs of two arms are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutputParity {
    /// The gravest judgement among the runs; not compared when there are none.
    pub likeness: Likeness,
    /// What it comes to, in a sentence.
    pub text: String,
    /// Outputs of all runs by how alike they are.
    pub counts: Counts,
    /// Pairs of runs with outputs that were asked for the same, in the baseline's order.
    pub runs: Vec<RunParity>,
    /// Pairs of runs whose outputs were not compared, and why.
    pub skipped: Vec<Excluded>,
}

/// How alike the outputs of two runs are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunParity {
    /// The baseline's run.
    pub id: String,
    /// The candidate's.
    pub candidate_id: String,
    /// Median PSNR in decibels among pairs whose pixels differ; null when none do.
    pub median_psnr_db: Option<f64>,
    /// Median SSIM among pairs of other bytes whose pixels were compared; null when none has one.
    pub median_ssim: Option<f64>,
    /// What was found.
    #[serde(flatten)]
    pub found: Parity,
}

impl RunParity {
    /// Of two runs.
    pub fn new(id: String, candidate_id: String, found: Parity) -> Self {
        let differences = || found.pairs.iter().filter_map(|pair| pair.difference);
        let median_psnr_db = median(differences().filter_map(|difference| difference.psnr_db).collect());
        let median_ssim = median(differences().filter_map(|difference| difference.ssim).collect());
        Self { id, candidate_id, median_psnr_db, median_ssim, found }
    }
}

impl OutputParity {
    /// What the runs of a comparison come to.
    pub fn new(comparison: &Comparison, runs: Vec<RunParity>, skipped: Vec<Excluded>) -> Self {
        let mut counts = Counts::default();
        for run in &runs {
            let found = &run.found.counts;
            counts.identical += found.identical;
            counts.same_pixels += found.same_pixels;
            counts.unresolved += found.unresolved;
            counts.not_compared += found.not_compared;
            counts.different += found.different;
        }
        let likeness = runs.iter().map(|run| run.found.likeness).max().unwrap_or(Likeness::NotCompared);
        let text = sentence(comparison, &counts, &runs, &skipped);
        Self { likeness, text, counts, runs, skipped }
    }
}

/// The middle one, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    let lower = if values.len().is_multiple_of(2) { *values.get(middle.checked_sub(1)?)? } else { upper };
    Some(f64::midpoint(lower, upper))
}

const fn total(counts: &Counts) -> u64 {
    counts.identical + counts.same_pixels + counts.unresolved + counts.not_compared + counts.different
}

fn sentence(comparison: &Comparison, counts: &Counts, runs: &[RunParity], skipped: &[Excluded]) -> String {
    let all = counted(total(counts), "output");
    if runs.is_empty() {
        let why = skipped.first().map_or_else(String::new, |first| format!(": {}", first.reason));
        return format!("no outputs were compared{why}");
    }
    let mut parts = Vec::new();
    if counts.different > 0 {
        let who = who(comparison, runs);
        parts.push(format!("warning: {who}: {} of {all} {}", counts.different, apart(runs)));
    }
    if counts.unresolved > 0 {
        let why = if runs.iter().any(|run| is_known(run.found.band.as_ref())) {
            "differ no further than repeats of the baseline do: unresolved"
        } else {
            "differ, and without a second repeat of the baseline with saved media nobody knows whether restarts \
             differ as much: unresolved"
        };
        let lowest = lowest_psnr(runs, Likeness::Unresolved).map(|db| format!(" (PSNR down to {} dB)", fixed(db, 2)));
        parts.push(format!("{} of {all}{} {why}", counts.unresolved, lowest.unwrap_or_default()));
    }
    let same = counts.identical + counts.same_pixels;
    if same > 0 {
        let how = match (counts.identical, counts.same_pixels) {
            (_, 0) => "identical, byte for byte".to_owned(),
            (0, _) => "the same in every pixel, in other bytes".to_owned(),
            (identical, _) => format!("the same in every pixel, {identical} of them byte for byte"),
        };
        let whole = same == total(counts);
        parts.push(if whole { format!("all {all}: {how}") } else { format!("{same} of {all}: {how}") });
    }
    if counts.not_compared > 0 {
        parts.push(format!("{} of {all} could not be compared", counts.not_compared));
    }
    parts.join("; ")
}

/// Who draws what; the faster arm is named as such.
fn who(comparison: &Comparison, runs: &[RunParity]) -> String {
    let Comparison { baseline, candidate, .. } = comparison;
    let differs = |id: &str| {
        runs.iter().any(|run| {
            let of_point = run.id.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with(".r"));
            of_point && run.found.likeness == Likeness::Different
        })
    };
    let changes = comparison.runs.iter().filter(|run| differs(&run.id)).flat_map(|run| &run.metrics);
    let pace: Vec<Change> = changes
        .filter(|change| change.significant && PACE.contains(&change.metric.as_str()))
        .map(|change| change.direction)
        .collect();
    match (pace.contains(&Change::Better), pace.contains(&Change::Worse)) {
        (true, false) => format!("the faster arm, {candidate}, draws other pictures than {baseline}"),
        (false, true) => format!("the faster arm, {baseline}, draws other pictures than {candidate}"),
        _ => format!("{candidate} draws other pictures than {baseline}"),
    }
}

/// How far apart those are that differ.
fn apart(runs: &[RunParity]) -> String {
    let differing = || runs.iter().filter(|run| run.found.counts.different > 0);
    let psnr = lowest_psnr(runs, Likeness::Different);
    let seen = psnr.map_or_else(|| "in size or length".to_owned(), |db| format!("by PSNR down to {} dB", fixed(db, 2)));
    let bands = || differing().filter_map(|run| run.found.band).filter(|band| band.pairs > 0);
    let least = bands().filter_map(|band| band.min_psnr_db).reduce(f64::min);
    let noise = match (least, bands().next()) {
        (Some(least), _) => format!(", below the band of restart noise, which ends at {} dB", fixed(least, 2)),
        (None, Some(_)) => ", where repeats of the baseline draw the same pixels".to_owned(),
        (None, None) => String::new(),
    };
    format!("differ {seen}{noise}")
}

fn lowest_psnr(runs: &[RunParity], likeness: Likeness) -> Option<f64> {
    let pairs = runs.iter().flat_map(|run| &run.found.pairs).filter(|pair| pair.likeness == likeness);
    pairs.filter_map(|pair| pair.difference?.psnr_db).reduce(f64::min)
}

fn is_known(band: Option<&Band>) -> bool {
    band.is_some_and(|band| band.pairs > 0)
}

/// The table, what could not be compared, and why.
pub(super) fn section(parity: &OutputParity) -> Section {
    let mut lines: Vec<String> =
        parity.skipped.iter().map(|pair| format!("{}: not compared: {}", pair.id, pair.reason)).collect();
    lines.extend(reasons(parity));
    Section { title: "output parity".to_owned(), lines, table: table(&parity.runs) }
}

/// Why single outputs were not compared, each reason once.
fn reasons(parity: &OutputParity) -> Vec<String> {
    let mut reasons: indexmap::IndexMap<&str, u64> = indexmap::IndexMap::new();
    let pairs = parity.runs.iter().flat_map(|run| &run.found.pairs);
    for pair in pairs.filter(|pair| pair.likeness == Likeness::NotCompared) {
        *reasons.entry(pair.reason.as_str()).or_default() += 1;
    }
    let mut lines: Vec<String> = reasons
        .iter()
        .take(REASONS)
        .map(|(reason, count)| {
            let reason = reason.strip_prefix("not compared: ").unwrap_or(reason);
            format!("{} not compared: {reason}", counted(*count, "output"))
        })
        .collect();
    if reasons.len() > REASONS {
        lines.push(format!("and {} more reasons, which the JSON has", reasons.len() - REASONS));
    }
    lines
}

fn table(runs: &[RunParity]) -> Table {
    let columns = vec![
        Column::text("id", "Baseline Run"),
        Column::text("candidate_id", "Candidate Run"),
        Column::text("likeness", "Outputs"),
        Column::number("counts.identical", "Identical", 0),
        Column::number("counts.same_pixels", "Same Pixels", 0),
        Column::number("counts.unresolved", "Unresolved", 0),
        Column::number("counts.different", "Different", 0),
        Column::number("counts.not_compared", "Not Compared", 0),
        Column::number("min_psnr_db", "Min PSNR (dB)", 2),
        Column::number("median_psnr_db", "Median PSNR (dB)", 2),
        Column::number("min_ssim", "Min SSIM", 4),
        Column::number("median_ssim", "Median SSIM", 4),
        Column { align: Align::Right, ..Column::text("band", "Band of Repeats") },
    ];
    let rows = runs.iter().map(|run| -> Vec<Cell> {
        let Parity { likeness, counts, min_psnr_db, min_ssim, band, .. } = &run.found;
        vec![
            run.id.as_str().into(),
            run.candidate_id.as_str().into(),
            words(*likeness).into(),
            Some(counts.identical).into(),
            Some(counts.same_pixels).into(),
            Some(counts.unresolved).into(),
            Some(counts.different).into(),
            Some(counts.not_compared).into(),
            (*min_psnr_db).into(),
            run.median_psnr_db.into(),
            (*min_ssim).into(),
            run.median_ssim.into(),
            restarts(band.as_ref()).into(),
        ]
    });
    let notes = vec![
        "PSNR is among outputs whose pixels differ, SSIM among those of other bytes; band: how far apart repeats of \
         the baseline are at most, the noise of restarts"
            .to_owned(),
    ];
    let table = Table { columns, rows: rows.collect(), notes };
    if table.rows.is_empty() { Table::default() } else { table.without_empty_columns(&[]) }
}

const fn words(likeness: Likeness) -> &'static str {
    match likeness {
        Likeness::Identical => "identical",
        Likeness::SamePixels => "same pixels",
        Likeness::Unresolved => "unresolved",
        Likeness::NotCompared => "not compared",
        Likeness::Different => "different",
    }
}

/// The band in a cell.
fn restarts(band: Option<&Band>) -> String {
    let Some(band) = band.filter(|band| band.pairs > 0) else { return ABSENT.to_owned() };
    let repeats = counted(band.repeats, "repeat");
    match (band.min_psnr_db, band.min_ssim) {
        (None, _) => format!("same pixels ({repeats})"),
        (Some(db), None) => format!("PSNR {} dB ({repeats})", fixed(db, 2)),
        (Some(db), Some(ssim)) => format!("PSNR {} dB, SSIM {} ({repeats})", fixed(db, 2), fixed(ssim, 4)),
    }
}
