//! What a plan says of its comparison, and how small a difference it could show.

use std::process::Output;

use serde_json::Value;

use super::build::plan;
use crate::support::Sandbox;

const SCENARIO: &str = r#"
name = "small"
[model]
id = "Qwen/Qwen-Image"
task = "t2i"
[datasets.A]
profiles = [{ width = 64, height = 64, num_inference_steps = 2 }]
[traffic]
requests = 20
repeats = 5
"#;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn detectable(sandbox: &Sandbox, more: &[&str]) -> Output {
    let mut arguments = vec!["plan", "small.toml", "--simulate", "--detectable"];
    arguments.extend(more);
    sandbox.omni_bench(&arguments)
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("small.toml"), SCENARIO).unwrap();
    sandbox
}

#[test]
fn all_compared_variants_get_the_same_requests_seeds_and_order() {
    let two = "[[variants]]\nname = 'x'\n[[variants]]\nname = 'y'\nserve_args = { max-num-seqs = 8 }\n\
               endpoint = { url = 'http://localhost:8092' }\n[compare]\nbaseline = 'x'\neffect_floor = 0.02\n\
               metrics = ['latency_s.p95', 'stage_ms.diffuse.mean']\n";
    let plan = plan(6, 2, two);
    let [x, y] = plan.runs.as_slice() else { panic!("{:?}", plan.runs) };
    assert_eq!((&x.workload_key, &x.traffic, &x.warmup), (&y.workload_key, &y.traffic, &y.warmup));
    assert_ne!(x.config_key, y.config_key);
    let compare = plan.compare.unwrap();
    assert_eq!((compare.variants, compare.effect_floor), (vec!["x".to_owned(), "y".to_owned()], Some(0.02)));
    assert_eq!(compare.metrics.unwrap().len(), 2);
}

#[test]
fn a_wrong_floor_and_a_wrong_metric_are_told_at_their_place() {
    let sandbox = Sandbox::new();
    let more = "[[variants]]\nname = 'x'\n[[variants]]\nname = 'y'\n[compare]\nbaseline = 'x'\neffect_floor = 5\n\
                metrics = ['latency_s.p999']\n";
    fs_err::write(sandbox.path().join("small.toml"), format!("{SCENARIO}{more}")).unwrap();
    let output = sandbox.omni_bench(&["plan", "small.toml", "--simulate"]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    for part in ["from 0 to below 1", "there is no metric `latency_s.p999`", "did you mean `latency_s.p99`"] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    let output = sandbox.omni_bench(&["plan", "small.toml", "--simulate", "--set", "compare.metrics=[]"]);
    assert!(text(&output.stderr).contains("there is no metric to compare"), "{}", text(&output.stderr));
}

#[test]
fn the_simulators_noise_tells_what_a_plan_could_show() {
    let sandbox = sandbox();
    let none = detectable(&sandbox, &[]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("`simulator.noise` is 0"), "{}", text(&none.stderr));

    let noise = ["--set", "simulator.noise=0.1", "--format", "json", "--effect", "2%"];
    let output = detectable(&sandbox, &noise);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let point = &told["detectable"]["points"][0];
    assert_eq!(
        (&point["requests"], &point["repeats"], &point["basis"]),
        (&20.into(), &5.into(), &"across_repeats".into())
    );
    // (2.7764 + 0.9410) × √(2 × 0.1² / 100), as a relative change
    let wanted = (3.717_41 * (2.0 * 0.01 / 100.0_f64).sqrt()).exp_m1();
    assert!((point["detectable"].as_f64().unwrap() - wanted).abs() < 1e-4, "{point:#} {wanted}");
    assert!(point["repeats_needed"].as_u64().unwrap() > 5 && point["requests_needed"].as_u64().unwrap() > 20);

    let few = detectable(&sandbox, &["--set", "simulator.noise=0.1", "--repeats", "1"]);
    let told = text(&few.stdout);
    assert!(told.contains("within the runs only") && told.contains("5 % takes repeats"), "{told}");
    let wrong = detectable(&sandbox, &["--set", "simulator.noise=0.1", "--effect", "much"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("`--effect much`"), "{}", text(&wrong.stderr));
}

#[test]
fn earlier_results_tell_it_by_their_own_spread() {
    let sandbox = sandbox();
    let run =
        ["run", "small.toml", "--simulate", "--speed", "1000", "--set", "simulator.noise=0.2", "--out", "r", "-q"];
    let ran = sandbox.omni_bench(&run);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let output = detectable(&sandbox, &["--from", "r/small/latest", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let point = &told["detectable"]["points"][0];
    let (within, between) = (point["within"].as_f64().unwrap(), point["between"].as_f64().unwrap());
    assert!(within > 0.05 && between >= 0.0, "{point:#}");
    assert!(told["detectable"]["source"].as_str().unwrap().contains("r/small/latest"));
    assert_eq!(detectable(&sandbox, &["--from", "nowhere"]).status.code(), Some(5));
}
