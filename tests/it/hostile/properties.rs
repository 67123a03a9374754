//! Any input gives a value or a diagnostic, never a panic; and what a scenario means does not depend on
//! the order in which things without an order were written.

use std::fmt::Write as _;

use omni_bench::plan::{self, Hosting, Plan, PlanInput};
use omni_bench::scenario::{LoadOptions, load, load_text};
use omni_bench::workload::{self, Sources};
use proptest::prelude::*;

use super::corpus::{TARGETS, inputs};
use super::targets::check_ids;

/// Pieces that mean something to some parser.
const PIECES: [&[u8]; 24] = [
    b"",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\n",
    b"\r\n\r\n",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b"'",
    b"\\u",
    b":",
    b"=",
    b",",
    b"&a",
    b"*a",
    b"<<: ",
    b"1e999",
    b"-9223372036854775809",
    b"data: ",
    b"\xff\xff\xff\xff",
    b"\xff\xda",
];

/// Places, lengths and pieces: what is cut out of an input and what is put there.
fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, &'static [u8])>> {
    let piece = prop::sample::select(PIECES.to_vec());
    prop::collection::vec((any::<prop::sample::Index>(), 0..16_usize, piece), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_break_a_parser(input in prop::collection::vec(any::<u8>(), 0..300)) {
        for (_, target) in TARGETS {
            target(&input);
        }
    }

    #[test]
    fn no_damage_to_an_input_of_the_corpora_breaks_its_parser(which in any::<prop::sample::Index>(), damage in damage()) {
        for (name, target) in TARGETS {
            let inputs = inputs(name);
            let mut input = which.get(&inputs).1.clone();
            for (place, length, piece) in &damage {
                let at = place.index(input.len() + 1);
                let end = (at + length).min(input.len());
                input.splice(at..end, piece.iter().copied());
            }
            target(&input);
        }
    }

    #[test]
    fn any_value_of_any_key_is_taken_or_told(key in any::<prop::sample::Index>(), value in "\\PC{0,12}|[\\[\\]{}\"'=,.0-9a-z -]{0,30}") {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.toml");
        fs_err::write(&file, scenario(&parts(), [0; 6])).unwrap();
        let options = |set| LoadOptions { file: file.clone(), set, env: Vec::new() };
        let entries = load(&options(Vec::new())).unwrap().entries();
        let setting = format!("{}={value}", key.get(&entries).path);
        match load(&options(vec![setting.clone()])) {
            Ok(loaded) => drop(plan::check(&loaded.scenario, SIMULATED, None)),
            Err(broken) => prop_assert!(broken.render(false).starts_with("error: "), "{}", setting),
        }
    }
}

const SIMULATED: Hosting = Hosting::Simulated { speed: 20.0 };

/// The parts of a scenario, each a list whose order means nothing.
struct Parts([Vec<&'static str>; 6]);

fn parts() -> Parts {
    Parts([
        vec![
            "[model]\nid = 'm'\ntask = 't2i'\n",
            "[endpoint]\nurl = 'http://localhost:8091'\n",
            "[traffic]\nrequests = 6\nrequest_rate = 2.0\n",
            "[warmup]\nrequests = 1\n",
            "[slo]\nlatency = '3s'\n",
        ],
        vec![
            "[[variants]]\nname = 'x'\n",
            "[[variants]]\nname = 'y'\ngpus = 2\n",
            "[[variants]]\nname = 'z'\ngpus = 4\n",
        ],
        vec![
            "[datasets.A]\nprofiles = [{ width = 512, height = 512, num_inference_steps = 20 }]\n",
            "[datasets.B]\nprofiles = [{ num_inference_steps = 30, height = 768, width = 768 }]\n",
            "[datasets.C]\nrequest_seed = 'per_request'\nnegative_prompt = true\nprofiles = [{ width = 64, height = 64 }]\n",
        ],
        vec!["max_concurrency = [1, 4]\n", "seed = [1, 2]\n", "requests = [6, 8]\n", "zip = [['seed', 'requests']]\n"],
        vec![
            "{ variant = 'x', dataset = 'A', max_concurrency = 4 }",
            "{ variant = 'y', seed = 2 }",
            "{ dataset = 'C', max_concurrency = 1 }",
        ],
        vec![
            "{ variant = 'x', dataset = 'C', request_rate = 0.5 }",
            "{ variant = 'z', dataset = 'B', max_concurrency = 16, seed = 7 }",
            "{ variant = 'y', dataset = 'A', size = '256x256' }",
        ],
    ])
}

/// The scenario with each part's entries turned around by so many places.
fn scenario(Parts(parts): &Parts, turns: [usize; 6]) -> String {
    let [head, variants, datasets, axes, excluded, included] = std::array::from_fn(|part| {
        let mut entries = parts[part].clone();
        let length = entries.len();
        entries.rotate_left(turns[part] % length);
        entries
    });
    let matrix = format!(
        "[matrix]\n{}exclude = [{}]\ninclude = [{}]\n",
        axes.concat(),
        excluded.join(", "),
        included.join(", ")
    );
    ["name = 'test'\n".to_owned(), head.concat(), variants.concat(), datasets.concat(), matrix].concat()
}

fn planned(text: &str) -> Plan {
    let loaded = load_text("test.toml", text, &[]).unwrap_or_else(|broken| panic!("{}\n{text}", broken.render(false)));
    let data = workload::load(&loaded.scenario, &Sources::default()).unwrap();
    let input = PlanInput {
        scenario: &loaded.scenario,
        data: &data,
        hosting: SIMULATED,
        only: &[],
        repeats: None,
        estimate: None,
    };
    plan::plan(&input).unwrap_or_else(|problems| panic!("{}\n{text}", loaded.render(&problems, false)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_tables_and_entries_changes_no_run(
        head in Just(parts().0[0].clone()).prop_shuffle(),
        variants in Just(parts().0[1].clone()).prop_shuffle(),
        datasets in Just(parts().0[2].clone()).prop_shuffle(),
        axes in Just(parts().0[3].clone()).prop_shuffle(),
        excluded in Just(parts().0[4].clone()).prop_shuffle(),
        included in Just(parts().0[5].clone()).prop_shuffle(),
    ) {
        let sorted = |text: &str| {
            let mut runs = planned(text).runs;
            runs.sort_by(|a, b| a.id.cmp(&b.id));
            runs
        };
        let shuffled = Parts([head, variants, datasets, axes, excluded, included]);
        let usual = sorted(&scenario(&parts(), [0; 6]));
        prop_assert!(usual.len() > 20, "{} runs", usual.len());
        prop_assert_eq!(sorted(&scenario(&shuffled, [0; 6])), usual);
    }

    #[test]
    fn a_scenario_has_one_plan(turns in prop::array::uniform6(0_usize..5)) {
        let text = scenario(&parts(), turns);
        let (one, other) = (planned(&text), planned(&text));
        prop_assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&other).unwrap());
        check_ids(&one);
    }

    #[test]
    fn whatever_things_are_called_ids_are_unique_and_safe_or_the_name_is_refused(
        variants in prop::collection::vec("[aAb./_ é-]{1,4}|\\PC{1,4}", 1..4),
        datasets in prop::collection::vec("[aAb./_ é-]{1,4}|\\PC{1,4}", 1..4),
    ) {
        let quoted = |name: &str| serde_json::Value::from(name).to_string();
        let mut text = "name = 'test'\nmodel = { id = 'm', task = 't2i' }\nendpoint = { url = 'http://localhost:1' }\n".to_owned();
        for name in &variants {
            write!(text, "[[variants]]\nname = {}\n", quoted(name)).unwrap();
        }
        for name in &datasets {
            write!(text, "[datasets.{}]\nprofiles = [{{ width = 64, height = 64 }}]\n", quoted(name)).unwrap();
        }
        let Ok(loaded) = load_text("test.toml", &text, &[]) else { return Ok(()) };
        let data = workload::load(&loaded.scenario, &Sources::default()).unwrap();
        let scenario = &loaded.scenario;
        let input = PlanInput { scenario, data: &data, hosting: SIMULATED, only: &[], repeats: Some(2), estimate: None };
        match plan::plan(&input) {
            Ok(plan) => check_ids(&plan),
            Err(problems) => prop_assert!(loaded.render(&problems, false).starts_with("error: ")),
        }
    }
}
