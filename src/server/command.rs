//! The words of a server's command.

use std::io;
use std::net::TcpListener;

use minijinja::{Environment, UndefinedBehavior, context};

use crate::plan::{ServerPlan, VariantPlan, serve_flags};

/// What templates in `server.command` may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words<'a> {
    /// Model id.
    pub model: &'a str,
    /// Host to listen on.
    pub host: &'a str,
    /// Port to listen on.
    pub port: u16,
}

/// Why a command cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// A word is not a template, or names something that is not there.
    #[error("`server.command` has the word `{word}`: {message}; a word may use model, host, port, variant and gpus")]
    Word {
        /// The word as written.
        word: String,
        /// What is wrong.
        message: String,
    },
    /// There is no word.
    #[error("`server.command` is empty")]
    Empty,
}

/// The command of a variant's server: the plan's words filled in, then the flags of the variant.
pub fn server_words(
    server: &ServerPlan,
    variant: &VariantPlan,
    words: &Words<'_>,
) -> Result<Vec<String>, CommandError> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    let names = context! {
        model => words.model, host => words.host, port => words.port,
        variant => &variant.name, gpus => variant.gpus,
    };
    let mut command = Vec::with_capacity(server.command.len());
    for word in &server.command {
        let filled = templates.render_str(word, &names).map_err(|error| CommandError::Word {
            word: word.clone(),
            message: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
        })?;
        command.push(filled);
    }
    if command.is_empty() {
        return Err(CommandError::Empty);
    }
    command.extend(serve_flags(variant));
    Ok(command)
}

/// A port that was free a moment ago.
pub fn free_port(host: &str) -> io::Result<u16> {
    Ok(TcpListener::bind((host, 0))?.local_addr()?.port())
}

/// The command as a line for a POSIX shell, with the environment in front.
pub fn shell_line<'a>(env: impl IntoIterator<Item = (&'a String, &'a String)>, words: &[String]) -> String {
    let settings = env.into_iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    settings.chain(words.iter().map(|word| quoted(word))).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_special_characters_are_quoted_for_the_shell() {
        let env = indexmap::IndexMap::from([("A".to_owned(), "x y".to_owned())]);
        let words = ["vllm", "serve", "it's", "", "{\"a\":1}", "--port=1"].map(str::to_owned);
        assert_eq!(shell_line(&env, &words), r#"A='x y' vllm serve 'it'\''s' '' '{"a":1}' --port=1"#);
    }

    #[test]
    fn a_free_port_can_be_bound() {
        let port = free_port("127.0.0.1").unwrap();
        assert!(TcpListener::bind(("127.0.0.1", port)).is_ok());
    }
}
