//! A scenario as TOML text that a person would write: tables in the order of the documentation, what
//! belongs together on one line, a remark where the reason is not in the key.

use serde_json::{Map, Value};

use crate::scenario::Scenario;

/// Remarks, by table and key.
const REMARKS: [(&str, &str, &str); 6] = [
    ("endpoint", "spelling", "bodies as vLLM-Omni's Python client writes them"),
    ("datasets", "allow_download", "named by --dataset, which is consent"),
    ("datasets", "request_seed", "every request sends the seed of `defaults`"),
    ("traffic", "seed", "of the draws from profiles and of arrivals; sent to no server"),
    ("traffic", "arrival", "the time stamps of the trace"),
    ("endpoint", "allow_unknown", "some field of `extra_body` is not known to be read"),
];

/// The text; read again it is the same scenario.
pub(super) fn text(scenario: &Scenario) -> serde_json::Result<String> {
    let Value::Object(root) = serde_json::to_value(scenario)? else { return Ok(String::new()) };
    let mut out = String::from("# What `omni-bench bench` was asked for, as a scenario for `omni-bench run`.\n");
    let is_table = |value: &Value| value.is_object();
    for (key, value) in root.iter().filter(|(_, value)| !is_table(value)) {
        line(&mut out, "", key, value);
    }
    for (key, value) in root.iter().filter(|(_, value)| !is_empty(value)) {
        match value {
            Value::Object(sets) if key == "datasets" => {
                for (name, set) in sets {
                    table(&mut out, &format!("{key}.{}", bare(name)), key, set);
                }
            }
            Value::Object(_) => table(&mut out, key, key, value),
            _ => {}
        }
    }
    Ok(out)
}

fn table(out: &mut String, header: &str, name: &str, value: &Value) {
    out.extend(["\n[", header, "]\n"]);
    for (key, value) in value.as_object().into_iter().flatten() {
        line(out, name, key, value);
    }
}

fn line(out: &mut String, table: &str, key: &str, value: &Value) {
    let is_list_of_tables = value.as_array().is_some_and(|list| list.iter().any(Value::is_object));
    let value = match value {
        Value::Array(list) if is_list_of_tables => {
            let items: Vec<String> = list.iter().filter_map(inline).collect();
            Some(format!("[\n  {},\n]", items.join(",\n  ")))
        }
        other => inline(other).filter(|_| !is_empty(other)),
    };
    let Some(value) = value else { return };
    out.extend([&bare(key), " = ", &value]);
    if let Some((.., remark)) = REMARKS.iter().find(|(of, name, _)| *of == table && *name == key) {
        out.extend(["  # ", remark]);
    }
    out.push('\n');
}

/// Nothing to write: absent, or a table or list that says nothing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(table) => table.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A value on one line; `None` for a null, which TOML does not have.
fn inline(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => basic(text),
        Value::Array(list) => format!("[{}]", list.iter().filter_map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => inline_table(table),
    })
}

fn inline_table(table: &Map<String, Value>) -> String {
    let entries = table.iter().filter_map(|(key, value)| Some(format!("{} = {}", bare(key), inline(value)?)));
    let entries: Vec<String> = entries.collect();
    if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
}

fn bare(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if plain { key.to_owned() } else { basic(key) }
}

/// A text in quotation marks, on one line whatever it holds.
fn basic(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::{scenario, wanted::Wanted};
    use super::text;
    use crate::cli::{Cli, Command};
    use crate::scenario::load_text;

    /// The text of the flags, after it was read again.
    fn text_of(flags: &[&str]) -> String {
        let cli = Cli::try_parse_from([&["omni-bench", "bench"], flags].concat()).unwrap();
        let Command::Bench(args) = cli.command else { panic!("not bench") };
        let built = scenario::scenario(&Wanted::new(&args).unwrap(), false).unwrap();
        let text = text(&built).unwrap();
        let read = load_text("text", &text, &[]).unwrap_or_else(|broken| panic!("{text}\n{}", broken.render(false)));
        assert_eq!(read.scenario, built, "{text}");
        text
    }

    #[test]
    fn a_text_read_again_is_the_same_scenario() {
        text_of(&[]);
        text_of(&["--task", "t2i", "--dataset", "trace", "--dataset-path", "a.txt, b/*.txt", "--seed", "0"]);
        text_of(&["--task", "v2v", "--dataset", "random", "--video-job-timeout", "0.25", "--warmup-requests", "0"]);
        text_of(&[
            "--task",
            "it2i",
            "--dataset",
            "random",
            "--slo",
            "--request-rate",
            "0.1",
            "--speed",
            "3",
            "--simulate",
        ]);
        text_of(&[
            "--task",
            "t2i",
            "--dataset",
            "random",
            "--random-request-config",
            r#"[{"width": 64, "height": 64, "weight": 1e-7, "lora": {"name": "a.b", "": [1.5, true, "x\ny"]}}, {}]"#,
        ]);
    }

    #[test]
    fn texts_and_keys_of_any_kind_stay_on_their_line() {
        let extra = r#"{"a b\n\"": "tab\t quote\" back\\slash é \u0001 \u2028", "big": 18446744073709551615, "e": {}, "l": []}"#;
        let text = text_of(&["--task", "t2i", "--dataset", "random", "--extra-body", extra]);
        assert_eq!(text.matches("extra_body = ").count(), 1);
        let line = text.lines().find(|line| line.starts_with("extra_body = ")).unwrap();
        assert!(line.ends_with("big = 18446744073709551615, e = {}, l = [] }"), "{line}");
    }
}
