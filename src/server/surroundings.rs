//! The environment of a started server: the tool's own, without the variables that hold its keys, and
//! with what `[server].env` adds. A value written `${NAME}` is the tool's own variable of that name,
//! taken when the server starts, so that a key is handed on without standing in any file.

use indexmap::IndexMap;

/// A variable that a server is to get does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`server.env.{name}` is the environment variable `{variable}`, which is not set")]
pub struct Unset {
    /// The server's variable.
    pub name: String,
    /// The tool's.
    pub variable: String,
}

/// The variable that a value stands for, when it is written `${NAME}`.
pub fn referred(value: &str) -> Option<&str> {
    let name = value.strip_prefix("${")?.strip_suffix('}')?;
    (!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
}

/// What is added to the environment, and the values in it that no file may show.
pub fn surroundings(
    env: &IndexMap<String, String>,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<(IndexMap<String, String>, Vec<String>), Unset> {
    let mut added = IndexMap::new();
    let mut hidden = Vec::new();
    for (name, value) in env {
        let value = match referred(value) {
            None => value.clone(),
            Some(variable) => {
                let unset = || Unset { name: name.clone(), variable: variable.to_owned() };
                let value = lookup(variable).ok_or_else(unset)?;
                hidden.push(value.trim().to_owned());
                value
            }
        };
        added.insert(name.clone(), value);
    }
    Ok((added, hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(env: &[(&str, &str)]) -> Result<(IndexMap<String, String>, Vec<String>), Unset> {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        surroundings(&env, |name| (name == "KEY").then(|| "sk-1 ".to_owned()))
    }

    #[test]
    fn a_variable_is_handed_on_by_its_name() {
        let (env, hidden) = made(&[("VLLM_API_KEY", "${KEY}"), ("A", "$KEY ${not one}")]).unwrap();
        assert_eq!((env["VLLM_API_KEY"].as_str(), env["A"].as_str()), ("sk-1 ", "$KEY ${not one}"));
        assert_eq!(hidden, ["sk-1"]);
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let error = made(&[("VLLM_API_KEY", "${ABSENT}")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`server.env.VLLM_API_KEY` is the environment variable `ABSENT`, which is not set"
        );
    }
}
