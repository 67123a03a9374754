//! Servers that must show what they run.

use super::bench::{Bench, SIMULATE, around_server, code, scripted, talk};

const PAGE: &str = "\n[dashboard]\npage = 'small.md'\n";

fn with_checks(checks: &str) -> String {
    let script = format!(r#"echo "max_num_seqs=${{4:-1}} for Qwen/Qwen-Image"; exec {SIMULATE} $1"#);
    scripted(&script, 2, &format!("verify = [\n{checks}\n]"))
        .replace("name = \"second\"", "name = \"second\"\nserve_args = { max-num-seqs = 8 }")
}

#[test]
fn what_holds_is_kept_and_stands_on_the_page() {
    let checks = r#"
  { path = "/v1/models", json = "/data/0/id", equals = "{{ model }}" },
  { path = "/version", json = "/speed", equals = 100 },
  { path = "/version", json = "/version", matches = '^\d' },
  { log = 'for {{ model }}$' },"#;
    let own = "name = \"second\"\nverify = [{ log = 'max_num_seqs={{ serve_args[\"max-num-seqs\"] }} ' }]";
    let scenario = with_checks(checks).replace("name = \"second\"", own) + PAGE;
    let bench = Bench::new(&scenario);
    let output = bench.run(&[]);
    assert_eq!(code(&output), 0, "{}", talk(&output));

    let report = bench.json("servers/second-1/verify.json");
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["ok"] == true), "{report}");
    let seen: Vec<&str> = checks.iter().filter_map(|check| check["seen"].as_str()).collect();
    assert_eq!((seen[0], seen[1]), ("Qwen/Qwen-Image", "100.0"), "{report}");
    assert_eq!(&seen[3..], ["max_num_seqs=8 for Qwen/Qwen-Image"; 2], "{report}");
    assert_eq!(bench.json("servers/first-1/verify.json")["checks"].as_array().unwrap().len(), 4);
    assert_eq!(bench.json("plan.json")["variants"][1]["verify"][4]["log"], "max_num_seqs=8 ");

    let page = bench.read("small.md");
    assert!(page.contains("Checked on the running server before it was measured:"), "{page}");
    assert!(page.contains("- `/v1/models /data/0/id` is `Qwen/Qwen-Image`\n"), "{page}");
    assert!(page.contains("- `log` is `max_num_seqs=8 for Qwen/Qwen-Image`\n"), "{page}");
}

#[test]
fn what_does_not_hold_stops_the_variant_before_anything_is_measured() {
    let checks = r#"
  { path = "/v1/models", json = "/data/0/id", equals = "{{ model }}" },
  { path = "/v1/models", json = "/data/0/owned_by", equals = "{% if variant == 'first' %}nobody{% else %}vllm-omni{% endif %}" },"#;
    let scenario = with_checks(checks).replace(
        "name = \"first\"",
        "name = \"first\"\nverify = [{ path = \"/version\", json = \"/gpu\", matches = 'H100' }]",
    );
    let bench = Bench::new(&(scenario + PAGE));
    let owner = "/v1/models /data/0/owned_by";
    let output = bench.run(&[]);
    let text = talk(&output);
    assert_eq!(code(&output), 3, "{text}");
    let report = bench.json("servers/first-1/verify.json");
    assert_eq!(report["checks"][0]["ok"], true);
    let owned_by = report["checks"][1]["seen"].as_str().unwrap();
    let (_, missing) = bench.runs();
    let why = &missing[0].1;
    assert!(
        why.starts_with(&format!(
            "the server does not run what the scenario says: `{owner}` should be `nobody`, but is `{owned_by}`; \
             `/version /gpu` should be what matches `H100`, but its answer has nothing there; the end of `"
        )),
        "{why}"
    );
    assert!(!bench.latest().join("runs/first").exists(), "nothing was measured");
    assert!(text.contains("no server for `first`: the server does not run what the scenario says"), "{text}");
    let page = bench.read("small.md");
    assert!(page.contains("- failed: `"), "{page}");
    assert_eq!(bench.json("servers/second-1/verify.json")["checks"][1]["expected"], "`vllm-omni`");
}

#[test]
fn checks_that_make_no_sense_are_refused_with_their_place() {
    for (checks, line, told) in [
        ("{ log = '(' },", "{ log = '(' }", "`(` is not a regular expression: unclosed group"),
        ("{ path = '/v1/models', json = 'data', equals = 1 },", "json = 'data'", "`data` is not a JSON pointer"),
        ("{ path = '/v1/models' },", "{ path = '/v1/models' }", "what the answer should be is missing"),
        (
            "{ path = '/v1/models', equals = 1, matches = 'a' },",
            "matches = 'a'",
            "a check has `equals` or `matches`, not both",
        ),
        ("{ path = '/x', equals = '{{ modle }}' },", "{{ modle }}", "the template cannot be filled in"),
        ("{ file = '/x' },", "file = '/x'", "unknown key `file`"),
    ] {
        let bench = Bench::new(&with_checks(checks));
        let output = bench.run(&[]);
        let text = talk(&output);
        assert_eq!(code(&output), 2, "{text}");
        assert!(text.contains(told) && text.contains(line) && text.contains("small.toml:"), "{text}");
        assert!(!bench.path("results").exists());
    }
}

#[test]
fn a_log_that_nobody_can_read_is_refused_and_answers_are_checked_all_the_same() {
    let text = scripted("", 2, "");
    let (head, variants) = around_server(&text);
    let without = format!(
        "{head}
{variants}"
    );
    let first = crate::support::Served::simulator(&["--speed", "100"]);
    let second = crate::support::Served::simulator(&["--speed", "50"]);
    let with = |check: &str| {
        let own =
            |name: &str, url: &str| format!("name = \"{name}\"\nendpoint = {{ url = \"{url}\" }}\nverify = [{check}]");
        let scenario = without.replace("name = \"first\"", &own("first", first.url()));
        Bench::new(&scenario.replace("name = \"second\"", &own("second", second.url())))
    };
    let refused = with("{ log = 'a' }").run(&[]);
    assert_eq!(code(&refused), 2);
    assert!(
        talk(&refused).contains("only a server that omni-bench starts has a log it can read"),
        "{}",
        talk(&refused)
    );

    let bench = with("{ path = '/version', json = '/speed', equals = 50 }");
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let (runs, missing) = bench.runs();
    assert_eq!(runs, ["second/A/c1"]);
    assert!(missing[0].1.contains("`/version /speed` should be `50`, but is `100.0`"), "{missing:?}");
}
