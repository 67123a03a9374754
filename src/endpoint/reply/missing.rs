//! Why a well-formed reply holds no picture, in words that tell such replies apart.

use serde_json::Value;

use super::gallery::Place;
use super::message::{error_text, excerpt};

/// The reason. `root` is a reply in which no picture text was found at all.
pub(crate) fn reason(place: Place, root: &Value) -> String {
    let Value::Object(_) = root else { return "the reply is not a json object".to_owned() };
    let (key, item) = match place {
        Place::Data => ("data", data_item as fn(&Value) -> String),
        Place::Message => ("choices", choice as fn(&Value) -> String),
    };
    match root.get(key) {
        Some(Value::Array(items)) => match items.first() {
            Some(first) => item(first),
            None => format!("the reply's `{key}` is empty"),
        },
        other => match (error_text(root), other) {
            (Some(message), _) => format!("the reply is an error: {}", excerpt(&message)),
            (None, None) => format!("the reply has no `{key}`"),
            (None, Some(Value::Null)) => format!("the reply's `{key}` is null"),
            (None, Some(_)) => format!("the reply's `{key}` is not a list"),
        },
    }
}

fn data_item(item: &Value) -> String {
    match (item.get("b64_json"), item.get("url")) {
        (None | Some(Value::Null), Some(Value::String(_))) => "server returned url, not b64_json".to_owned(),
        (Some(Value::Null), _) => "data[0].b64_json is null".to_owned(),
        (Some(_), _) => "data[0].b64_json is not a text".to_owned(),
        (None, _) => "data[0] has no `b64_json`".to_owned(),
    }
}

fn choice(choice: &Value) -> String {
    let Some(message) = choice.get("message").filter(|message| message.is_object()) else {
        return "the reply's first choice has no `message`".to_owned();
    };
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) if parts.is_empty() => return "the message's `content` is empty".to_owned(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            texts.join(" ")
        }
        None => return "the message has no `content`".to_owned(),
        Some(Value::Null) => return "the message's `content` is null".to_owned(),
        Some(_) => return "the message's `content` is neither a text nor a list".to_owned(),
    };
    match excerpt(&text).as_str() {
        "" => "the reply holds no image".to_owned(),
        text => format!("the reply holds text and no image: {text}"),
    }
}
