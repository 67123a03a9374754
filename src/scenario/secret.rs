//! Keeps keys and passwords that were pasted into a scenario out of every picture and message.

use std::ops::Range;

use super::layer::Layer;
use super::node::{Data, Node};
use crate::diagnostic::{KeyPath, Segment};

const WORDS: [&str; 11] = [
    "key",
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "authorization",
    "credential",
    "credentials",
    "cookie",
];

/// Whether the value at this path may be a secret: by the key's name, or because it is a header.
pub(super) fn is_secret(path: &KeyPath) -> bool {
    let mut keys = path.segments().iter().rev().filter_map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    keys.next().is_some_and(named_like_one) || keys.next() == Some("headers")
}

/// Whether a text can be the name of an environment variable. Lower case is not taken for one:
/// many keys that services hand out would pass.
pub(super) fn is_environment_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether an option of a command is named like one: `--api-key`, `hf_token`.
pub(super) fn is_secret_option(name: &str) -> bool {
    let last = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    WORDS.contains(&last.to_ascii_lowercase().as_str())
}

/// Whether a value is written `${NAME}`, which takes it from the environment.
pub(super) fn is_reference(value: &str) -> bool {
    let name = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

fn named_like_one(key: &str) -> bool {
    key.to_ascii_lowercase().split(|c: char| !c.is_ascii_alphanumeric()).any(|part| WORDS.contains(&part))
}

/// Puts asterisks over whatever may be a secret in the texts that pictures are drawn from.
pub(super) fn mask(layers: &mut [Layer]) {
    for layer in layers {
        let mut ranges = Vec::new();
        find(&layer.root, &KeyPath::root(), &layer.source.text, &mut ranges);
        for range in ranges {
            cover(&mut layer.source.text, range);
        }
    }
}

/// The same for a text that could not be read: lines that assign to a key named like a secret.
pub(super) fn mask_unread(text: &mut String) {
    let mut start = 0;
    let mut ranges = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some((key, value)) = line.split_once(['=', ':'])
            && named_like_one(key)
            && !is_environment_name(value.trim().trim_matches(['"', '\'']))
        {
            ranges.push(start + line.len() - value.len()..start + line.trim_end().len());
        }
        start += line.len();
    }
    for range in ranges {
        cover(text, range);
    }
}

fn find(node: &Node, path: &KeyPath, text: &str, ranges: &mut Vec<Range<usize>>) {
    match &node.data {
        Data::Table(table) => table.iter().for_each(|(key, child)| find(child, &path.key(key), text, ranges)),
        Data::List(list) => list.iter().enumerate().for_each(|(i, child)| find(child, &path.index(i), text, ranges)),
        Data::Text(value) => {
            let Some(range) = node.mark.as_ref().map(|mark| mark.value.clone()) else { return };
            if is_secret(path) && !is_environment_name(value) && !is_reference(value) {
                ranges.push(range);
            } else if let Some(inner) = text.get(range.clone()).and_then(private_part) {
                ranges.push(range.start + inner.start..range.start + inner.end);
            }
        }
        Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) if is_secret(path) => {
            ranges.extend(node.mark.as_ref().map(|mark| mark.value.clone()));
        }
        _ => {}
    }
}

/// User name and password, or the query, of a URL as it is written.
fn private_part(written: &str) -> Option<Range<usize>> {
    let start = written.find("://")? + 3;
    let (_, rest) = written.split_at_checked(start)?;
    let authority = rest.find(['/', '?', '#', '"', '\'']).unwrap_or(rest.len());
    let before_host = rest.split_at_checked(authority)?.0.rfind('@');
    match (before_host, rest.find('?')) {
        (Some(at), _) => Some(start..start + at),
        (None, Some(query)) => Some(start + query + 1..written.trim_end_matches(['"', '\'']).len()),
        (None, None) => None,
    }
}

/// Every byte becomes one asterisk, so that all other places stay where they are.
fn cover(text: &mut String, range: Range<usize>) {
    let (mut from, mut to) = (range.start.min(text.len()), range.end.min(text.len()));
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    while !text.is_char_boundary(to) {
        to += 1;
    }
    if from < to {
        let stars: String =
            text.get(from..to).unwrap_or_default().bytes().map(|b| if b == b'\n' { '\n' } else { '*' }).collect();
        text.replace_range(from..to, &stars);
    }
}

#[cfg(test)]
mod tests {
    use super::{is_environment_name, mask_unread, private_part};

    #[test]
    fn pasted_keys_are_not_names_of_environment_variables() {
        assert!(is_environment_name("OPENAI_API_KEY"));
        for pasted in ["sk-abc", "hf_abcDEF", "Bearer X", "", "1ABC", "A B"] {
            assert!(!is_environment_name(pasted), "{pasted}");
        }
    }

    #[test]
    fn the_private_part_of_a_url_is_its_user_info_or_query() {
        let part = |text: &'static str| private_part(text).and_then(|range| text.get(range));
        assert_eq!(part("\"http://me:pw@host/x\""), Some("me:pw"));
        assert_eq!(part("\"http://host/x?key=abc\""), Some("key=abc"));
        assert_eq!(part("\"http://host/a@b\""), None);
        assert_eq!(part("\"no url\""), None);
    }

    #[test]
    fn a_broken_text_hides_what_is_assigned_to_a_key() {
        let mut text = "api_key = \"sk-1\n[x\napi_key_env = \"NAME\"\n".to_owned();
        mask_unread(&mut text);
        assert_eq!(text, "api_key =******\n[x\napi_key_env = \"NAME\"\n");
    }
}
