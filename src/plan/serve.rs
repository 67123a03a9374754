//! A variant's serve arguments: those derived from its parallel layout, then the file's own; checked
//! against each other and rendered as command-line words.

use indexmap::IndexMap;
use serde_json::Value;

use super::types::VariantPlan;
use crate::catalog::{DEGREES, DegreeSpec};
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::model::{ListForm, Parallel, Variant};

/// A layout with the serve arguments that make it.
pub(super) struct Layout {
    /// Degrees, also those that only a serve argument gives.
    pub(super) parallel: Parallel,
    pub(super) serve_args: IndexMap<String, Value>,
    /// Lists that are not written in the usual way.
    pub(super) serve_lists: IndexMap<String, ListForm>,
    pub(super) gpus: u32,
}

/// Derives flags from the degrees that are written (a degree of 1 is written, an `hsdp` of false makes
/// no flag), fills degrees from serve arguments, and multiplies the GPU count.
pub(super) fn layout(variant: &Variant, at: &KeyPath, problems: &mut Vec<Problem>) -> Layout {
    let own = &variant.serve_args;
    let mut parallel = variant.parallel.clone();
    let mut serve_args = IndexMap::new();
    check_names(own, at, problems);
    for spec in DEGREES {
        let written = degree(&parallel, spec.key);
        if written.as_ref().is_some_and(|value| value.as_u64() == Some(0)) {
            let path = at.key("parallel").key(spec.key);
            problems.push(Problem::value(path, "a degree is at least 1").hint("leave it out to switch it off"));
        }
        let mut agreed = written.clone().map(|value| (format!("parallel.{}", spec.key), value));
        for (key, value) in own.iter().filter(|(key, _)| names(spec, key)) {
            let value = number_or_switch(value);
            match &agreed {
                Some((other, known)) if *known != value => {
                    let path = at.key("serve_args").key(key);
                    let message = format!("`{key} = {value}` disagrees with `{other} = {known}`");
                    problems.push(Problem::value(path, message));
                }
                Some(_) => {}
                None => agreed = Some((key.clone(), value)),
            }
        }
        let spelled = own.keys().any(|key| names(spec, key));
        match agreed {
            Some((_, value)) if spelled => set_degree(&mut parallel, spec.key, &value),
            Some((_, value)) if value != Value::Bool(false) => {
                serve_args.insert(spec.flag.to_owned(), value);
            }
            _ => {}
        }
    }
    serve_args.extend(own.iter().map(|(key, value)| (key.clone(), value.clone())));
    let gpus = gpus(variant, &parallel, at, problems);
    Layout { parallel, serve_args, serve_lists: serve_lists(variant, at, problems), gpus }
}

/// Flags stand without dashes in front, and once: a server reads `a_b` and `a-b` as the same flag.
fn check_names(own: &IndexMap<String, Value>, at: &KeyPath, problems: &mut Vec<Problem>) {
    let mut seen: IndexMap<String, &str> = IndexMap::new();
    for key in own.keys() {
        let path = at.key("serve_args").key(key);
        if key.starts_with('-') {
            problems.push(
                Problem::key(path, format!("`{key}` is written with dashes"))
                    .hint(format!("write `{}`", key.trim_start_matches('-'))),
            );
        } else if let Some(other) = seen.insert(key.replace('_', "-"), key) {
            problems.push(
                Problem::key(path, format!("`{key}` and `{other}` are the same flag to a server"))
                    .hint("keep one of them"),
            );
        }
    }
}

/// The forms of lists that differ from the usual one; each must belong to a list.
fn serve_lists(variant: &Variant, at: &KeyPath, problems: &mut Vec<Problem>) -> IndexMap<String, ListForm> {
    let mut lists = IndexMap::new();
    for (key, form) in &variant.serve_lists {
        if variant.serve_args.get(key).is_none_or(|value| !value.is_array()) {
            let path = at.key("serve_lists").key(key);
            problems.push(
                Problem::key(path, format!("`{key}` is no list among `serve_args`"))
                    .hint(format!("write `serve_args.{key} = [ … ]`, or leave this out")),
            );
        } else if *form != ListForm::Repeat {
            lists.insert(key.clone(), *form);
        }
    }
    lists
}

fn gpus(variant: &Variant, parallel: &Parallel, at: &KeyPath, problems: &mut Vec<Problem>) -> u32 {
    let degrees = DEGREES.iter().filter(|spec| spec.multiplies_gpus);
    let product = degrees
        .filter_map(|spec| degree(parallel, spec.key)?.as_u64())
        .try_fold(1_u64, u64::checked_mul)
        .and_then(|product| u32::try_from(product).ok());
    match (variant.gpus, product) {
        (Some(0), _) => {
            problems.push(Problem::value(at.key("gpus"), "a variant uses at least 1 GPU"));
            1
        }
        (Some(gpus), _) | (None, Some(gpus)) => gpus,
        (None, None) => {
            problems.push(Problem::value(at.key("parallel"), "the degrees multiply to more GPUs than there are"));
            1
        }
    }
}

/// Whether a serve argument sets the degree, under any of its spellings.
fn names(spec: &DegreeSpec, key: &str) -> bool {
    let plain = key.trim_start_matches('-').replace('_', "-");
    plain == spec.flag || spec.aliases.contains(&plain.as_str())
}

fn number_or_switch(value: &Value) -> Value {
    match value.as_str() {
        Some(text) => text.parse::<u64>().map_or_else(|_| value.clone(), Value::from),
        None => value.clone(),
    }
}

fn degree(parallel: &Parallel, key: &str) -> Option<Value> {
    match key {
        "hsdp" => parallel.hsdp.map(Value::Bool),
        key => parallel.degree(key).map(Value::from),
    }
}

fn set_degree(parallel: &mut Parallel, key: &str, value: &Value) {
    let slot = match key {
        "cfg" => &mut parallel.cfg,
        "ulysses" => &mut parallel.ulysses,
        "ring" => &mut parallel.ring,
        "tensor" => &mut parallel.tensor,
        "pipeline" => &mut parallel.pipeline,
        "data" => &mut parallel.data,
        "vae_patch" => &mut parallel.vae_patch,
        "text_encoder_tensor" => &mut parallel.text_encoder_tensor,
        "hsdp" => {
            parallel.hsdp = value.as_bool().or(parallel.hsdp);
            return;
        }
        _ => return,
    };
    *slot = value.as_u64().and_then(|value| u32::try_from(value).ok()).or(*slot);
}

/// A variant's serve arguments as command-line words, in their order: true is a bare flag, false and
/// null are left out, a table is compact JSON, text goes as it is, and a list takes the form that
/// `serve_lists` gives it. An empty list makes no word, except as JSON.
pub fn serve_flags(variant: &VariantPlan) -> Vec<String> {
    let mut words = Vec::new();
    for (key, value) in &variant.serve_args {
        let flag = format!("--{}", key.trim_start_matches('-'));
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => words.push(flag),
            Value::Array(items) => {
                let form = variant.serve_lists.get(key).copied().unwrap_or_default();
                words.extend(list(flag, items, form));
            }
            single => words.extend([flag, word(single)]),
        }
    }
    words
}

fn list(flag: String, items: &[Value], form: ListForm) -> Vec<String> {
    let texts = items.iter().map(word);
    match form {
        ListForm::Json => vec![flag, Value::from(items).to_string()],
        ListForm::Repeat => texts.flat_map(|text| [flag.clone(), text]).collect(),
        ListForm::Comma if !items.is_empty() => vec![flag, texts.collect::<Vec<_>>().join(",")],
        ListForm::Words if !items.is_empty() => std::iter::once(flag).chain(texts).collect(),
        ListForm::Comma | ListForm::Words => Vec::new(),
    }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(variant: &str) -> (Layout, Vec<Problem>) {
        let mut problems = Vec::new();
        let variant: Variant = toml::from_str(variant).unwrap();
        (layout(&variant, &"variants[0]".into(), &mut problems), problems)
    }

    fn words(variant: &str) -> Vec<String> {
        let (layout, problems) = made(variant);
        assert_eq!(problems, []);
        let variant = VariantPlan {
            serve_args: layout.serve_args,
            serve_lists: layout.serve_lists,
            ..crate::plan::verify::tests::variant()
        };
        serve_flags(&variant)
    }

    fn flags(variant: &str) -> String {
        words(variant).join(" ")
    }

    #[test]
    fn degrees_that_are_written_become_flags_before_the_files_own() {
        assert_eq!(
            flags(
                "parallel = { cfg = 2, ulysses = 2, vae_patch = 1, hsdp = true }\n[serve_args]\nenforce-eager = true\nmax-num-seqs = 8"
            ),
            "--cfg-parallel-size 2 --ulysses-degree 2 --use-hsdp --vae-patch-parallel-size 1 --enforce-eager --max-num-seqs 8"
        );
        assert_eq!(flags("parallel = { hsdp = false }"), "");
    }

    #[test]
    fn gpus_are_the_product_of_the_degrees_that_use_them() {
        assert_eq!(made("parallel = { cfg = 2, ulysses = 4, vae_patch = 8, hsdp = true }").0.gpus, 8);
        assert_eq!(made("gpus = 3\nparallel = { cfg = 2 }").0.gpus, 3);
        assert_eq!(made("serve_args = { usp = 4, tensor_parallel_size = \"2\" }").0.gpus, 8);
        assert_eq!(made("").0.gpus, 1);
    }

    #[test]
    fn every_value_has_its_spelling_on_the_command_line() {
        let args = r#"
            trust-remote-code = true
            no-guardrails = false
            gpu-memory-utilization = 0.9
            init-timeout = 1200
            seed = -1
            cache-config = { a = 1, b = ["x y"], c = false }
            lora = ["one", 2]
            lora_modules = ["a=b", "c d"]
            task-type = "it's \"t2i\""
            empty = ""
            none = []
        "#;
        assert_eq!(
            words(&format!("[serve_args]\n{args}")),
            [
                "--trust-remote-code",
                "--gpu-memory-utilization",
                "0.9",
                "--init-timeout",
                "1200",
                "--seed",
                "-1",
                "--cache-config",
                r#"{"a":1,"b":["x y"],"c":false}"#,
                "--lora",
                "one",
                "--lora",
                "2",
                "--lora_modules",
                "a=b",
                "--lora_modules",
                "c d",
                "--task-type",
                "it's \"t2i\"",
                "--empty",
                "",
            ]
        );
    }

    #[test]
    fn a_list_is_written_as_the_scenario_says() {
        let with = |form: &str| {
            words(&format!("serve_args = {{ x = ['a', 2, 'c d'], y = 1 }}\nserve_lists = {{ x = '{form}' }}"))
        };
        assert_eq!(with("repeat"), ["--x", "a", "--x", "2", "--x", "c d", "--y", "1"]);
        assert_eq!(with("comma"), ["--x", "a,2,c d", "--y", "1"]);
        assert_eq!(with("words"), ["--x", "a", "2", "c d", "--y", "1"]);
        assert_eq!(with("json"), ["--x", r#"["a",2,"c d"]"#, "--y", "1"]);
        for (form, flags) in [("repeat", ""), ("comma", ""), ("words", ""), ("json", "--x []")] {
            let args = format!("serve_args = {{ x = [] }}\nserve_lists = {{ x = '{form}' }}");
            assert_eq!(words(&args).join(" "), flags, "{form}");
        }
    }

    #[test]
    fn the_form_of_something_that_is_no_list_is_refused() {
        let (_, problems) = made("serve_args = { x = 1 }\nserve_lists = { x = 'comma', y = 'comma' }");
        let told: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.path, p.message)).collect();
        assert_eq!(
            told,
            [
                "variants[0].serve_lists.x: `x` is no list among `serve_args`",
                "variants[0].serve_lists.y: `y` is no list among `serve_args`"
            ]
        );
    }

    #[test]
    fn a_serve_argument_may_repeat_a_degree_but_not_contradict_it() {
        assert_eq!(flags("parallel = { ulysses = 2 }\nserve_args = { usp = 2 }"), "--usp 2");
        let (_, problems) = made("parallel = { ulysses = 2 }\nserve_args = { usp = 4 }");
        assert_eq!(problems[0].path.to_string(), "variants[0].serve_args.usp");
        assert_eq!(problems[0].message, "`usp = 4` disagrees with `parallel.ulysses = 2`");
        let (_, problems) = made("serve_args = { usp = 4, ulysses-degree = 2 }");
        assert_eq!(problems[0].message, "`ulysses-degree = 2` disagrees with `usp = 4`");
        let (_, problems) = made("parallel = { hsdp = true }\nserve_args = { use-hsdp = false }");
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn impossible_layouts_are_refused() {
        for (variant, message) in [
            ("gpus = 0", "a variant uses at least 1 GPU"),
            ("parallel = { cfg = 0 }", "a degree is at least 1"),
            ("serve_args = { --usp = 2 }", "`--usp` is written with dashes"),
            (
                "serve_args = { deploy-config = 'a', deploy_config = 'b' }",
                "`deploy_config` and `deploy-config` are the same flag to a server",
            ),
            ("parallel = { cfg = 100000, ring = 100000 }", "the degrees multiply to more GPUs than there are"),
        ] {
            let (_, problems) = made(variant);
            assert_eq!(problems[0].message, message, "{variant}");
        }
    }
}
