//! Sections 3 and 4: how the service is launched and how the benchmark is called.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::PageFacts;
use crate::catalog::{DEGREES, Medium};
use crate::plan::{Arrivals, Axis, Plan, RunPlan, SloTarget};
use crate::record::Verified;
use crate::report::caption;
use crate::report::escape::{code_span, prose};
use crate::report::figures::percent;
use crate::report::markdown::render;
use crate::report::official::{axis_value, degree, degree_header};
use crate::report::table::{Cell, Column, Table, Value};
use crate::report::text::{Text, counted, distinct, inline};
use crate::summarize::Results;

/// 3.1: the command of each variant.
pub(super) fn launch(plan: &Plan, facts: &PageFacts) -> String {
    let mut text = Text::default();
    if plan.simulated {
        text.add("The embedded simulator stood in for these servers; the commands give the configuration it took.\n\n");
    } else if plan.server.is_none() {
        text.add("The servers were started by hand; the commands give the configuration the plan expects of them.\n\n");
    }
    for variant in &plan.variants {
        text.add(format!("{}:\n\n", prose(&variant.label)));
        match facts.launch.get(&variant.name) {
            Some(words) => text.add(code("bash", &command(words))),
            None => text.add("The launch command was not recorded; section 3.2 has the arguments.\n"),
        }
        text.add(verified(facts.verified.get(&variant.name).map(Vec::as_slice).unwrap_or_default()));
        text.add("\n");
    }
    if plan.variants.is_empty() {
        text.add("The plan has no variants.\n");
    }
    text.finish()
}

/// What was checked on the servers of a variant before they were measured; equal outcomes once.
fn verified(checks: &[Verified]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let told = |check: &Verified| {
        let at = code_span(&check.at);
        match (check.ok, &check.seen) {
            (true, Some(seen)) => format!("- {at} is {}\n", code_span(seen)),
            (true, None) => format!("- {at} is {}\n", prose(&inline(&check.expected))),
            (false, _) => format!("- failed: {}\n", prose(&inline(&check.to_string()))),
        }
    };
    let lines = distinct(checks.iter().map(told)).concat();
    format!("\nChecked on the running server before it was measured:\n\n{lines}")
}

/// What a degree of the parallel layout means.
fn meaning_of_degree(key: &str) -> &'static str {
    match key {
        "cfg" => "guided and unguided pass on separate GPUs",
        "ulysses" => "sequence split over GPUs by attention heads",
        "ring" => "sequence split over GPUs, passed round in a ring",
        "tensor" => "weights split over GPUs",
        "pipeline" => "layers split over GPUs",
        "data" => "copies of the model, each with its own requests",
        "hsdp" => "weights sharded over GPUs and gathered layer by layer",
        "vae_patch" => "decoding split into patches over GPUs",
        "text_encoder_tensor" => "weights of the text encoder split over GPUs",
        _ => "parallel layout",
    }
}

/// What a serve flag means, for the flags that decide what a figure stands for.
fn meaning_of_flag(flag: &str) -> &'static str {
    match flag {
        "max-num-seqs" => "most requests that the engine works on at once",
        "step-execution" => "requests join and leave a batch between denoising steps",
        "cache-backend" => "reuse of results between denoising steps",
        "cache-config" => "settings of that reuse",
        "diffusion-attention-backend" => "attention kernels",
        "enforce-eager" => "no compiled graphs",
        "quantization" => "number format of the weights",
        "enable-diffusion-pipeline-profiler" => "the server tells its stage times",
        "vae-use-slicing" => "decoding one output after the other",
        "vae-use-tiling" => "decoding tile by tile",
        "gpu-memory-utilization" => "share of GPU memory that the engine may take",
        _ => "as declared in `serve_args`",
    }
}

/// 3.2: what each variant's server is told, a column per variant; the flags of the parallel layout
/// stand beside their degrees.
pub(super) fn parameters(plan: &Plan) -> String {
    let mut rows: IndexMap<String, Vec<String>> = IndexMap::new();
    let mut add = |name: String, meaning: &str, of: &dyn Fn(&crate::plan::VariantPlan) -> String| {
        rows.insert(name, plan.variants.iter().map(of).chain([meaning.to_owned()]).collect());
    };
    for spec in DEGREES {
        if plan.variants.iter().any(|variant| degree(variant, spec.key) != "Off") {
            let name = format!("{} ({})", degree_header(spec.key), code_span(&format!("--{}", spec.flag)));
            add(name, meaning_of_degree(spec.key), &|variant| degree(variant, spec.key));
        }
    }
    let is_degree = |key: &String| DEGREES.iter().any(|spec| spec.flag == key || spec.aliases.contains(&key.as_str()));
    for key in plan.variants.iter().flat_map(|variant| variant.serve_args.keys()).filter(|key| !is_degree(key)) {
        add(code_span(&format!("--{key}")), meaning_of_flag(key), &|variant| match variant.serve_args.get(key) {
            None | Some(Json::Bool(false)) => "not set".to_owned(),
            Some(Json::Bool(true)) => "set".to_owned(),
            Some(value) => words(value),
        });
    }
    add("GPUs".to_owned(), "GPUs of one server", &|variant| variant.gpus.to_string());
    let mut columns = vec![Column::text("parameter", "Parameter")];
    columns.extend(plan.variants.iter().map(|variant| Column::text(variant.name.as_str(), variant.label.as_str())));
    columns.push(Column::text("meaning", "Meaning"));
    let row = |(name, mut values): (String, Vec<String>)| -> Vec<Cell> {
        let meaning = values.pop().map(Value::Markdown);
        let values = values.into_iter().map(Value::Text);
        std::iter::once(Value::Markdown(name)).chain(values).chain(meaning).map(Cell::from).collect()
    };
    let rows = rows.into_iter().map(row).collect();
    render(&Table { columns, rows, notes: Vec::new() })
}

/// 4.1: what to type to get these results again.
pub(super) fn entry(plan: &Plan, results: &Results, facts: &PageFacts) -> String {
    let scenario = if facts.scenario_file.is_empty() { "SCENARIO" } else { &facts.scenario_file };
    let mut words = vec!["omni-bench".to_owned(), "run".to_owned(), scenario.to_owned()];
    if plan.simulated {
        words.extend(["--simulate".to_owned(), "--speed".to_owned(), results.speed.to_string()]);
    }
    let server = if plan.simulated { "simulated server" } else { "server" };
    let starts = match plan.starts {
        0 => "It starts no server.".to_owned(),
        1 => format!("It starts one {server}."),
        starts => format!("It starts {starts} {server}s, one after the other."),
    };
    let folder = if facts.results_folder.is_empty() { "was not recorded" } else { &facts.results_folder };
    format!(
        "{}\nThe plan has {}. {starts} The results folder of this page is `{}`.\n",
        code("bash", &command(&words)),
        counted(plan.runs.len() as u64, "run"),
        inline(folder)
    )
}

/// 4.2: the settings that the runs share or sweep.
pub(super) fn arguments(plan: &Plan) -> String {
    let mut table = Table {
        columns: vec![
            Column::text("argument", "Argument"),
            Column::text("value", "Value"),
            Column::text("meaning", "Meaning"),
        ],
        ..Table::default()
    };
    let mut add = |argument: &str, value: String, meaning: &str| {
        if !value.is_empty() {
            let meaning = Value::Markdown(meaning.to_owned());
            table.rows.push(vec![Value::Markdown(code_span(argument)).into(), value.into(), meaning.into()]);
        }
    };
    let axis = |axis: Axis| caption::values(plan, |run| axis_value(axis, plan, run)).join(", ");
    let paths = distinct(plan.variants.iter().map(|variant| variant.endpoint.path().to_owned()));
    add("model.id", plan.model.clone(), "model name that is sent");
    add("model.task", plan.task.to_string(), "what is asked of the model");
    add("endpoint.path", paths.join(", "), "endpoint that is driven");
    add("traffic.requests", axis(Axis::Requests), "measured requests per run");
    add("traffic.max_concurrency", axis(Axis::MaxConcurrency), "most requests in flight");
    add("traffic.request_rate", axis(Axis::RequestRate), "arrivals per second; `inf` sets none");
    add("traffic.arrival", arrivals(plan), "how requests arrive");
    add("size", axis(Axis::Size), "output size set by the matrix");
    add("num_inference_steps", axis(Axis::NumInferenceSteps), "steps set by the matrix");
    add("num_frames", axis(Axis::NumFrames), "frames set by the matrix");
    add("traffic.seed", axis(Axis::Seed), "seed of the request sequence");
    add("traffic.repeats", plan.repeats.to_string(), "repeats of each run");
    add("warmup", warmup(plan), "requests before the measured ones, never counted");
    add("endpoint.timeout", timeouts(plan), "limits; a request cut by one is censored, not failed");
    add("slo", slo(plan), "target of a request and the share that must meet it");
    add("traffic.allow_failures", plan.allow_failures.to_string(), "failed and censored requests that are still fine");
    render(&table)
}

fn arrivals(plan: &Plan) -> String {
    let of = |run: &RunPlan| match run.traffic.arrivals {
        Arrivals::Closed => "closed loop: a request is sent when a slot is free".to_owned(),
        Arrivals::Constant => "constant gaps".to_owned(),
        Arrivals::Poisson => "Poisson process".to_owned(),
        Arrivals::Gamma { burstiness } => format!("gamma gaps with burstiness {burstiness}"),
        Arrivals::Trace { speed } => format!("time stamps of the trace, {speed} times as fast"),
    };
    distinct(plan.runs.iter().map(of)).join("; ")
}

fn warmup(plan: &Plan) -> String {
    let of = |run: &RunPlan| {
        let warmup = &run.warmup;
        let steps = warmup.num_inference_steps.map(|steps| format!(", {steps} steps")).unwrap_or_default();
        let frames = warmup.num_frames.map(|frames| format!(", {frames} frames")).unwrap_or_default();
        let matched = if warmup.matched { " (as the run)" } else { "" };
        format!(
            "{}, {} in flight{steps}{frames}{matched}",
            counted(warmup.requests.into(), "request"),
            warmup.concurrency
        )
    };
    distinct(plan.runs.iter().map(of)).join("; ")
}

fn timeouts(plan: &Plan) -> String {
    let video = plan.task.medium() == Medium::Video;
    let of = |variant: &crate::plan::VariantPlan| {
        let timeout = &variant.endpoint.timeout;
        let job = if video { format!(", job {}", timeout.job) } else { String::new() };
        format!("connect {}, request {}{job}", timeout.connect, timeout.request)
    };
    distinct(plan.variants.iter().map(of)).join("; ")
}

fn slo(plan: &Plan) -> String {
    let Some(slo) = plan.slo else { return String::new() };
    let target = match slo.target {
        SloTarget::Latency(span) => format!("{span}"),
        SloTarget::Scale { factor, calibration } => {
            format!("{factor} × the median of {calibration} calibration requests of the class")
        }
        SloTarget::RowOnly => "the row's own target".to_owned(),
    };
    format!("{target}, for {} % of requests", percent(slo.attainment))
}

/// A value of a scenario as words: texts bare, everything else as JSON.
pub(super) fn words(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A fenced block that its own content cannot end.
pub(super) fn code(language: &str, content: &str) -> String {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", content.trim_end())
}

/// A command as one would type it: a flag and its value per line, quoted where a shell would split.
fn command(words: &[String]) -> String {
    let mut text = Text::default();
    for (place, word) in words.iter().enumerate() {
        if place > 0 {
            text.add(if word.starts_with("--") && words.len() > 4 { " \\\n  " } else { " " });
        }
        text.add(quoted(word));
    }
    text.finish()
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-@%+=:,./".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_where_a_shell_would_split_it() {
        let words = ["vllm", "serve", "Qwen/Qwen-Image", "--cache", "{\"a\": 1}", "--note", "it's"].map(str::to_owned);
        assert_eq!(command(&words), "vllm serve Qwen/Qwen-Image \\\n  --cache '{\"a\": 1}' \\\n  --note 'it'\\''s'");
    }

    #[test]
    fn a_block_is_not_ended_by_its_own_content() {
        assert!(code("text", "a\n````\nb").starts_with("`````text\n"));
    }

    #[test]
    fn values_are_words_or_json() {
        assert_eq!(words(&Json::from("x")), "x");
        assert_eq!(words(&serde_json::json!({"a": [1, true]})), "{\"a\":[1,true]}");
    }
}
