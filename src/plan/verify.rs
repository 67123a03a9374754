//! What a variant's server must show before it is measured: the checks of `[server]` and of the
//! variant, with their templates filled in and everything about them that can be wrong found.

use minijinja::value::Serde;
use minijinja::{Environment, Output, State, UndefinedBehavior, context};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::build::Hosting;
use super::types::VariantPlan;
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::{ServerMode, Verify};

/// The model id that leaves it to the server.
const AUTO_MODEL: &str = "auto";

/// One check of a server, ready to be carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A line of its log matches this regular expression.
    Log(String),
    /// Its answer at a path is what it should be.
    Answer {
        /// Path to ask.
        path: String,
        /// JSON pointer into the answer; empty for the whole of it.
        json: String,
        /// What must stand there.
        wanted: Wanted,
    },
}

/// What an answer must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// This value; numbers are equal by what they are worth.
    Equals(Value),
    /// A text that this regular expression matches.
    Matches(String),
}

/// What templates may name, and whether there is a log to look into.
struct Subject<'a> {
    /// The model's id; `None` when the server has to be asked for it.
    model: Option<&'a str>,
    variant: &'a VariantPlan,
    has_log: bool,
}

/// The checks of a variant that stands at a place: those of `[server]`, then its own. All of them
/// must make sense; under a hosting that ignores `[server]` its checks are left out and no log is
/// looked into, and a simulator stands in for the server without any.
pub(super) fn of_variant(
    scenario: &Scenario,
    hosting: Hosting,
    (variant, at): (&VariantPlan, &KeyPath),
    own: &[Verify],
    problems: &mut Vec<Problem>,
) -> Vec<Check> {
    let server = scenario.server.as_ref();
    let subject = Subject {
        model: scenario.model.id.as_deref().filter(|id| *id != AUTO_MODEL),
        variant,
        has_log: server.is_some_and(|server| server.mode != Some(ServerMode::Manual)),
    };
    let of_server = server.map(|server| server.verify.as_slice()).unwrap_or_default();
    let of_server = checks(of_server, &KeyPath::from("server"), &subject, problems);
    let own = checks(own, at, &subject, problems);
    match hosting {
        Hosting::Launched => of_server.into_iter().chain(own).collect(),
        Hosting::Given => own.into_iter().filter(|check| !matches!(check, Check::Log(_))).collect(),
        Hosting::Simulated { .. } => Vec::new(),
    }
}

/// The checks that are written at a place.
fn checks(written: &[Verify], at: &KeyPath, subject: &Subject<'_>, problems: &mut Vec<Problem>) -> Vec<Check> {
    let place = |number: usize| at.key("verify").index(number);
    let resolved = written.iter().enumerate().map(|(number, verify)| (place(number), verify));
    resolved.filter_map(|(at, verify)| check(verify, &at, subject, problems)).collect()
}

fn check(verify: &Verify, at: &KeyPath, subject: &Subject<'_>, problems: &mut Vec<Problem>) -> Option<Check> {
    let filled = Filled { at, subject };
    let found = match (&verify.log, &verify.path) {
        (Some(log), None) => filled.log(log, verify),
        (None, Some(path)) => filled.answer(path, verify),
        (Some(_), Some(_)) => {
            Err(Problem::key(at.key("path"), "a check looks into the log or asks a path, not both")
                .hint("make two checks of it"))
        }
        (None, None) => Err(Problem::value(at.clone(), "a check needs `log` or `path`")
            .hint("like `{ log = \"max_num_seqs=8\" }` or `{ path = \"/v1/models\", json = \"/data/0/id\", equals = \"{{ model }}\" }`")),
    };
    found.map_err(|problem| problems.push(problem)).ok()
}

/// A check at its place, with what its templates may name.
struct Filled<'a> {
    at: &'a KeyPath,
    subject: &'a Subject<'a>,
}

impl Filled<'_> {
    fn log(&self, log: &str, verify: &Verify) -> Result<Check, Problem> {
        let others = [
            ("json", verify.json.is_some()),
            ("equals", verify.equals.is_some()),
            ("matches", verify.matches.is_some()),
        ];
        if let Some((key, _)) = others.into_iter().find(|(_, given)| *given) {
            return Err(Problem::key(self.at.key(key), format!("`{key}` belongs to `path`, not to `log`"))
                .hint("`log` is itself the regular expression that a line must match"));
        }
        if !self.subject.has_log {
            return Err(Problem::key(self.at.key("log"), "only a server that omni-bench starts has a log it can read")
                .hint("ask a `path` instead"));
        }
        Ok(Check::Log(self.pattern("log", log)?))
    }

    fn answer(&self, path: &str, verify: &Verify) -> Result<Check, Problem> {
        let path = self.text("path", path)?;
        if !path.starts_with('/') {
            let message = format!("`{path}` is not a path");
            return Err(Problem::value(self.at.key("path"), message).hint("write `/v1/models`"));
        }
        let json = verify.json.as_deref().map(|json| self.text("json", json)).transpose()?.unwrap_or_default();
        if let Some(why) = pointer_fault(&json) {
            return Err(Problem::value(self.at.key("json"), format!("`{json}` is not a JSON pointer: {why}"))
                .hint("write `/data/0/id`"));
        }
        let wanted = match (&verify.equals, &verify.matches) {
            (Some(value), None) => Wanted::Equals(self.value(value)?),
            (None, Some(pattern)) => Wanted::Matches(self.pattern("matches", pattern)?),
            (Some(_), Some(_)) => {
                return Err(Problem::key(self.at.key("matches"), "a check has `equals` or `matches`, not both"));
            }
            (None, None) => {
                return Err(Problem::value(self.at.clone(), "what the answer should be is missing")
                    .hint("give `equals = …` or `matches = \"regex\"`"));
            }
        };
        Ok(Check::Answer { path, json, wanted })
    }

    fn text(&self, key: &str, template: &str) -> Result<String, Problem> {
        self.render(&Environment::new(), key, template)
    }

    /// A regular expression; what is filled in stands for itself.
    fn pattern(&self, key: &str, template: &str) -> Result<String, Problem> {
        let mut literal = Environment::new();
        literal.set_formatter(escaped);
        let pattern = self.render(&literal, key, template)?;
        match regex::Regex::new(&pattern) {
            Ok(_) => Ok(pattern),
            Err(error) => {
                let message = format!("`{pattern}` is not a regular expression: {}", short(&error));
                Err(Problem::value(self.at.key(key), message))
            }
        }
    }

    /// A text that is one template and nothing else keeps the type of its value.
    fn value(&self, value: &Value) -> Result<Value, Problem> {
        let Value::String(template) = value else { return Ok(value.clone()) };
        let inner = template.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        let Some(alone) = inner.filter(|inner| !inner.contains("{{")) else {
            return Ok(Value::String(self.text("equals", template)?));
        };
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        let found = templates.compile_expression(alone).and_then(|made| made.eval(self.names()));
        let found = found.map_err(|error| self.fault("equals", &error))?;
        if found.is_undefined() {
            return Err(self.unknown("equals", "it names something that is not there"));
        }
        serde_json::to_value(&found).map_err(|error| self.unknown("equals", &error.to_string()))
    }

    fn render(&self, templates: &Environment<'_>, key: &str, template: &str) -> Result<String, Problem> {
        let mut templates = templates.clone();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.render_str(template, self.names()).map_err(|error| self.fault(key, &error))
    }

    fn names(&self) -> minijinja::Value {
        let variant = self.subject.variant;
        let known = context! {
            variant => &variant.name, gpus => variant.gpus,
            parallel => Serde(&variant.parallel),
            serve_args => Serde(&variant.serve_args),
        };
        match self.subject.model {
            Some(model) => context! { model, ..known },
            None => known,
        }
    }

    fn fault(&self, key: &str, error: &minijinja::Error) -> Problem {
        self.unknown(key, error.detail().unwrap_or(&error.kind().to_string()))
    }

    fn unknown(&self, key: &str, why: &str) -> Problem {
        let at = self.at.key(key);
        let variant = &self.subject.variant.name;
        let hint = if self.subject.model.is_none() {
            "a check may use variant, gpus, parallel and serve_args; `model` is not known before the server is asked"
        } else {
            "a check may use model, variant, gpus, parallel and serve_args"
        };
        Problem::value(at, format!("the template cannot be filled in for variant `{variant}`: {why}")).hint(hint)
    }
}

/// Writes a value so that a regular expression takes it as it is.
fn escaped(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &minijinja::Value) -> Result<(), minijinja::Error> {
    out.write_str(&regex::escape(&value.to_string())).map_err(minijinja::Error::from)
}

/// What is wrong with a JSON pointer (RFC 6901).
fn pointer_fault(pointer: &str) -> Option<&'static str> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Some("it begins with `/`");
    }
    let mut tildes = pointer.split('~').skip(1);
    tildes.any(|rest| !rest.starts_with(['0', '1'])).then_some("`~` is written `~0`, and `/` within a key `~1`")
}

/// The last line of the message, which says what is wrong; those before draw a picture.
fn short(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A variant with a layout and serve arguments.
    pub(in crate::plan) fn variant() -> VariantPlan {
        serde_json::from_value(json!({
            "name": "cfg2", "label": "CFG 2", "parallel": { "cfg": 2 }, "gpus": 2, "config_key": "k",
            "serve_args": { "max-num-seqs": 8, "cfg-parallel-size": 2 }, "environment": {},
            "endpoint": {
                "url": null, "api": "chat", "api_key_env": null, "headers": {}, "extra_body": {},
                "ready": { "path": "/health", "timeout": "1s" },
                "timeout": { "connect": "10s", "request": "15m", "job": "15m" },
                "poll": { "first": "50ms", "growth": 0.05, "max": "2s" },
                "stream": false, "sync_video": false, "return_stage_metrics": false, "bot_task": null,
                "validate": "header", "allow_unknown": false, "max_reply": "512MB", "proxy": null, "http2": false,
            },
        }))
        .unwrap()
    }

    fn read(verify: &str, model: Option<&str>, has_log: bool) -> Result<Check, Problem> {
        let verify: Verify = toml::from_str(verify).unwrap();
        let variant = variant();
        let mut problems = Vec::new();
        let subject = Subject { model, variant: &variant, has_log };
        let mut found = checks(&[verify], &"server".into(), &subject, &mut problems);
        found.pop().ok_or_else(|| problems.pop().unwrap())
    }

    fn equals(template: &str) -> Value {
        match read(&format!("path = '/x'\nequals = {template}"), Some("m"), true) {
            Ok(Check::Answer { wanted: Wanted::Equals(value), .. }) => value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn templates_are_filled_in_and_keep_the_type_of_a_value_that_stands_alone() {
        assert_eq!(equals("'{{ serve_args[\"max-num-seqs\"] }}'"), json!(8));
        assert_eq!(equals("'{{ parallel.cfg }}'"), json!(2));
        assert_eq!(equals("'{{ gpus }}{{ variant }}'"), json!("2cfg2"));
        assert_eq!(equals("'{{ model }}'"), json!("m"));
        assert_eq!(equals("[1, { a = 'x' }]"), json!([1, { "a": "x" }]));
    }

    #[test]
    fn what_is_filled_into_a_regular_expression_stands_for_itself() {
        let check =
            read("log = 'model=(\\w+/)?{{ model }}, seqs={{ serve_args[\"max-num-seqs\"] }}$'", Some("Wan2.2"), true);
        assert_eq!(check, Ok(Check::Log(r"model=(\w+/)?Wan2\.2, seqs=8$".into())));
    }

    #[test]
    fn the_whole_answer_is_looked_at_without_a_pointer() {
        let check = read("path = '/version'\nmatches = '0\\.2\\d'", None, false).unwrap();
        let wanted = Wanted::Matches(r"0\.2\d".into());
        assert_eq!(check, Check::Answer { path: "/version".into(), json: String::new(), wanted });
    }

    #[test]
    fn everything_that_can_be_wrong_is_told_at_its_key() {
        for (verify, key, message) in [
            ("", "", "a check needs `log` or `path`"),
            ("json = '/a'", "", "a check needs `log` or `path`"),
            ("log = 'a'\npath = '/x'", ".path", "a check looks into the log or asks a path, not both"),
            ("log = 'a'\nmatches = 'b'", ".matches", "`matches` belongs to `path`, not to `log`"),
            ("log = '('", ".log", "`(` is not a regular expression: unclosed group"),
            ("path = '/x'", "", "what the answer should be is missing"),
            ("path = '/x'\nequals = 1\nmatches = 'b'", ".matches", "a check has `equals` or `matches`, not both"),
            ("path = 'x'\nequals = 1", ".path", "`x` is not a path"),
            ("path = '/x'\njson = 'a'\nequals = 1", ".json", "`a` is not a JSON pointer: it begins with `/`"),
            (
                "path = '/x'\njson = '/a~b'\nequals = 1",
                ".json",
                "`/a~b` is not a JSON pointer: `~` is written `~0`, and `/` within a key `~1`",
            ),
            ("path = '/x'\nmatches = '['", ".matches", "`[` is not a regular expression: unclosed character class"),
        ] {
            let problem = read(verify, Some("m"), true).unwrap_err();
            assert_eq!(problem.path.to_string(), format!("server.verify[0]{key}"), "{verify}");
            assert_eq!(problem.message, message, "{verify}");
        }
    }

    #[test]
    fn templates_that_name_something_unknown_are_refused_with_what_there_is() {
        for (verify, model) in [
            ("path = '/x'\nequals = '{{ modle }}'", Some("m")),
            ("path = '/x'\nequals = '{{ serve_args.absent }}'", Some("m")),
            ("path = '/{{ port }}'\nequals = 1", Some("m")),
            ("log = '{{ model }}'", None),
            ("log = '{{ '", Some("m")),
        ] {
            let problem = read(verify, model, true).unwrap_err();
            assert!(problem.message.starts_with("the template cannot be filled in for variant `cfg2`"), "{problem:?}");
            assert!(problem.hint.unwrap().starts_with("a check may use"));
        }
        assert_eq!(
            read("log = 'a'", None, false).unwrap_err().message,
            "only a server that omni-bench starts has a log it can read"
        );
    }
}
