//! Axes, zips, includes, excludes, ids, selection.

use omni_bench::plan::{Axis, Hosting, Step};
use omni_bench::scenario::model::Match;
use proptest::prelude::*;

use super::*;

const VARIANTS: &str = "[[variants]]\nname = 'x'\n[[variants]]\nname = 'y'\n";

#[test]
fn a_scenario_without_variants_or_matrix_has_one_run() {
    let plan = planned("");
    assert_eq!(ids(&plan), ["default/A/c1"]);
    let run = &plan.runs[0];
    assert_eq!((run.traffic.requests, run.traffic.seed, run.repeat, run.gpus), (10, 42, 1, 1));
    assert_eq!(plan.varying, []);
    assert_eq!((plan.title.as_str(), plan.starts), ("test", 1));
}

#[test]
fn the_product_is_ordered_by_variant_first_and_keeps_the_order_of_the_lists() {
    let plan = planned(&format!("{VARIANTS}{DATASET_C}[matrix]\nmax_concurrency = [4, 1]\ndataset = ['C', 'A']"));
    assert_eq!(ids(&plan), ["x/C/c4", "x/C/c1", "x/A/c4", "x/A/c1", "y/C/c4", "y/C/c1", "y/A/c4", "y/A/c1"]);
    assert_eq!(plan.varying, [Axis::Variant, Axis::Dataset, Axis::MaxConcurrency]);
    assert_eq!(plan.datasets.keys().collect::<Vec<_>>(), ["A", "C"], "the file's order");
}

#[test]
fn axes_that_vary_appear_in_the_id_and_others_do_not() {
    let plan = planned(
        "[traffic]\nrepeats = 2\n[matrix]\nrequest_rate = [2, 0.5]\nrequests = [20]\nseed = [7]\nsize = ['512x512']",
    );
    assert_eq!(
        ids(&plan),
        ["default/A/open-rate2", "default/A/open-rate2.r2", "default/A/open-rate0.5", "default/A/open-rate0.5.r2"]
    );
    let plan = planned(
        "[matrix]\nrequests = [10, 20]\nseed = [7, 8]\nsize = ['512x512', '768x512']\nnum_inference_steps = [20, 30]",
    );
    assert_eq!(plan.runs[0].id, "default/A/c1-n10-512x512-steps20-seed7");
    assert_eq!(plan.runs.last().unwrap().id, "default/A/c1-n20-768x512-steps30-seed8");
    assert_eq!(plan.runs.len(), 16);
    let plan = planned("[matrix]\nrequest_rate = ['inf', 2]\nmax_concurrency = [4]");
    assert_eq!(ids(&plan), ["default/A/c4-rateinf", "default/A/c4-rate2"]);
}

#[test]
fn rate_and_concurrency_multiply_unless_zipped_and_no_cap_is_hidden() {
    let text = "[matrix]\nrequest_rate = [1, 2]\nmax_concurrency = [4, 8]\nrequests = [10, 20]";
    assert_eq!(planned(text).runs.len(), 8);
    let plan = planned(&format!("{text}\nzip = [['request_rate', 'max_concurrency', 'requests']]"));
    let told: Vec<(String, Option<u32>, u64)> =
        plan.runs.iter().map(|run| (run.id.clone(), run.traffic.max_concurrency, run.traffic.requests)).collect();
    assert_eq!(told, [("default/A/c4-rate1-n10".into(), Some(4), 10), ("default/A/c8-rate2-n20".into(), Some(8), 20)]);
    let plan = planned("[matrix]\nrequest_rate = [1, 2]");
    assert!(plan.runs.iter().all(|run| run.traffic.max_concurrency.is_none()));
}

#[test]
fn zipped_axes_state_their_lengths_when_unequal() {
    assert_eq!(
        problems("[matrix]\nmax_concurrency = [1, 2, 4]\nrequests = [10, 20]\nzip = [['max_concurrency', 'requests']]"),
        ["matrix.zip[0]: zipped axes have equal length, but `max_concurrency` has 3, `requests` has 2"]
    );
    assert_eq!(
        problems(
            "[matrix]\nmax_concurrency = [1]\nseed = [1]\nzip = [['max_concurrency', 'seeds'], ['max_concurrency', 'requests']]"
        ),
        [
            "matrix.zip[0][1]: there is no axis `seeds`",
            "matrix.zip[1][0]: axis `max_concurrency` is already in `matrix.zip[0][0]`",
            "matrix.zip[1][1]: `matrix.requests` has no list to zip",
        ]
    );
    let plan =
        planned(&format!("{VARIANTS}[matrix]\nmax_concurrency = [1, 8]\nzip = [['variant', 'max_concurrency']]"));
    assert_eq!(ids(&plan), ["x/A/c1", "y/A/c8"]);
}

#[test]
fn includes_add_points_and_excludes_take_them_away() {
    let plan = planned(&format!(
        "{VARIANTS}[matrix]\nmax_concurrency = [1, 4]\ninclude = [{{ variant = 'x', max_concurrency = 16 }}]\nexclude = [{{ variant = 'y', max_concurrency = 4 }}]"
    ));
    assert_eq!(ids(&plan), ["x/A/c1", "x/A/c4", "x/A/c16", "y/A/c1"]);
    let plan = planned(&format!("{VARIANTS}[matrix]\ninclude = [{{ max_concurrency = 2, requests = 5 }}]"));
    assert_eq!(ids(&plan), ["x/A/c1-n10", "x/A/c2-n5", "y/A/c1-n10", "y/A/c2-n5"]);
    let plan = planned(
        "[traffic]\nrequests = { per_concurrency = 5 }\n[matrix]\nmax_concurrency = [1, 2]\nexclude = [{ requests = 10 }]",
    );
    assert_eq!(ids(&plan), ["default/A/c1"]);
}

#[test]
fn includes_and_excludes_that_do_nothing_are_told() {
    assert_eq!(
        problems("[matrix]\nmax_concurrency = [1, 4]\nexclude = [{ max_concurrency = 2 }, {}]"),
        [
            "matrix.exclude[0]: no point of the matrix matches this table",
            "matrix.exclude[1]: an empty table would exclude every point"
        ]
    );
    assert_eq!(
        problems("[matrix]\nexclude = [{ dataset = 'A' }]"),
        ["matrix.exclude: every point is excluded, nothing is left to run"]
    );
    let told = problems(
        "[matrix]\nmax_concurrency = [1, 4]\ninclude = [{ max_concurrency = 4 }, { max_concurrency = 8 }, { max_concurrency = 8 }]",
    );
    assert_eq!(told.len(), 2);
    assert!(
        told[0].starts_with("matrix.include[0]: this point is already in the matrix: `variant default, dataset A,")
    );
    assert!(told[1].starts_with("matrix.include[2]: this point is already in `matrix.include[1]`"), "{told:?}");
    assert_eq!(
        problems("[matrix]\nmax_concurrency = [1, 4, 1]"),
        ["matrix.max_concurrency[2]: `max_concurrency` 2 and 0 are the same: `1`"]
    );
    let zipped = "[matrix]\nmax_concurrency = [1, 1]\nrequests = [10, 20]\nzip = [['max_concurrency', 'requests']]";
    assert_eq!(planned(zipped).runs.len(), 2, "zipped pairs may repeat one of their values");
}

#[test]
fn the_number_of_runs_is_bounded_before_any_is_made() {
    let list = |n: u64| format!("{:?}", (1..=n).collect::<Vec<_>>());
    let text =
        format!("[matrix]\nmax_concurrency = {0}\nrequests = {0}\nseed = {0}\nnum_inference_steps = {0}", list(1000));
    assert_eq!(
        problems(&text),
        ["matrix: the matrix makes 1000000000000 runs; a plan has at most 100000 (limit `runs`)"]
    );
    let text = format!("[traffic]\nrepeats = 60\n[matrix]\nmax_concurrency = {}\nseed = {}", list(50), list(40));
    assert_eq!(problems(&text), ["matrix: the matrix makes 120000 runs; a plan has at most 100000 (limit `runs`)"]);
}

#[test]
fn a_large_matrix_is_planned_without_a_request_list_per_run() {
    let list = |n: u64| format!("{:?}", (1..=n).collect::<Vec<_>>());
    let text = format!("[traffic]\nrepeats = 4\n[matrix]\nmax_concurrency = {}\nseed = {}", list(50), list(50));
    let plan = planned(&text);
    assert_eq!(plan.runs.len(), 10_000);
    let unique: std::collections::HashSet<&str> = ids(&plan).into_iter().collect();
    assert_eq!(unique.len(), 10_000);
    assert_eq!(plan.steps.len(), 10_002);
}

#[test]
fn a_selection_keeps_ids_columns_and_hash_of_the_whole_plan() {
    let scenario =
        read(&format!("{HEAD}{DATASET_A}{VARIANTS}[matrix]\nmax_concurrency = [1, 4]\n[compare]\nbaseline = 'x'\n"));
    let (whole, _) = try_plan_with(&scenario, SIMULATED, &[]).unwrap();
    let (part, _) = try_plan_with(&scenario, SIMULATED, &["y/**".to_owned()]).unwrap();
    assert_eq!(ids(&part), ["y/A/c1", "y/A/c4"]);
    assert_eq!(part.variants.len(), 1);
    assert_eq!((part.starts, part.steps.len()), (1, 4));
    assert_eq!((&part.varying, &part.plan_hash), (&whole.varying, &whole.plan_hash));
    assert_eq!(whole.compare.unwrap().variants, ["x", "y"]);
    assert_eq!(part.compare, None);
    let problems = try_plan_with(&scenario, SIMULATED, &["y/A/c2".to_owned()]).unwrap_err();
    assert_eq!(problems[0].message, "`--only y/A/c2` matches no run");
    assert!(problems[0].hint.as_deref().unwrap().contains("`y/A/c1`"));
}

#[test]
fn servers_that_run_already_can_be_measured_one_selection_at_a_time() {
    let scenario = read(&format!("{HEAD}{DATASET_A}{VARIANTS}"));
    let problems = try_plan_with(&scenario, Hosting::Given, &[]).unwrap_err();
    assert_eq!(
        problems[0].message,
        "variants `x` and `y` have the same URL `http://localhost:8091`: one server would be measured twice"
    );
    let only = |glob: &str| try_plan_with(&scenario, Hosting::Given, &[glob.to_owned()]).unwrap().0;
    let (x, y) = (only("x/**"), only("y/**"));
    assert_eq!(x.plan_hash, y.plan_hash, "the second can be added to the results of the first");
    assert_eq!(x.steps, [Step::Run { id: "x/A/c1".into() }]);
    assert_eq!((x.starts, x.variants[0].endpoint.url.as_deref()), (0, Some("http://localhost:8091")));
}

#[test]
fn compared_variants_on_two_servers_alternate_run_by_run() {
    let text = format!(
        "{HEAD}{DATASET_A}[[variants]]\nname = 'x'\n[[variants]]\nname = 'y'\nendpoint = {{ url = 'http://localhost:8092' }}\n[traffic]\nrepeats = 2\n[matrix]\nmax_concurrency = [1, 2]\n[compare]\nbaseline = 'x'\n"
    );
    let (plan, _) = planned_data(&text, Hosting::Given);
    let order: Vec<&str> = plan
        .steps
        .iter()
        .map(|step| match step {
            Step::Run { id } => id.as_str(),
            Step::StartServer { .. } | Step::StopServer { .. } => panic!("nothing is started"),
        })
        .collect();
    assert_eq!(order, ["x/A/c1", "y/A/c1", "y/A/c2", "x/A/c2", "y/A/c1.r2", "x/A/c1.r2", "x/A/c2.r2", "y/A/c2.r2"]);
}

#[test]
fn a_server_restarted_per_repeat_is_compared_in_blocks() {
    let text = format!(
        "{HEAD}{DATASET_A}{VARIANTS}[server]\ncommand = ['serve', '--port', '{{{{ port }}}}']\nrestart = 'per_repeat'\n[traffic]\nrepeats = 3\n[compare]\nbaseline = 'x'\n"
    );
    let (plan, _) = planned_data(&text, Hosting::Launched);
    assert_eq!(plan.starts, 4);
    let starts: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::StartServer { variant } => Some(variant.as_str()),
            Step::Run { .. } | Step::StopServer { .. } => None,
        })
        .collect();
    assert_eq!(starts, ["x", "y", "x", "y"]);
    assert!(plan.variants.iter().all(|variant| variant.endpoint.url.is_none()), "the launcher picks the port");
}

/// A scenario with shuffled axis lists.
fn scenario_with(caps: &[u32], seeds: &[u64], sizes: &[&str], variants: &[&str]) -> Scenario {
    let variants: Vec<String> = variants.iter().map(|name| format!("[[variants]]\nname = '{name}'\n")).collect();
    read(&format!(
        "{HEAD}{DATASET_A}{DATASET_C}{}[traffic]\nrepeats = 2\n[matrix]\nmax_concurrency = {caps:?}\nseed = {seeds:?}\nsize = {sizes:?}\n",
        variants.concat()
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_of_lists_changes_the_order_of_runs_and_nothing_else(
        caps in Just(vec![1, 2, 8]).prop_shuffle(),
        seeds in Just(vec![1, 42]).prop_shuffle(),
        sizes in Just(vec!["512x512", "768x768"]).prop_shuffle(),
        variants in Just(vec!["x", "y"]).prop_shuffle(),
    ) {
        let sorted = |scenario: &Scenario| {
            let mut runs = try_plan_with(scenario, SIMULATED, &[]).unwrap().0.runs;
            runs.sort_by(|a, b| a.id.cmp(&b.id));
            runs
        };
        let usual = scenario_with(&[1, 2, 8], &[1, 42], &["512x512", "768x768"], &["x", "y"]);
        prop_assert_eq!(sorted(&scenario_with(&caps, &seeds, &sizes, &variants)), sorted(&usual));
    }

    #[test]
    fn a_point_has_the_same_key_in_whatever_matrix_it_stands(cap in 1_u32..64, seed in 0_u64..1000) {
        let alone = planned(&format!("[traffic]\nmax_concurrency = {cap}\nseed = {seed}"));
        let among = planned(&format!("[matrix]\nmax_concurrency = [{cap}, 100]\nseed = [2000, {seed}]"));
        prop_assert!(among.runs.iter().any(|run| run.key == alone.runs[0].key));
    }

    #[test]
    fn a_matching_warmup_is_at_least_as_large_as_concurrency_and_classes(cap in 1_u32..40, requests in 1_u64..40) {
        let text = format!("{HEAD}{DATASET_C}[traffic]\nmax_concurrency = {cap}\nrequests = {requests}\n");
        let scenario = read(&text);
        prop_assert_eq!(scenario.warmup.requests.unwrap_or_default(), Match::Run);
        let (plan, data) = try_plan_with(&scenario, SIMULATED, &[]).unwrap();
        let phases = plan::phases(&plan, &plan.runs[0], &data);
        let classes = |requests: &[workload::Request]| {
            requests.iter().map(|request| request.class().to_string()).collect::<std::collections::BTreeSet<_>>()
        };
        prop_assert_eq!(classes(&phases.warmup), classes(&phases.measured));
        prop_assert!(phases.warmup.len() >= cap as usize);
        prop_assert_eq!(phases.warmup.len(), plan.runs[0].warmup.requests as usize);
    }
}
