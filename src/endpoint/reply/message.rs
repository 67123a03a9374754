//! The server's own words about an error, whatever shape they come in.

use serde_json::Value;

use crate::endpoint::types::Reply;

/// Longest message kept, in characters.
const MAX_MESSAGE: usize = 500;
/// Longest excerpt of a text that stands inside a message of ours.
const MAX_EXCERPT: usize = 200;

/// The server's message in an error reply: `{"error":{"message":…}}`, `{"error":"…"}`,
/// `{"detail":"…"}` or a list of `{loc, msg}`, `{"message":"…"}`, else the body as text. Never empty,
/// one line, at most 500 characters.
pub fn server_message(status: u16, body: &[u8]) -> String {
    let told = match serde_json::from_slice::<Value>(body) {
        Ok(value) => error_text(&value).unwrap_or_else(|| value.to_string()),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    let line = one_line(&told, MAX_MESSAGE);
    if matches!(line.as_str(), "" | "{}" | "[]" | "null" | "\"\"") {
        let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        return format!(
            "the server answered {status} {}without a message",
            reason.map_or(String::new(), |r| r.to_owned() + " ")
        );
    }
    line
}

/// The message, with the wait that the reply asks for, if any.
pub(crate) fn with_wait(message: String, reply: &Reply) -> String {
    match reply.headers.get("retry-after") {
        Some(wait) => format!("{message} (retry-after: {})", one_line(wait, 40)),
        None => message,
    }
}

/// What a JSON body says about an error; `None` when it says nothing.
pub(crate) fn error_text(body: &Value) -> Option<String> {
    let error = body.get("error").and_then(|error| match error {
        Value::Object(fields) => match fields.get("message").or_else(|| fields.get("detail")) {
            Some(Value::String(message)) if !message.trim().is_empty() => Some(message.clone()),
            _ => (!fields.is_empty()).then(|| error.to_string()),
        },
        other => plain(other),
    });
    error.or_else(|| body.get("detail").and_then(detail)).or_else(|| body.get("message").and_then(plain))
}

/// The text on one line, without control characters, at most `longest` characters.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > longest * 4 {
            break;
        }
    }
    match line.char_indices().nth(longest) {
        None => line,
        Some(_) => line.chars().take(longest.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A short piece of a text for a message of ours.
pub(crate) fn excerpt(text: &str) -> String {
    one_line(text, MAX_EXCERPT)
}

fn detail(detail: &Value) -> Option<String> {
    let Value::Array(problems) = detail else { return plain(detail) };
    let lines: Vec<String> = problems.iter().filter_map(problem).collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// One entry of a validation error: `body.size: must be …`.
fn problem(problem: &Value) -> Option<String> {
    let Some(message) = problem.get("msg").and_then(Value::as_str) else { return plain(problem) };
    let place: Vec<String> =
        problem.get("loc").and_then(Value::as_array).into_iter().flatten().filter_map(plain).collect();
    Some(if place.is_empty() { message.to_owned() } else { format!("{}: {message}", place.join(".")) })
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        other => Some(other.to_string()),
    }
}
