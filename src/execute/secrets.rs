//! API key and header values: taken from the environment, sent, and never shown. The types have no
//! Debug, Display or Serialize, and texts that leave this module's neighbours pass [`Secrets::redact`].

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::plan::EndpointPlan;

/// A value that must not appear in files, messages or logs.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a value into custody.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }
}

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
    hidden: Vec<Secret>,
}

impl Secrets {
    /// What the endpoint asks for, from the environment that `lookup` reads. An unset key variable
    /// sends no key (many servers need none); an unset header variable is an error.
    pub fn resolve(endpoint: &EndpointPlan, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, SecretError> {
        let mut secrets = Self::default();
        if let Some(variable) = &endpoint.api_key_env
            && let Some(key) = lookup(variable).filter(|key| !key.trim().is_empty())
        {
            let key = key.trim();
            secrets.add(AUTHORIZATION, &format!("Bearer {key}"), variable)?;
            secrets.hidden.push(Secret::new(key));
        }
        for (header, variable) in &endpoint.headers {
            let unset = || SecretError::Unset { header: header.clone(), variable: variable.clone() };
            let value = lookup(variable).ok_or_else(unset)?;
            let name = header.parse::<HeaderName>().map_err(|_| SecretError::Name(header.clone()))?;
            secrets.add(name, value.trim(), variable)?;
            secrets.hidden.push(Secret::new(value.trim()));
        }
        // longest first, so that a value that contains another leaves no rest of itself
        secrets.hidden.sort_by_key(|secret| std::cmp::Reverse(secret.0.len()));
        Ok(secrets)
    }

    /// The headers, marked sensitive.
    pub fn headers(&self) -> HeaderMap {
        self.headers.iter().cloned().collect()
    }

    /// The text with every secret value replaced.
    pub fn redact(&self, text: &str) -> String {
        let kept = text.to_owned();
        // a value of one or two characters is no secret, and replacing it would tear every text
        let worth = self.hidden.iter().filter(|secret| secret.0.len() > 2);
        worth.fold(
            kept,
            |text, secret| if text.contains(&secret.0) { text.replace(&secret.0, "[hidden]") } else { text },
        )
    }

    fn add(&mut self, name: HeaderName, value: &str, variable: &str) -> Result<(), SecretError> {
        let mut value = HeaderValue::from_str(value).map_err(|_| SecretError::Value(variable.to_owned()))?;
        value.set_sensitive(true);
        self.headers.push((name, value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(values: &[&str]) -> Secrets {
        let hidden = values.iter().map(|value| Secret::new(*value)).collect();
        Secrets { headers: Vec::new(), hidden }
    }

    #[test]
    fn a_value_is_hidden_wherever_it_stands() {
        let secrets = held(&["sk-secret"]);
        assert_eq!(secrets.redact("key sk-secret, again sk-secret."), "key [hidden], again [hidden].");
        assert_eq!(secrets.redact("nothing to hide"), "nothing to hide");
    }

    #[test]
    fn a_value_too_short_to_be_secret_does_not_tear_texts() {
        assert_eq!(held(&["e", ""]).redact("the message"), "the message");
    }

    #[test]
    fn headers_are_marked_sensitive() {
        let mut secrets = Secrets::default();
        secrets.add(AUTHORIZATION, "Bearer sk-secret", "KEY").unwrap();
        assert!(!format!("{:?}", secrets.headers()).contains("sk-secret"));
        assert_eq!(secrets.add(AUTHORIZATION, "a\nb", "KEY"), Err(SecretError::Value("KEY".into())));
    }
}
