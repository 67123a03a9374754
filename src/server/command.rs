//! The words of a server's command.

use std::io;
use std::net::TcpListener;

use minijinja::{Environment, ErrorKind, UndefinedBehavior, context};

use super::surroundings::referred;
use crate::catalog::limits;
use crate::plan::{ServerPlan, VariantPlan, serve_flags};

/// Characters of a word that a message shows.
const LONGEST_EXCERPT: usize = 200;

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
    templates.set_fuel(Some(limits::TEMPLATE_STEPS));
    let names = context! {
        model => words.model, host => words.host, port => words.port,
        variant => &variant.name, gpus => variant.gpus,
    };
    let mut command = Vec::with_capacity(server.command.len());
    for word in &server.command {
        let wrong = |message: String| CommandError::Word { word: excerpt(word), message };
        if word.len() > limits::WORD_BYTES || holds_statements(word) {
            return Err(wrong(limits_of_words()));
        }
        let filled = templates.render_str(word, &names).map_err(|error| match error.kind() {
            ErrorKind::OutOfFuel => wrong(limits_of_words()),
            _ => wrong(error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)),
        })?;
        if filled.len() > limits::WORD_BYTES || filled.contains('\0') {
            return Err(wrong(limits_of_words()));
        }
        command.push(filled);
    }
    if command.is_empty() {
        return Err(CommandError::Empty);
    }
    command.extend(serve_flags(variant));
    Ok(command)
}

/// Statements that keep a value or repeat one: with them a short word could grow without bound, and no
/// word of a command needs them.
fn holds_statements(word: &str) -> bool {
    word.split("{%").skip(1).any(|statement| {
        let name = statement.trim_start_matches(['-', '+']).trim_start();
        !["if", "elif", "else", "endif"].iter().any(|known| {
            name.strip_prefix(known).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    })
}

fn limits_of_words() -> String {
    let (bytes, steps) = (limits::WORD_BYTES >> 10, limits::TEMPLATE_STEPS);
    format!(
        "a word may have expressions and `if`, no other statement and no NUL; {bytes} KiB (limit `word_bytes`); \
         {steps} steps (limit `template_steps`)"
    )
}

/// The beginning of a word, for a message.
fn excerpt(word: &str) -> String {
    let short: String = word.chars().take(LONGEST_EXCERPT).collect();
    if short.len() < word.len() { format!("{short}…") } else { short }
}

/// A port that was free a moment ago.
pub fn free_port(host: &str) -> io::Result<u16> {
    Ok(TcpListener::bind((host, 0))?.local_addr()?.port())
}

/// The command as a line for a POSIX shell, with the environment in front.
pub fn shell_line<'a>(env: impl IntoIterator<Item = (&'a String, &'a String)>, words: &[String]) -> String {
    // a variable that is handed on by its name is written so that the shell fills it in
    let shown = |value: &str| referred(value).map_or_else(|| quoted(value), |name| format!("\"${{{name}}}\""));
    let settings = env.into_iter().map(|(name, value)| format!("{name}={}", shown(value)));
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
        let handed_on = indexmap::IndexMap::from([("A".to_owned(), "${KEY}".to_owned())]);
        assert_eq!(shell_line(&handed_on, &["x".to_owned()]), "A=\"${KEY}\" x");
        assert_eq!(shell_line(&env, &words), r#"A='x y' vllm serve 'it'\''s' '' '{"a":1}' --port=1"#);
    }

    #[test]
    fn statements_other_than_conditions_are_found() {
        for plain in
            ["{{ port }}", "{% if gpus > 1 %}a{% elif gpus %}b{%- else -%}c{% endif %}", "100%", "{%if x%}{%endif%}"]
        {
            assert!(!holds_statements(plain), "{plain}");
        }
        for bad in ["{% set a = 1 %}", "{%- for x in range(9) %}{% endfor %}", "{% macro f() %}", "{% ifx %}", "{%"] {
            assert!(holds_statements(bad), "{bad}");
        }
    }

    #[test]
    fn a_free_port_can_be_bound() {
        let port = free_port("127.0.0.1").unwrap();
        assert!(TcpListener::bind(("127.0.0.1", port)).is_ok());
    }
}
