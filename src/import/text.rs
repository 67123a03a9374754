//! A scenario as the text that a person would write: in the order of the documentation, without empty
//! tables, short tables on one line, comments above what they belong to.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toml::Value as Toml;

use crate::scenario::Scenario;

/// Most entries of a table on one line.
const SHORT: usize = 4;
/// Tables whose content is the user's, so that empty values in them mean something.
const FREE: [&str; 7] = ["serve_args", "extra_body", "defaults", "override", "environment", "env", "profiles"];

/// Comments by the place they stand above: a table like `endpoint`, an entry like `variants[0]`, or
/// nothing for the top of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Comments(BTreeMap<String, Vec<String>>);

impl Comments {
    pub(super) fn add(&mut self, place: &str, text: String) {
        self.0.entry(place.to_owned()).or_default().push(text);
    }

    fn write(&self, place: &str, out: &mut String) {
        for line in self.0.get(place).into_iter().flatten().flat_map(|text| text.lines()) {
            *out += "# ";
            *out += line;
            out.push('\n');
        }
    }
}

/// The text of a scenario, or why it has none.
pub(super) fn scenario_text(scenario: &Scenario, comments: &Comments) -> Result<String, String> {
    let value = serde_json::to_value(scenario).map_err(|error| error.to_string())?;
    let Value::Object(mut root) = value else { return Err("a scenario is a table".to_owned()) };
    prune(&mut root);
    let mut out = String::new();
    comments.write("", &mut out);
    let (tables, plain): (Vec<_>, Vec<_>) = root.iter().partition(|(_, value)| is_long(value) || value.is_object());
    for (key, value) in plain {
        entry(key, value, &mut out)?;
    }
    for (key, value) in tables {
        match value {
            Value::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    out.push('\n');
                    comments.write(&format!("{key}[{number}]"), &mut out);
                    out.extend(["[[", key, "]]\n"]);
                    table(key, item, &mut out)?;
                }
            }
            Value::Object(datasets) if key == "datasets" => {
                for (name, dataset) in datasets {
                    let path = format!("{key}.{}", bare(name));
                    out.extend(["\n[", &path, "]\n"]);
                    table(&path, dataset, &mut out)?;
                }
            }
            _ => {
                out.push('\n');
                comments.write(key, &mut out);
                out.extend(["[", key, "]\n"]);
                table(key, value, &mut out)?;
            }
        }
    }
    Ok(out)
}

/// Entries of a table, then the tables in it that are too long for a line.
fn table(path: &str, value: &Value, out: &mut String) -> Result<(), String> {
    let entries = value.as_object().into_iter().flatten();
    let (long, short): (Vec<_>, Vec<_>) = entries.partition(|(_, value)| value.is_object() && is_long(value));
    for (key, value) in short {
        entry(key, value, out)?;
    }
    for (key, value) in long {
        let path = format!("{path}.{}", bare(key));
        out.extend(["[", &path, "]\n"]);
        table(&path, value, out)?;
    }
    Ok(())
}

fn entry(key: &str, value: &Value, out: &mut String) -> Result<(), String> {
    *out += &bare(key);
    match value {
        Value::Array(items) if items.iter().any(Value::is_object) && items.len() > 1 => {
            *out += " = [\n";
            for item in items {
                out.extend(["  ", &toml(item)?.to_string(), ",\n"]);
            }
            *out += "]\n";
        }
        value => out.extend([" = ", &toml(value)?.to_string(), "\n"]),
    }
    Ok(())
}

/// Whether a value needs a header of its own: a list of variants, a table that is large or nested.
fn is_long(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.len() > SHORT || map.values().any(Value::is_object),
        Value::Array(items) => items.iter().any(|item| item.get("name").is_some()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A key, quoted when it must be.
fn bare(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if plain { key.to_owned() } else { Toml::String(key.to_owned()).to_string() }
}

fn toml(value: &Value) -> Result<Toml, String> {
    Ok(match value {
        // there is no null in what was pruned, and no null in TOML
        Value::Null => return Err("TOML has no null".to_owned()),
        Value::Bool(value) => Toml::Boolean(*value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Toml::Integer(number),
            (None, Some(float)) if number.is_f64() => Toml::Float(float),
            _ => return Err(format!("the number {number} is too large for TOML")),
        },
        Value::String(text) => Toml::String(text.clone()),
        Value::Array(items) => Toml::Array(items.iter().map(toml).collect::<Result<_, _>>()?),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| Ok((key.clone(), toml(value)?)));
            Toml::Table(entries.collect::<Result<_, String>>()?)
        }
    })
}

/// Leaves out what the scenario does not say.
fn prune(table: &mut Map<String, Value>) {
    table.retain(|key, value| {
        if !FREE.contains(&key.as_str()) {
            match value {
                Value::Object(inner) => prune(inner),
                Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).for_each(prune),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        match value {
            Value::Null => false,
            Value::Object(inner) => !inner.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_reads_back_as_the_scenario_it_was_made_of() {
        let text = r#"
            name = "a"
            [model]
            id = "m"
            task = "t2i"
            [endpoint]
            path = "/v1/images/generations"
            extra_body = { "odd.key" = "line\n\"two\"", empty = {}, list = [1, 2.0, "x"] }
            [[variants]]
            name = "v"
            parallel = { cfg = 2 }
            [variants.serve_args]
            a = 1
            b = true
            c = { d = { e = [] } }
            [datasets."0.5x"]
            profiles = [{ width = 512, height = 512, weight = 0.5 }, { prompt = "é" }]
            [matrix]
            max_concurrency = [1, 2]
            requests = [1, 2]
            zip = [["max_concurrency", "requests"]]
        "#;
        let scenario: Scenario = toml::from_str(text).unwrap();
        let mut comments = Comments::default();
        comments.add("", "two\nlines".into());
        comments.add("variants[0]", "the variant".into());
        let written = scenario_text(&scenario, &comments).unwrap();
        assert_eq!(toml::from_str::<Scenario>(&written).unwrap(), scenario, "{written}");
        assert!(written.starts_with("# two\n# lines\nname = \"a\"\n"), "{written}");
        assert!(written.contains("\n# the variant\n[[variants]]\nname = \"v\"\nparallel = { cfg = 2 }\n"), "{written}");
        assert!(!written.contains("tags") && !written.contains("slurm"), "{written}");
    }

    #[test]
    fn what_toml_cannot_hold_is_told() {
        let mut scenario = Scenario::default();
        scenario.environment.insert("n".into(), u64::MAX.into());
        assert!(scenario_text(&scenario, &Comments::default()).unwrap_err().contains("too large"));
    }
}
