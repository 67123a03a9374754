//! A perf JSON that cannot be imported says where and why, and leaves nothing half done.

use super::{Import, one};

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let import = Import::with(text);
    let told = import.import(&["perf.json"]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    for part in parts {
        assert!(told.err.contains(part), "{part}\nis not in\n{}", told.err);
    }
    assert_eq!(import.files(), [""; 0]);
}

#[test]
fn a_syntax_error_has_file_line_and_column() {
    refused("[\n  {\"fps\":16\",weight\":1}\n]", &["this is not JSON", "--> perf.json:2:12", "^"]);
    refused("[{\"latency_mean\": NaN}]", &["`NaN` is not a number of JSON", "perf.json:1:19"]);
}

#[test]
fn an_inline_block_of_an_unknown_type_is_an_error_at_its_key() {
    let rows = ", \"dataset\": \"custom\", \"dataset-path-inline\": {\"type\": \"csv\", \"content\": []}";
    let parts = ["`dataset-path-inline` has the type `csv`; the types are `yaml` and `jsonl`", "perf.json:4:"];
    refused(&one("", "", rows), &parts);
    let deploy = "\"deploy-config-inline\": {\"type\": \"toml\", \"content\": {}}";
    refused(&one("", deploy, ""), &["`deploy-config-inline` has the type `toml`"]);
    refused(
        &one("", "\"deploy-config-inline\": \"a.yaml\"", ""),
        &["`deploy-config-inline` must be a table, not text"],
    );
}

#[test]
fn lists_that_do_not_go_together_are_an_error() {
    let entry = ", \"num-prompts\": [20, 40, 80], \"max-concurrency\": [1, 2]";
    refused(&one("", "", entry), &["3 prompt counts do not go with 2 points of the sweep", "perf.json:4:"]);
}

#[test]
fn what_no_run_can_be_made_of_is_an_error_and_all_are_told_at_once() {
    let entry = ", \"task\": \"t3i\", \"dataset\": \"x\"";
    refused(&one("", "", entry), &["there is no task \"t3i\"", "the tasks are t2i, i2i"]);
    refused(&one(", \"benchmark_endpoint\": \"/v1/audio\"", "", ""), &["\"/v1/audio\" is not an endpoint"]);
    refused(
        &one("", "", ", \"task\": \"t2v\", \"backend\": \"openai\""),
        &["`/v1/images/generations` cannot do task `t2v`", "endpoints that can: `/v1/videos`"],
    );
    refused("{\"test_name\": \"a\"}", &["a perf JSON is a list of cases, not a table"]);
    refused(
        "[{\"server_type\": \"vllm-omni\", \"benchmark_params\": {\"$ref\": \"gone.json\"}}]",
        &["gone.json", "the case has no `test_name`"],
    );
}

#[test]
fn one_bad_file_does_not_keep_the_others_from_being_imported() {
    let import = Import::new();
    import.write("bad.json", "[");
    let told = import.import(&["bad.json", "perf_bagel.json"]);
    assert_eq!(told.code, Some(2));
    assert_eq!(import.files(), ["perf_bagel.baseline.json", "perf_bagel.toml"]);
}

#[test]
fn files_that_are_there_are_kept_unless_forced() {
    let import = Import::new();
    assert_eq!(import.import(&["perf_bagel.json"]).code, Some(0));
    fs_err::write(import.path().join("out/perf_bagel.toml"), "mine").unwrap();
    let told = import.import(&["perf_bagel.json"]);
    assert_eq!(told.code, Some(2));
    assert!(told.err.contains("perf_bagel.toml` is already there; `--force` overwrites it"), "{}", told.err);
    assert_eq!(import.read("perf_bagel.toml"), "mine");
    assert_eq!(import.import(&["perf_bagel.json", "--force"]).code, Some(0));
    assert!(import.read("perf_bagel.toml").contains("BAGEL"));
}
