//! Keeps secret values out of everything that is stored or told. In: the values. Out: texts, JSON and
//! bytes in which each of them is `[hidden]`, also where it stands in the forms that servers and logs
//! give it: JSON escapes, percent-encoding, base64 (wherever in a longer text it was encoded) and
//! hexadecimal. What is stored of the values is never shown: no Debug of contents, no Display, no Serialize.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use base64_simd::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// What stands where a secret stood.
const HIDDEN: &str = "[hidden]";
/// Values this short are no secrets, and replacing them would tear every text.
const TOO_SHORT: usize = 2;
/// Encoded forms and cut-off beginnings shorter than this would be found by chance.
const TELLING: usize = 6;
/// RFC 3986's unreserved characters stay as they are.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Replaces secret values; a clone shares them.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Every form of every value, the longest first, so that one within another leaves no rest.
    forms: Arc<[String]>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} forms)", self.forms.len())
    }
}

impl Redactor {
    /// A redactor of these values.
    pub fn new<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Self {
        let mut forms = BTreeSet::new();
        for value in values {
            let value = value.as_ref();
            if value.len() > TOO_SHORT {
                forms.insert(value.to_owned());
                forms.extend(encoded(value).into_iter().filter(|form| form.len() >= TELLING));
            }
        }
        let mut forms: Vec<String> = forms.into_iter().collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Self { forms: forms.into() }
    }

    /// A redactor of what any of these hides.
    pub fn all<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut forms: Vec<String> = parts.into_iter().flat_map(|part| part.forms.iter().cloned()).collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { forms: forms.into() }
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Length of the longest form, in bytes.
    pub fn longest(&self) -> usize {
        self.forms.first().map_or(0, String::len)
    }

    /// The text without secrets. Where it was cut (`…`, or its end) within one, the beginning goes too.
    pub fn text(&self, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        let whole = self.bytes(text.as_bytes());
        // forms are whole characters, so what is left of the text is text
        let whole = String::from_utf8_lossy(&whole);
        whole.split('…').map(|piece| self.without_beginning(piece)).collect::<Vec<_>>().join("…")
    }

    /// The same for bytes that need not be text; nothing is taken for cut.
    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some((first, after)) = rest.split_first() {
            if let Some(form) = self.forms.iter().find(|form| rest.starts_with(form.as_bytes())) {
                out.extend_from_slice(HIDDEN.as_bytes());
                rest = rest.get(form.len()..).unwrap_or_default();
            } else {
                out.push(*first);
                rest = after;
            }
        }
        out
    }

    /// Hides secrets in every text and key of a value.
    pub fn value(&self, value: Value) -> Value {
        match value {
            _ if self.is_empty() => value,
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, item)| (self.text(&key), self.value(item))).collect())
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }

    /// Hides secrets where there may be a text.
    pub fn option(&self, text: &mut Option<String>) {
        if let Some(text) = text
            && !self.is_empty()
        {
            *text = self.text(text);
        }
    }

    /// The piece without the beginning of a secret that it ends in.
    fn without_beginning(&self, piece: &str) -> String {
        let least = piece.len().saturating_sub(self.longest());
        let begins = |at: usize| {
            let tail = piece.get(at..).unwrap_or_default();
            tail.len() >= TELLING && self.forms.iter().any(|form| form.starts_with(tail))
        };
        match (least..piece.len()).find(|at| begins(*at)) {
            Some(at) => format!("{}{HIDDEN}", piece.get(..at).unwrap_or_default()),
            None => piece.to_owned(),
        }
    }
}

/// The value as others write it.
fn encoded(value: &str) -> Vec<String> {
    let mut forms = Vec::new();
    let json = Value::from(value).to_string();
    if let Some(inner) = json.get(1..json.len() - 1) {
        forms.extend([inner.to_owned(), inner.replace('/', "\\/")]);
    }
    for set in [NON_ALPHANUMERIC, RESERVED] {
        let upper = utf8_percent_encode(value, set).to_string();
        forms.extend([lower_escapes(&upper), upper]);
    }
    let hex: String = value.bytes().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect();
    forms.extend([hex.to_ascii_uppercase(), hex]);
    for before in 0..3 {
        forms.extend(base64_within(value, before));
    }
    forms
}

fn digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).unwrap_or_default()
}

/// `%2F` as `%2f`.
fn lower_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, part) in text.split('%').enumerate() {
        if number == 0 {
            out.push_str(part);
            continue;
        }
        let (code, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        out.push('%');
        out.push_str(&code.to_ascii_lowercase());
        out.push_str(rest);
    }
    out
}

/// The characters of base64 that only the value decides, when `before` bytes (modulo 3) stand before
/// it and others may follow.
fn base64_within(value: &str, before: usize) -> [String; 2] {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(value.as_bytes());
    // a character holds six bits: the first whole one of the value, and the last
    let first = (before * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    [STANDARD_NO_PAD, URL_SAFE_NO_PAD].map(|alphabet| {
        let text: String = alphabet.encode_to_string(&bytes);
        text.get(first..last).unwrap_or_default().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-Aé\"/b+c d-0123456789";

    fn base64(text: &str) -> String {
        base64_simd::STANDARD.encode_to_string(text.as_bytes())
    }

    #[test]
    fn a_value_is_hidden_wherever_it_stands() {
        let redactor = Redactor::new(["sk-secret", "sk-secret-longer"]);
        assert_eq!(redactor.text("key sk-secret, again sk-secret."), "key [hidden], again [hidden].");
        assert_eq!(redactor.text("sk-secret-longer"), "[hidden]");
        assert_eq!(redactor.text("nothing to hide"), "nothing to hide");
    }

    #[test]
    fn a_value_too_short_to_be_secret_does_not_tear_texts() {
        assert_eq!(Redactor::new(["e", "ab", ""]).text("the abbey"), "the abbey");
    }

    #[test]
    fn what_others_made_of_the_value_is_hidden_too() {
        let redactor = Redactor::new([KEY]);
        let percent = utf8_percent_encode(KEY, NON_ALPHANUMERIC).to_string();
        let hex: String = KEY.bytes().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect();
        let forms = [
            Value::from(KEY).to_string().trim_matches('"').to_owned(),
            percent.clone(),
            lower_escapes(&percent),
            utf8_percent_encode(KEY, RESERVED).to_string(),
            hex.to_uppercase(),
            hex,
        ];
        for form in forms {
            assert_eq!(redactor.text(&format!("<{form}>")), "<[hidden]>", "{form}");
        }
        assert_eq!(lower_escapes("a%2FB%C3%A9"), "a%2fB%c3%a9");
    }

    #[test]
    fn a_text_that_was_cut_within_the_value_shows_no_beginning_of_it() {
        let redactor = Redactor::new(["sk-0123456789"]);
        assert_eq!(redactor.text("the key sk-01234… is wrong"), "the key [hidden]… is wrong");
        assert_eq!(redactor.text("the key sk-01234567"), "the key [hidden]");
        assert_eq!(redactor.text("it ends in sk-"), "it ends in sk-", "three letters tell nothing");
    }

    #[test]
    fn texts_and_keys_of_json_are_cleaned() {
        let redactor = Redactor::new(["sk-secret"]);
        let value = serde_json::json!({ "a sk-secret": ["x", { "b": "sk-secret" }], "n": 1 });
        assert_eq!(redactor.value(value), serde_json::json!({ "a [hidden]": ["x", { "b": "[hidden]" }], "n": 1 }));
        assert_eq!(format!("{redactor:?}").find("secret"), None);
    }

    proptest! {
        #[test]
        fn base64_of_any_text_around_the_value_is_hidden(before in "[ -~]{0,7}", after in "[ -~]{0,7}") {
            let redactor = Redactor::new([KEY]);
            let told = redactor.text(&base64(&format!("{before}{KEY}{after}")));
            prop_assert!(told.contains(HIDDEN), "{}", told);
            let alone = base64_within(KEY, before.len() % 3);
            prop_assert!(alone.iter().all(|form| !told.contains(form.as_str())));
        }

        #[test]
        fn other_texts_stay_as_they_are(text in "[a-p0-4 …]{0,60}") {
            prop_assert_eq!(Redactor::new([KEY]).text(&text), text);
        }

        #[test]
        fn no_text_that_holds_the_value_keeps_it(before in "\\PC{0,20}", after in "\\PC{0,20}") {
            let told = Redactor::new([KEY]).text(&format!("{before}{KEY}{after}"));
            prop_assert!(!told.contains(KEY));
        }
    }
}
