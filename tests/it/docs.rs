//! The documentation is held to the program: the reference is generated and diffed, and every
//! command that the README shows is run.

#![cfg(test)] // the lints that spare tests then spare their helpers too

use std::fmt::Write as _;
use std::path::Path;

use clap::CommandFactory;
use omni_bench::cli::Cli;
use serde_json::Value;

use crate::support::{Sandbox, assert_file_is};

fn command_section(out: &mut String, command: &clap::Command, path: &str) {
    let name = format!("{path} {}", command.get_name());
    let usage = command.clone().bin_name(name.trim()).render_usage().to_string();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    writeln!(out, "### `{}`\n\n{}.\n", name.trim(), about.trim_end_matches('.')).unwrap();
    writeln!(out, "```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim()).unwrap();
    let rows: Vec<_> = command.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_hide_set()).collect();
    if rows.iter().any(|arg| arg.get_id() != "help" && arg.get_id() != "version") {
        argument_table(out, &rows);
    }
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        command_section(out, sub, name.trim());
    }
}

fn argument_table(out: &mut String, rows: &[&clap::Arg]) {
    out.push_str("| argument | what it does |\n|---|---|\n");
    for arg in rows.iter().filter(|arg| arg.get_id() != "help" && arg.get_id() != "version") {
        let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        let value = value.filter(|_| arg.get_action().takes_values()).unwrap_or_default();
        let shown = match (arg.get_long(), arg.get_short()) {
            (Some(long), Some(short)) => format!("-{short}, --{long} {value}"),
            (Some(long), None) => format!("--{long} {value}"),
            _ => value,
        };
        let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('|', "\\|");
        if !help.ends_with(['.', ']']) {
            help.push('.');
        }
        let choices: Vec<_> = arg.get_possible_values().iter().map(|v| format!("`{}`", v.get_name())).collect();
        if arg.get_action().takes_values() && !choices.is_empty() {
            write!(help, " One of {}.", choices.join(", ")).unwrap();
        }
        let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy().into_owned()).collect();
        if arg.get_action().takes_values() && !defaults.is_empty() {
            write!(help, " Default `{}`.", defaults.join(" ")).unwrap();
        }
        writeln!(out, "| `{}` | {help} |", shown.trim()).unwrap();
    }
    out.push('\n');
}

/// The schema of a property without its `$ref`, `anyOf [.., null]` and list wrappers, and the kind of list it was in.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> (&'a Value, &'static str) {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return resolve(root, &root["$defs"][name]);
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let mut real = options.iter().filter(|option| option["type"] != "null");
        if let (Some(only), None) = (real.next(), real.next()) {
            return resolve(root, only);
        }
    }
    if schema["items"].is_object() {
        let (inner, _) = resolve(root, &schema["items"]);
        return (inner, "[]");
    }
    if schema["additionalProperties"].is_object() && schema["properties"].is_null() {
        let (inner, _) = resolve(root, &schema["additionalProperties"]);
        return (inner, ".NAME");
    }
    (schema, "")
}

fn keys(root: &Value, schema: &Value, path: &str, rows: &mut Vec<(String, String)>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let (inner, list) = resolve(root, property);
        let shown = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let mut text = property["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        let choices = inner["oneOf"].as_array().into_iter().flatten().filter_map(|option| option["const"].as_str());
        let choices: Vec<_> =
            choices.chain(inner["enum"].as_array().into_iter().flatten().filter_map(Value::as_str)).collect();
        if !choices.is_empty() && !choices.iter().all(|choice| text.contains(&format!("`{choice}`"))) {
            write!(text, " One of `{}`.", choices.join("`, `")).unwrap();
        }
        assert!(!text.is_empty(), "`{shown}` has no description");
        rows.push((format!("{shown}{list}"), text));
        if inner["properties"].is_object()
            && !inner["additionalProperties"].is_object()
            && inner["additionalProperties"] != true
        {
            keys(root, inner, &format!("{shown}{list}"), rows);
        }
    }
}

fn reference() -> String {
    let mut out = String::from(
        "# Reference\n\nGenerated from the program; a test compares it. Rewrite it with `OMNI_BENCH_UPDATE=1 cargo test --test it docs`.\n\n## Commands\n\n",
    );
    let mut command = Cli::command();
    command.build();
    out.push_str("These options go with every command:\n\n");
    let common: Vec<_> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    argument_table(&mut out, &common);
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        command_section(&mut out, sub, "omni-bench");
    }
    out.push_str("## Scenario keys\n\n`NAME` stands for a name you choose, `[]` for an entry of a list.\n\n| key | meaning |\n|---|---|\n");
    let schema = serde_json::to_value(schemars::schema_for!(omni_bench::scenario::Scenario)).unwrap();
    let mut rows = Vec::new();
    keys(&schema, &schema, "", &mut rows);
    assert!(rows.len() > 100, "the walk reaches nested tables: {}", rows.len());
    for (key, text) in rows {
        writeln!(out, "| `{key}` | {text} |").unwrap();
    }
    out
}

#[test]
fn the_reference_lists_every_command_and_key() {
    assert_file_is(&Path::new(env!("CARGO_MANIFEST_DIR")).join("REFERENCE.md"), &reference());
}

/// Commands of the README's `console` blocks, without the prompt; a trailing `# exit N` names the code.
fn readme_commands() -> Vec<(String, i32)> {
    let readme = fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let mut commands = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if inside => {
                if let Some(command) = line.strip_prefix("$ ") {
                    let (command, code) = command.split_once("  # exit ").unwrap_or((command, "0"));
                    commands.push((command.trim().to_owned(), code.trim().parse().unwrap()));
                }
            }
            _ => {}
        }
    }
    commands
}

#[test]
fn every_command_of_the_readme_does_what_it_says() {
    let sandbox = Sandbox::with_scenarios();
    let mut run = 0;
    for (command, code) in readme_commands() {
        let words = command.strip_prefix("cargo run --release -- ").or_else(|| command.strip_prefix("omni-bench "));
        let Some(words) = words else { continue };
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = sandbox.omni_bench(&words);
        assert_eq!(output.status.code(), Some(code), "`{command}`:\n{}", String::from_utf8_lossy(&output.stderr));
        run += 1;
    }
    assert!(run >= 5, "the README shows commands: {run}");
}
