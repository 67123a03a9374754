//! API key and header values: taken from the environment, sent, and never shown. The types have no
//! Debug, Display or Serialize, and texts that leave this module's neighbours pass its [`Redactor`].

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::plan::EndpointPlan;
use crate::record::Redactor;

/// What stands behind a header's first word is hidden by itself from this length on.
const SHORTEST_CREDENTIAL: usize = 6;

/// Why a secret cannot be sent; names the variable, never the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// A header is to come from a variable that is not set.
    #[error("header `{header}` comes from environment variable `{variable}`, which is not set")]
    Unset {
        /// Header name.
        header: String,
        /// Variable name.
        variable: String,
    },
    /// A header's name is not one.
    #[error("`{0}` is not a header name")]
    Name(String),
    /// A variable's content cannot be a header value.
    #[error("environment variable `{0}` holds characters that a header cannot carry")]
    Value(String),
}

/// The secret headers of every request to one endpoint.
#[derive(Clone, Default)]
pub struct Secrets {
    headers: Vec<(HeaderName, HeaderValue)>,
    redactor: Redactor,
    variables: Vec<String>,
}

impl Secrets {
    /// What the endpoint asks for, from the environment that `lookup` reads. An unset key variable
    /// sends no key (many servers need none); an unset header variable is an error.
    pub fn resolve(endpoint: &EndpointPlan, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, SecretError> {
        let mut secrets = Self::default();
        let mut hidden = Vec::new();
        if let Some(variable) = &endpoint.api_key_env
            && let Some(key) = lookup(variable).filter(|key| !key.trim().is_empty())
        {
            let key = key.trim();
            secrets.add(AUTHORIZATION, &format!("Bearer {key}"), variable)?;
            hidden.push(key.to_owned());
        }
        for (header, variable) in &endpoint.headers {
            let unset = || SecretError::Unset { header: header.clone(), variable: variable.clone() };
            let value = lookup(variable).ok_or_else(unset)?;
            let name = header.parse::<HeaderName>().map_err(|_| SecretError::Name(header.clone()))?;
            secrets.add(name, value.trim(), variable)?;
            hidden.extend(pieces(value.trim()).map(str::to_owned));
        }
        secrets.redactor = Redactor::new(hidden);
        secrets.variables = endpoint.api_key_env.iter().chain(endpoint.headers.values()).cloned().collect();
        Ok(secrets)
    }

    /// The headers, marked sensitive.
    pub fn headers(&self) -> HeaderMap {
        self.headers.iter().cloned().collect()
    }

    /// What hides their values.
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The environment variables that the values come from.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// The text with every secret value replaced.
    pub fn redact(&self, text: &str) -> String {
        self.redactor.text(text)
    }

    fn add(&mut self, name: HeaderName, value: &str, variable: &str) -> Result<(), SecretError> {
        let mut value = HeaderValue::from_str(value).map_err(|_| SecretError::Value(variable.to_owned()))?;
        value.set_sensitive(true);
        self.headers.push((name, value));
        Ok(())
    }
}

/// A header's value, and what stands behind its scheme (`Bearer …`), which may be told alone.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let credential = value.split_once(' ').map(|(_, credential)| credential.trim());
    [Some(value), credential.filter(|credential| credential.len() >= SHORTEST_CREDENTIAL)].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_marked_sensitive() {
        let mut secrets = Secrets::default();
        secrets.add(AUTHORIZATION, "Bearer sk-secret", "KEY").unwrap();
        assert!(!format!("{:?}", secrets.headers()).contains("sk-secret"));
        assert_eq!(secrets.add(AUTHORIZATION, "a\nb", "KEY"), Err(SecretError::Value("KEY".into())));
    }

    #[test]
    fn the_credential_of_a_header_is_hidden_without_its_scheme_too() {
        assert_eq!(pieces("Bearer sk-secret").collect::<Vec<_>>(), ["Bearer sk-secret", "sk-secret"]);
        assert_eq!(pieces("a b").collect::<Vec<_>>(), ["a b"]);
        assert_eq!(pieces("sk-secret").collect::<Vec<_>>(), ["sk-secret"]);
    }
}
