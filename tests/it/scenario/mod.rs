//! Tests of scenario: loading, layers, diagnostics, and the commands that need nothing else.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use clap::ValueEnum;
use omni_bench::cli::SchemaName;
use omni_bench::commands::generated_schema;
use omni_bench::scenario::{LoadOptions, Loaded, Scenario, load};
use proptest::prelude::*;
use tempfile::TempDir;

mod layers;
mod secrets;

/// A folder of files, with the tool run inside it.
struct Folder(TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, text).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_omni-bench"));
        command.current_dir(&self.0).env_clear().args(args).output().unwrap()
    }

    /// The diagnostics of a scenario that must be refused.
    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(&[&["validate"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn load(&self, name: &str, set: &[&str]) -> Loaded {
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        match load(&LoadOptions { file: self.path(name), set, env: Vec::new() }) {
            Ok(loaded) => loaded,
            Err(broken) => panic!("{}", broken.render(false)),
        }
    }
}

fn read(name: &str, text: &str) -> Scenario {
    Folder::with(&[(name, text)]).load(name, &[]).scenario
}

const FIVE_TOML: &str = r#"name = "five mistakes"

[model]
id = "Qwen/Qwen-Image"
task = "t2x"

[endpoint]
url = "http://localhost:8091/v1"

[traffic]
requets = 10
max_concurrency = "four"
"#;

const FIVE_YAML: &str = r#"name: five mistakes

model:
  id: Qwen/Qwen-Image
  task: t2x

endpoint:
  url: http://localhost:8091/v1

traffic:
  requets: 10
  max_concurrency: "four"
"#;

#[test]
fn five_mistakes_in_toml_are_five_pictures() {
    let told = Folder::with(&[("five.toml", FIVE_TOML)]).refused(&["five.toml"]);
    assert_eq!(told.matches("--> five.toml:").count(), 5);
    insta::assert_snapshot!(told);
}

#[test]
fn five_mistakes_in_yaml_are_five_pictures() {
    let told = Folder::with(&[("five.yaml", FIVE_YAML)]).refused(&["five.yaml"]);
    assert_eq!(told.matches("--> five.yaml:").count(), 5);
    insta::assert_snapshot!(told);
}

#[test]
fn every_unknown_key_of_a_table_is_told() {
    let text = "[traffic]\nsed = 1\nrequets = 2\nzzz = 3\n[endpoint.timeout]\nconect = \"1s\"\n";
    let told = Folder::with(&[("x.toml", text)]).refused(&["x.toml"]);
    for line in ["x.toml:2:1", "x.toml:3:1", "x.toml:4:1", "x.toml:6:1", "did you mean `seed`?", "the keys here are"] {
        assert!(told.contains(line), "{told}");
    }
}

#[test]
fn a_list_is_not_read_into_a_table_by_position() {
    let told = Folder::with(&[("x.yaml", "model: [id, t2i]\nvariants: [[a]]\n")]).refused(&["x.yaml"]);
    assert_eq!(told.matches("expected a table, found a list").count(), 2, "{told}");
}

#[test]
fn a_flood_of_problems_is_cut_off_and_says_so() {
    let text = (0..20_000).map(|n| format!("k{n} = 1")).collect::<Vec<_>>().join("\n");
    let told = Folder::with(&[("x.toml", &text)]).refused(&["x.toml"]);
    assert_eq!(told.matches("unknown key").count(), 100);
    assert!(told.ends_with("there are more than 100 problems\n"), "{told}");
}

#[test]
fn a_wrong_element_hides_neither_its_neighbours_nor_their_places() {
    let text = "matrix:\n  max_concurrency: [1, a, 3, b, c]\n";
    let told = Folder::with(&[("x.yaml", text)]).refused(&["x.yaml"]);
    assert!(told.contains("x.yaml:2:24") && told.contains("x.yaml:2:30") && told.contains("x.yaml:2:33"), "{told}");
}

#[test]
fn syntax_errors_have_a_place_in_both_syntaxes() {
    let files = [
        ("a.toml", "name = \"a\nx = 1\n", "a.toml:1:"),
        ("b.toml", "a = 1\na = 2\n", "b.toml:2:1"),
        ("c.toml", "a = 99999999999999999999999\n", "c.toml:1:5"),
        ("a.yaml", "a: 1\nb:\n  - x\n c: 3\n", "a.yaml:4:2"),
        ("b.yaml", "a: 1\nb: 2\na: 3\n", "b.yaml:3:1"),
        ("c.yml", "a: 1\n---\nb: 2\n", "c.yml:3:1"),
        ("d.yaml", "a: !tag 1\n", "d.yaml:1:4"),
        ("e.yaml", "é: [ü, *nope]\n", "e.yaml:1:8"),
        ("f.yaml", "- a\n", "f.yaml:1:1"),
    ];
    for (name, text, place) in files {
        let told = Folder::with(&[(name, text)]).refused(&[name]);
        assert!(told.contains(place), "{name}: {told}");
    }
}

#[test]
fn text_is_bounded_in_size_and_depth() {
    let deep_lists = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let cases = [
        ("a.toml", format!("a = {}", deep_lists(70))),
        ("b.toml", format!("a = {}", deep_lists(100_000))),
        ("c.toml", format!("[{}a]", "a.".repeat(70))),
        ("a.yaml", format!("a: {}", deep_lists(70))),
        ("b.yaml", format!("a: {}", deep_lists(100_000))),
        ("c.yaml", "- ".repeat(100_000)),
        ("d.yaml", "a: {".repeat(100_000)),
    ];
    for (name, text) in &cases {
        let told = Folder::with(&[(name, text)]).refused(&[name]);
        assert!(
            told.contains("nested deeper than 64 levels"),
            "{name}: {}",
            told.chars().take(500).collect::<String>()
        );
    }
    let lists =
        (1..12).map(|level| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(", ")));
    let laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned() + &lists.collect::<String>();
    assert!(Folder::with(&[("x.yaml", &laughs)]).refused(&["x.yaml"]).contains("too many values"));
    let large = format!("# {}\n", "x".repeat(1 << 20));
    assert!(Folder::with(&[("x.yaml", &large)]).refused(&["x.yaml"]).contains("more than 1048576 bytes"));
}

#[test]
fn a_name_that_is_neither_toml_nor_yaml_is_refused() {
    let told = Folder::with(&[("x.json", "{}")]).refused(&["x.json"]);
    assert!(told.contains("neither TOML nor YAML") && told.contains(".yml"), "{told}");
    assert!(Folder::with(&[]).refused(&["missing.toml"]).contains("`missing.toml`"));
}

#[test]
fn toml_and_yaml_twins_are_equal() {
    let toml = r#"
name = "twin"
tags = ["a", "b"]
[endpoint]
timeout = { connect = "none", job = "2h" }
extra_body = { guidance_scale = 4.0, n = 1, nested = { list = [1, "x", true] } }
[[variants]]
name = "z"
serve_args = { "step-execution" = true, "max-num-seqs" = 8 }
[[variants]]
name = "a"
[traffic]
request_rate = inf
requests = { per_concurrency = 4 }
[gate.limits]
"latency_s.p99" = "36s"
failed = 0
"#;
    let yaml = r"
name: twin
tags: [a, b]
endpoint:
  timeout: { connect: none, job: 2h }
  extra_body: { guidance_scale: 4.0, n: 1, nested: { list: [1, x, true] } }
variants:
  - name: z
    serve_args: &args { step-execution: true, max-num-seqs: 8 }
  - name: a
traffic:
  request_rate: .inf
  requests: { per_concurrency: 4 }
gate:
  limits: { latency_s.p99: 36s, failed: 0 }
";
    let (toml, yaml) = (read("x.toml", toml), read("x.yaml", yaml));
    assert_eq!(toml, yaml);
    assert_eq!(toml.variants[0].serve_args.keys().collect::<Vec<_>>(), ["step-execution", "max-num-seqs"]);
}

#[test]
fn merge_keys_fill_gaps() {
    let text = "datasets:\n  A: &a { label: one, source: random }\n  B: { <<: *a, label: two }\n";
    let scenario = read("x.yaml", text);
    assert_eq!(scenario.datasets["B"].label.as_deref(), Some("two"));
    assert_eq!(scenario.datasets["B"].source, scenario.datasets["A"].source);
}

#[test]
fn names_and_checksums_are_checked_where_they_stand() {
    let text = "[[variants]]\nname = \"a\"\n[[variants]]\nname = \"a\"\n[[variants]]\ngpus = 1\n[[variants]]\nname = \"../x\"\n\
                [datasets.\"a/b\"]\nsha256 = \"12\"\nurl = \"ftp://host/x\"\n";
    let told = Folder::with(&[("x.toml", text)]).refused(&["x.toml"]);
    for part in
        ["x.toml:4:8", "`variants[0]`", "x.toml:5:1", "x.toml:8:8", "x.toml:9:11", "x.toml:10:10", "x.toml:11:7"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn explain_shows_values_and_defaults_with_their_layers() {
    let text = "name = \"x\"\n[endpoint]\nurl = \"http://h\"\n[[variants]]\nname = \"a\"\n[slo]\nscale = 3.0\n";
    let folder = Folder::with(&[("x.toml", text)]);
    let output = folder.run(&["explain", "x.toml", "--set", "traffic.seed=7", "--set", "variants.a.gpus=2"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
    let json = folder.run(&["explain", "x.toml", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = json["values"].as_array().unwrap();
    assert!(rows.contains(&serde_json::json!({"key": "traffic.requests", "value": "10", "layer": "default"})));
}

#[test]
fn init_writes_a_scenario_that_loads_and_overwrites_only_when_forced() {
    let folder = Folder::with(&[]);
    for name in ["scenario.toml", "x.yaml"] {
        let args: &[&str] = if name == "scenario.toml" { &["init"] } else { &["init", name] };
        assert_eq!(folder.run(args).status.code(), Some(0));
        assert_eq!(folder.run(args).status.code(), Some(2));
        fs_err::write(folder.path(name), "broken").unwrap();
        assert_eq!(folder.run(&[args, &["--force"]].concat()).status.code(), Some(0));
        let validated = folder.run(&["validate", name]);
        assert_eq!(String::from_utf8(validated.stdout).unwrap(), format!("{name}: fine, 4 runs\n"));
    }
    assert_eq!(folder.load("scenario.toml", &[]).scenario, folder.load("x.yaml", &[]).scenario);
    assert_eq!(folder.run(&["init", "x.json"]).status.code(), Some(2));
}

#[test]
fn names_that_would_share_a_folder_where_case_does_not_count_are_refused() {
    let text = "name = 'x'\n[model]\nid = 'm'\ntask = 't2i'\n[datasets.A]\nprofiles = [{ width = 8, height = 8 }]\n\
                [datasets.a]\nprofiles = [{ width = 8, height = 8 }]\n[[variants]]\nname = 'v'\n[[variants]]\nname = 'V'\n";
    let output = Folder::with(&[("s.toml", text)]).run(&["validate", "s.toml"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    for names in ["`a` and `A`", "`V` and `v`"] {
        assert!(told.contains(&format!("{names} differ by case only")), "{told}");
    }
}

#[test]
fn committed_schemas_are_what_the_tool_prints() {
    let update = std::env::var_os("OMNI_BENCH_UPDATE").is_some();
    for schema in SchemaName::value_variants() {
        let name = schema.to_possible_value().unwrap().get_name().to_owned();
        let generated = generated_schema(*schema);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{name}.schema.json"));
        if update {
            fs_err::write(&file, &generated).unwrap();
        }
        let committed = fs_err::read_to_string(&file).unwrap();
        assert!(committed == generated, "{} is stale: run with OMNI_BENCH_UPDATE=1", file.display());
        // the tool has it built in, so one that was just renewed is printed from the next build on
        let printed = Folder::with(&[]).run(&["schema", &name]).stdout;
        assert!(update || printed == committed.as_bytes(), "`schema {name}` prints another one");
    }
}

#[test]
fn every_key_of_a_scenario_is_described_in_the_schema() {
    fn undescribed(schema: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        for (key, entry) in schema.as_object().into_iter().flatten() {
            if key == "properties" {
                for (name, property) in entry.as_object().unwrap() {
                    if property["description"].as_str().is_none_or(str::is_empty) {
                        found.push(format!("{path}/{name}"));
                    }
                }
            }
            undescribed(entry, &format!("{path}/{key}"), found);
        }
        for entry in schema.as_array().into_iter().flatten() {
            undescribed(entry, path, found);
        }
    }
    let schema = serde_json::to_value(schemars::schema_for!(Scenario)).unwrap();
    let mut found = Vec::new();
    undescribed(&schema, "", &mut found);
    assert!(found.is_empty(), "{found:?}");
}

/// Cuts, doubles and swaps pieces of a good scenario.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let at = 0..text.chars().count();
    let odd = prop::sample::select(vec![
        "", "[", "]", "{", "}", "\"", "'", ":", "-", "&a", "*a", "<<: *a", "\n", "\t", "é", "#", "!x ",
    ]);
    prop::collection::vec((at, 0..20_usize, odd), 1..6).prop_map(move |cuts| {
        let mut characters: Vec<char> = text.chars().collect();
        for (at, length, odd) in cuts {
            let at = at.min(characters.len());
            let end = (at + length).min(characters.len());
            characters.splice(at..end, odd.chars());
        }
        characters.into_iter().collect()
    })
}

fn gives_a_value_or_a_diagnostic(name: &str, text: &str) {
    let folder = Folder::with(&[(name, text)]);
    let options = LoadOptions { file: folder.path(name), ..LoadOptions::default() };
    match load(&options) {
        Ok(loaded) => drop(loaded.entries()),
        Err(broken) => assert!(broken.render(false).starts_with("error: ")),
    }
}

const GOOD_TOML: &str = include_str!("../../../src/commands/init/scenario.toml");
const GOOD_YAML: &str = include_str!("../../../src/commands/init/scenario.yaml");

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_toml_gives_a_value_or_a_diagnostic(damaged in damaged(GOOD_TOML), wild in "[a-c=\\[\\]{}.\"'\n #,1é]{0,40}") {
        gives_a_value_or_a_diagnostic("x.toml", &damaged);
        gives_a_value_or_a_diagnostic("x.toml", &wild);
    }

    #[test]
    fn any_yaml_gives_a_value_or_a_diagnostic(damaged in damaged(GOOD_YAML), wild in "[a-c:\\[\\]{}\\-?|>&*!%@`\"'\n\r\t #,1é]{0,40}") {
        gives_a_value_or_a_diagnostic("x.yaml", &damaged);
        gives_a_value_or_a_diagnostic("x.yaml", &wild);
    }

    #[test]
    fn any_setting_gives_a_value_or_a_diagnostic(setting in "[a-c.=\\[\\]{}\"'1é ]{0,20}", key in "(traffic|variants|datasets|x)\\.[a-z]{1,3}") {
        let folder = Folder::with(&[("x.toml", GOOD_TOML)]);
        for text in [setting.clone(), format!("{key}={setting}")] {
            let options = LoadOptions { file: folder.path("x.toml"), set: vec![text], env: Vec::new() };
            if let Err(broken) = load(&options) {
                prop_assert!(broken.render(true).contains("error"));
            }
        }
    }
}
