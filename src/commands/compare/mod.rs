//! `omni-bench compare`: stored results in, a comparison out.

mod arms;
mod outputs;

pub(super) use arms::all_points;
use arms::{ArmError, Named, arm, variant_arm};
use outputs::Side;

use super::Ui;
use super::failure::Failure;
use super::stored::{self, Stored};
use crate::catalog::WarningKind;
use crate::cli::{CompareArgs, CompareFormat};
use crate::compare::{Arm, CompareError, CompareSettings, Comparison, SelfTest, TRIALS, compare, self_test};
use crate::exit::Exit;
use crate::plan::Plan;
use crate::record::write_atomic;
use crate::report::{self, ComparisonJson, OutputParity};

/// Draws of a bootstrap within a self-test, which is made of hundreds of comparisons.
const SELF_TEST_RESAMPLES: usize = 100;

impl From<ArmError> for Failure {
    fn from(error: ArmError) -> Self {
        let exit = match &error {
            ArmError::Read(_) => Exit::Results,
            ArmError::NoRun { .. } => Exit::Usage,
            ArmError::Empty(_) => Exit::NotComparable,
        };
        Self { exit, message: error.to_string() }
    }
}

impl From<CompareError> for Failure {
    fn from(error: CompareError) -> Self {
        Self::usage(error)
    }
}

pub(super) fn run(args: &CompareArgs, ui: Ui) -> Exit {
    match carry_out(args, ui) {
        Ok(exit) => exit,
        Err(failure) => {
            ui.error(&failure.message);
            failure.exit
        }
    }
}

fn carry_out(args: &CompareArgs, ui: Ui) -> Result<Exit, Failure> {
    if let Some(given) = &args.self_test {
        return self_tested(given, args, ui);
    }
    let Some(given) = &args.baseline else { return Err(Failure::usage("there is nothing to compare")) };
    let comparisons = match &args.candidate {
        Some(candidate) => vec![two(given, candidate, args)?],
        None => of_variants(given, args)?,
    };
    let text = match (args.format, comparisons.as_slice()) {
        (CompareFormat::Json, [only]) => json(only)?,
        (CompareFormat::Json, several) => {
            let names: Vec<&str> = several.iter().map(|found| found.comparison.candidate.as_str()).collect();
            let message = format!("JSON holds one comparison, and there are {}", names.join(", "));
            return Err(Failure::usage(format!("{message}; choose with `--variants BASELINE CANDIDATE`")));
        }
        (CompareFormat::Terminal, several) => {
            let (color, width) = (ui.color_out && args.output.is_none(), terminal_width(args));
            texts(several, |found, parity| report::comparison_terminal(found, parity, color, width))
        }
        (CompareFormat::Markdown, several) => texts(several, report::comparison_markdown),
        (CompareFormat::Html, several) => texts(several, report::comparison_html),
    };
    let written = write(&text, args, ui)?;
    let comparable = comparisons.iter().all(|found| found.comparison.comparable);
    for ComparisonJson { comparison, .. } in comparisons.iter().filter(|found| !found.comparison.comparable) {
        ui.error(&refusal(comparison));
    }
    Ok(if comparable { written } else { Exit::NotComparable })
}

/// Each comparison as text, one below the other.
fn texts(found: &[ComparisonJson], text: impl Fn(&Comparison, Option<&OutputParity>) -> String) -> String {
    found.iter().map(|found| text(&found.comparison, found.parity.as_ref())).collect::<Vec<_>>().join("\n")
}

/// Why a comparison is refused, or is not whole, in a line.
fn refusal(comparison: &Comparison) -> String {
    let Comparison { baseline, candidate, differing, excluded, .. } = comparison;
    let names = format!("`{baseline}` and `{candidate}`");
    if !differing.is_empty() {
        let allow: Vec<String> = differing.iter().map(|key| format!("--allow {key}")).collect();
        return format!(
            "{names} are not comparable: they differ in {}; to compare all the same: {}",
            differing.join(", "),
            allow.join(" ")
        );
    }
    match excluded.first() {
        Some(first) => format!("{names}: not comparable at `{}`: {}", first.id, first.reason),
        None => format!("{names} are not comparable: no point of one has its like in the other"),
    }
}

fn two(baseline: &str, candidate: &str, args: &CompareArgs) -> Result<ComparisonJson, Failure> {
    let (a, b) = (Named::new(baseline), Named::new(candidate));
    let (stored_a, stored_b) = (a.read()?, b.read()?);
    let settings = settings(&stored_a.plan, args);
    let (arm_a, arm_b) = (arm(baseline, &a, &stored_a)?, arm(candidate, &b, &stored_b)?);
    let (a, b) = (Side { stored: &stored_a, arm: &arm_a }, Side { stored: &stored_b, arm: &arm_b });
    Ok(compared(a, b, &settings, !args.no_parity)?)
}

fn of_variants(given: &str, args: &CompareArgs) -> Result<Vec<ComparisonJson>, Failure> {
    let stored = stored::read(std::path::Path::new(given))?;
    let planned = stored.plan.compare.as_ref().map(|compare| compare.variants.clone()).unwrap_or_default();
    let variants = if args.variants.is_empty() { planned } else { args.variants.clone() };
    if variants.len() < 2 {
        let message = format!("`{given}` names no variants to compare: its scenario has no `[compare]`");
        return Err(Failure::usage(format!("{message}; give a second folder, or `--variants BASELINE CANDIDATE`")));
    }
    Ok(variants_compared(&stored, &variants, &settings(&stored.plan, args), !args.no_parity)?)
}

/// Two arms: their numbers and, when asked to, their outputs.
fn compared(
    a: Side<'_>,
    b: Side<'_>,
    settings: &CompareSettings,
    with_parity: bool,
) -> Result<ComparisonJson, CompareError> {
    let mut comparison = compare(a.arm, b.arm, settings)?;
    comparison.notes.extend(across_nodes(a.arm, b.arm));
    let parity = if with_parity { outputs::parity(&comparison, a, b) } else { None };
    Ok(ComparisonJson { comparison, parity })
}

/// What has to be said of two arms that a cluster measured in jobs of different sizes.
fn across_nodes<'a>(a: &'a Arm, b: &'a Arm) -> Option<String> {
    let first = |arm: &'a Arm| arm.points.iter().flat_map(|point| &point.repeats).next().map(|repeat| &repeat.summary);
    let (a, b) = (first(a)?, first(b)?);
    let told = [a, b].iter().all(|run| run.warnings.iter().any(|w| w.kind == WarningKind::AcrossNodes));
    (told && a.gpus != b.gpus).then(|| {
        let (one, other) = (&a.variant, &b.variant);
        format!(
            "across nodes: `{one}` (GPUs: {}) and `{other}` (GPUs: {}) were measured in jobs of their own",
            a.gpus, b.gpus
        )
    })
}

/// Every other variant compared with the first.
fn variants_compared(
    stored: &Stored,
    variants: &[String],
    settings: &CompareSettings,
    with_parity: bool,
) -> Result<Vec<ComparisonJson>, VariantsError> {
    let Some((baseline, candidates)) = variants.split_first() else { return Ok(Vec::new()) };
    let baseline = variant_arm(stored, baseline)?;
    let mut comparisons = Vec::new();
    for candidate in candidates {
        let candidate = variant_arm(stored, candidate)?;
        let (a, b) = (Side { stored, arm: &baseline }, Side { stored, arm: &candidate });
        comparisons.push(compared(a, b, settings, with_parity)?);
    }
    Ok(comparisons)
}

/// Why variants of one folder cannot be compared.
#[derive(Debug, thiserror::Error)]
enum VariantsError {
    #[error(transparent)]
    Arm(#[from] ArmError),
    #[error(transparent)]
    Compare(#[from] CompareError),
}

impl From<VariantsError> for Failure {
    fn from(error: VariantsError) -> Self {
        match error {
            VariantsError::Arm(error) => error.into(),
            VariantsError::Compare(error) => error.into(),
        }
    }
}

/// The comparisons that a plan's `[compare]` asks for, as a part of a page each; `None` when it asks for none,
/// an error says why there are none.
pub(super) fn comparisons_html(stored: &Stored) -> Option<Result<Vec<String>, String>> {
    let html = |found: &ComparisonJson| report::comparison_html(&found.comparison, found.parity.as_ref());
    Some(comparisons_of(stored, true)?.map(|comparisons| comparisons.iter().map(html).collect()))
}

fn comparisons_of(stored: &Stored, with_parity: bool) -> Option<Result<Vec<ComparisonJson>, String>> {
    let compare = stored.plan.compare.as_ref()?;
    let settings = CompareSettings {
        effect_floor: compare.effect_floor,
        metrics: compare.metrics.clone(),
        ..CompareSettings::default()
    };
    Some(variants_compared(stored, &compare.variants, &settings, with_parity).map_err(|error| error.to_string()))
}

/// The same for a folder, as text for a terminal. Outputs are left out: decoding them may take minutes.
pub(super) fn planned_comparisons(
    dir: &std::path::Path,
    color: bool,
    width: Option<u16>,
) -> Result<Option<String>, String> {
    let stored = stored::read(dir).map_err(|error| error.to_string())?;
    let Some(comparisons) = comparisons_of(&stored, false).transpose()? else { return Ok(None) };
    Ok(Some(texts(&comparisons, |found, parity| report::comparison_terminal(found, parity, color, width))))
}

fn self_tested(given: &str, args: &CompareArgs, ui: Ui) -> Result<Exit, Failure> {
    let named = Named::new(given);
    let stored = named.read()?;
    let settings = CompareSettings { resamples: SELF_TEST_RESAMPLES, ..settings(&stored.plan, args) };
    let arm: Arm = arm(given, &named, &stored)?;
    let found: SelfTest = self_test(&arm, &settings, TRIALS)?;
    if found.points.is_empty() {
        let message = format!("`{given}` has no run with two or more repeats to draw from");
        return Err(Failure { exit: Exit::NotComparable, message: format!("{message}; `run --repeats 5` makes them") });
    }
    let text = match args.format {
        CompareFormat::Terminal => report::self_test_terminal(&found, ui.color_out, terminal_width(args)),
        CompareFormat::Markdown => report::self_test_markdown(&found),
        CompareFormat::Html => report::self_test_html(&found),
        CompareFormat::Json => json(&found)?,
    };
    write(&text, args, ui)
}

/// What the baseline's scenario says about comparing, and what was allowed.
fn settings(plan: &Plan, args: &CompareArgs) -> CompareSettings {
    let planned = plan.compare.as_ref();
    CompareSettings {
        allow: args.allow.clone(),
        effect_floor: planned.and_then(|compare| compare.effect_floor),
        metrics: planned.and_then(|compare| compare.metrics.clone()),
        ..CompareSettings::default()
    }
}

fn json(found: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(found)
        .map(|text| text + "\n")
        .map_err(|error| Failure { exit: Exit::Results, message: format!("JSON cannot be written: {error}") })
}

fn write(text: &str, args: &CompareArgs, ui: Ui) -> Result<Exit, Failure> {
    let Some(path) = &args.output else { return Ok(ui.print(text)) };
    write_atomic(path, text.as_bytes()).map_err(|error| Failure { exit: Exit::Results, message: error.to_string() })?;
    ui.note(&format!("comparison: {}", path.display()));
    Ok(Exit::Fine)
}

/// The terminal's width, when stdout is one and takes the text.
fn terminal_width(args: &CompareArgs) -> Option<u16> {
    if args.output.is_some() { None } else { comfy_table::Table::new().width() }
}
