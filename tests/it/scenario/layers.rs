//! Which layer wins, and what each addresses.

use omni_bench::scenario::{LoadOptions, Loaded, load};

use super::Folder;

fn env(folder: &Folder, name: &str, env: &[(&str, &str)], set: &[&str]) -> Result<Loaded, String> {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    load(&LoadOptions { file: folder.path(name), set, env }).map_err(|broken| broken.render(false))
}

fn layer_of(loaded: &Loaded, key: &str) -> String {
    loaded.entries().into_iter().find(|entry| entry.path.to_string() == key).unwrap().layer
}

const BASE: &str = "
title = \"base\"
[traffic]
seed = 1
repeats = 1
requests = 1
[[variants]]
name = \"b\"
gpus = 1
[[variants]]
name = \"a\"
[matrix]
max_concurrency = [1, 2, 3]
";

const OWN: &str = "
extends = [\"base/base.toml\"]
[traffic]
seed = 2
repeats = 2
requests = 2
[[variants]]
name = \"c\"
[[variants]]
name = \"b\"
label = \"B\"
[matrix]
max_concurrency = [9]
";

#[test]
fn later_layers_win_and_each_value_tells_its_own() {
    let folder = Folder::with(&[("base/base.toml", BASE), ("own.toml", OWN)]);
    let variables = [("OMNI_BENCH__TRAFFIC__REPEATS", "3"), ("OMNI_BENCH__TRAFFIC__REQUESTS", "3"), ("OTHER", "x")];
    let loaded = env(&folder, "own.toml", &variables, &["traffic.requests=4"]).unwrap();
    let scenario = &loaded.scenario;
    assert_eq!(scenario.title.as_deref(), Some("base"));
    assert_eq!((scenario.traffic.seed, scenario.traffic.repeats), (Some(2), Some(3)));
    assert_eq!(layer_of(&loaded, "traffic.requests"), "--set");
    assert_eq!(layer_of(&loaded, "traffic.repeats"), "env OMNI_BENCH__TRAFFIC__REPEATS");
    assert!(layer_of(&loaded, "traffic.seed").ends_with("own.toml"));
    assert!(layer_of(&loaded, "title").ends_with("base.toml"));
    assert_eq!(layer_of(&loaded, "traffic.order"), "default");
}

#[test]
fn lists_of_named_tables_merge_by_name_and_other_lists_replace() {
    let folder = Folder::with(&[("base/base.toml", BASE), ("own.toml", OWN)]);
    let scenario = folder.load("own.toml", &[]).scenario;
    let names: Vec<&str> = scenario.variants.iter().filter_map(|variant| variant.name.as_deref()).collect();
    assert_eq!(names, ["b", "a", "c"]);
    assert_eq!((scenario.variants[0].gpus, scenario.variants[0].label.as_deref()), (Some(1), Some("B")));
    assert_eq!(scenario.matrix.max_concurrency, Some(vec![9]));
}

#[test]
fn toml_and_yaml_may_extend_each_other_and_the_last_base_wins() {
    let one = "title: one\ndescription: one\n";
    let two = "title = \"two\"\n";
    let folder = Folder::with(&[("1.yaml", one), ("2.toml", two), ("x.yml", "extends: [1.yaml, 2.toml]\n")]);
    let scenario = folder.load("x.yml", &[]).scenario;
    assert_eq!((scenario.title.as_deref(), scenario.description.as_deref()), (Some("two"), Some("one")));
}

#[test]
fn a_base_that_is_missing_broken_or_a_circle_is_told_at_the_entry() {
    let folder = Folder::with(&[
        ("missing.toml", "extends = [\"nope.toml\"]\n"),
        ("circle.toml", "extends = [\"circle.yaml\"]\n"),
        ("circle.yaml", "extends: [circle.toml]\n"),
        ("typed.toml", "extends = \"base.toml\"\n"),
        ("uses.toml", "extends = [\"broken.toml\"]\n"),
        ("broken.toml", "[traffic]\nrequets = 1\n"),
    ]);
    let missing = folder.refused(&["missing.toml"]);
    assert!(missing.contains("missing.toml:1:12") && missing.contains("`nope.toml`"), "{missing}");
    let circle = folder.refused(&["circle.toml"]);
    assert!(circle.contains("circle.yaml:1:11") && circle.contains("extends itself"), "{circle}");
    assert!(folder.refused(&["typed.toml"]).contains("typed.toml:1:11"));
    assert!(folder.refused(&["uses.toml"]).contains("broken.toml:2:1"));
}

#[test]
fn a_setting_takes_the_type_of_its_key() {
    let text = "name = \"x\"\n[environment]\ngpu = \"A100\"\nrevision = 7\n";
    let folder = Folder::with(&[("x.toml", text)]);
    let settings = [
        "name=12",
        "title=\"quoted\"",
        "traffic.request_rate=inf",
        "warmup.requests=match",
        "matrix.max_concurrency=[1, 2]",
        "environment.gpu=100",
        "environment.revision=8",
        "endpoint.extra_body.scale=4.5",
        "endpoint.extra_body.word=some text",
        "gate.limits.\"latency_s.p99\"=36s",
        "datasets.D.profiles=[{ width = 512, weight = 2 }]",
        "datasets.D.path=2024",
    ];
    let scenario = folder.load("x.toml", &settings).scenario;
    let as_json = serde_json::to_value(&scenario).unwrap();
    let expected = [
        ("/name", serde_json::json!("12")),
        ("/title", serde_json::json!("quoted")),
        ("/traffic/request_rate", serde_json::json!("inf")),
        ("/warmup/requests", serde_json::json!("match")),
        ("/matrix/max_concurrency", serde_json::json!([1, 2])),
        ("/environment/gpu", serde_json::json!("100")),
        ("/environment/revision", serde_json::json!(8)),
        ("/endpoint/extra_body/scale", serde_json::json!(4.5)),
        ("/endpoint/extra_body/word", serde_json::json!("some text")),
        ("/gate/limits/latency_s.p99", serde_json::json!("36s")),
        ("/datasets/D/profiles/0/width", serde_json::json!(512)),
        ("/datasets/D/path", serde_json::json!("2024")),
    ];
    for (pointer, value) in expected {
        assert_eq!(as_json.pointer(pointer), Some(&value), "{pointer}");
    }
}

#[test]
fn variables_match_existing_keys_whatever_their_case() {
    let text = "[[variants]]\nname = \"seqs-8\"\n[datasets.Big]\nsource = \"random\"\n";
    let folder = Folder::with(&[("x.toml", text)]);
    let variables = [
        ("OMNI_BENCH__ENDPOINT__URL", "http://host:1/"),
        ("OMNI_BENCH__VARIANTS__SEQS_8__GPUS", "4"),
        ("OMNI_BENCH__VARIANTS__seqs-8__SERVE_ARGS__max-num-seqs", "8"),
        ("OMNI_BENCH__DATASETS__BIG__LABEL", "12"),
        ("OMNI_BENCH__DATASETS__SMALL__SOURCE", "random"),
        ("OMNI_BENCH__SERVER__ENV__HF_HOME", "/models"),
    ];
    let scenario = env(&folder, "x.toml", &variables, &[]).unwrap().scenario;
    assert_eq!(scenario.endpoint.url.as_deref(), Some("http://host:1"));
    assert_eq!(scenario.variants[0].gpus, Some(4));
    assert_eq!(scenario.variants[0].serve_args["max-num-seqs"], serde_json::json!(8));
    assert_eq!(scenario.datasets["Big"].label.as_deref(), Some("12"));
    assert!(scenario.datasets.contains_key("small"));
    assert_eq!(scenario.server.unwrap().env["HF_HOME"], "/models");
}

#[test]
fn what_is_wrong_with_a_setting_is_told_in_its_own_text() {
    let folder = Folder::with(&[("x.toml", "[[variants]]\nname = \"seqs-8\"\n")]);
    let settings = [
        "foo",
        "traffic.requets=5",
        "variants.seqs8.gpus=2",
        "traffic.seed=[1",
        "a..b=1",
        "extends=x",
        "traffic.repeats=x",
    ];
    let args: Vec<&str> = settings.iter().flat_map(|text| ["--set", *text]).collect();
    insta::assert_snapshot!(folder.refused(&[&["x.toml"], args.as_slice()].concat()));
    let told = env(&folder, "x.toml", &[("OMNI_BENCH__TRAFFIC__REQUETS", "5")], &[]).unwrap_err();
    assert!(
        told.contains("--> OMNI_BENCH__TRAFFIC__REQUETS:1:22") && told.contains("did you mean `requests`?"),
        "{told}"
    );
}

#[test]
fn paths_are_relative_to_the_file_that_wrote_them() {
    let base = "[datasets.A]\npath = [\"a.csv\", \"/abs/b.csv\", \"https://host/c.csv\"]\n[dashboard]\npage = \"p.md\"\ntemplate = \"t.md\"\n";
    let own = "extends = [\"base/base.toml\"]\n[gate]\nbaseline = \"b.json\"\n[server]\ncwd = \"..\"\n[dashboard]\npage = \"own.md\"\n";
    let folder = Folder::with(&[("base/base.toml", base), ("own.toml", own)]);
    let scenario = folder.load("own.toml", &["dashboard.template=here.md"]).scenario;
    let shown = |name: &str| folder.path(name).display().to_string();
    let paths = &scenario.datasets["A"].path.as_ref().unwrap().0;
    assert_eq!(paths, &[shown("base/a.csv"), "/abs/b.csv".to_owned(), "https://host/c.csv".to_owned()]);
    let dashboard = scenario.dashboard.unwrap();
    assert_eq!((dashboard.page, dashboard.template.as_deref()), (Some(shown("own.md")), Some("here.md")));
    assert_eq!(scenario.gate.unwrap().baseline, Some(shown("b.json")));
    assert_eq!(scenario.server.unwrap().cwd, Some(shown("..")));
}

#[test]
fn later_stages_point_into_the_file_by_key_path() {
    use omni_bench::diagnostic::{KeyPath, Place, Problem};
    let folder = Folder::with(&[("base/base.toml", BASE), ("own.toml", OWN)]);
    let loaded = folder.load("own.toml", &["variants.c.gpus=0"]);
    let told = loaded.render(&[Problem::value("variants[2].gpus", "must be at least 1")], false);
    assert!(told.contains("--> --set:1:17"), "{told}");
    let (source, range) = loaded.locate(&KeyPath::from("variants[0].label"), Place::Value).unwrap();
    assert!(source.name.ends_with("own.toml") && source.text.get(range) == Some("\"B\""));
    // what is absent is looked for at the nearest table around it
    let (source, range) = loaded.locate(&KeyPath::from("traffic.burstiness"), Place::Value).unwrap();
    assert_eq!(source.text.get(range), Some("traffic"));
    assert_eq!(loaded.locate(&KeyPath::from("model.id"), Place::Value), None);
}
