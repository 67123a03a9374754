//! The tokeniser and its grammar (RFC 8259).

use serde_json::Value;

use super::text::Text;

/// Containers open at once. A deeper reply is not one of ours.
const MAX_DEPTH: usize = crate::catalog::limits::REPLY_LEVELS;
/// Digits of one number; a 64-bit float needs at most 25 to be exact.
const MAX_NUMBER: usize = 128;

/// Why a body is not a JSON document that can be read here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("malformed json at byte {at}: expected {expected}, found `{}`", char::from(*.found).escape_default())]
    Unexpected { at: u64, expected: &'static str, found: u8 },
    #[error("truncated json: the reply ends within the document")]
    Truncated,
    #[error("malformed json: something follows the document at byte {0}")]
    Trailing(u64),
    #[error("malformed json: nested deeper than {MAX_DEPTH} levels (limit `nesting.reply`)")]
    TooDeep,
    #[error("malformed json: invalid utf-8 in a string")]
    Utf8,
    #[error("malformed json: unknown escape in a string")]
    Escape,
    #[error("malformed json: control character in a string")]
    Control,
    #[error("malformed json: `{0}` is not a number")]
    Number(String),
    #[error("malformed json: a number is out of range")]
    NumberRange,
    #[error("malformed json: a number has more than {MAX_NUMBER} characters")]
    NumberLength,
    #[error("`{0}` holds more than one picture")]
    Twice(String),
    #[error("the reply holds more than {0} pictures")]
    TooMany(usize),
}

/// What the tokeniser tells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event<'a> {
    BeginObject,
    BeginArray,
    /// The innermost container ends.
    End,
    /// A key begins; parts and an end follow.
    BeginKey,
    /// A text begins; parts and an end follow.
    BeginText,
    /// The next piece of the key or text, unescaped.
    Part(&'a str),
    EndText,
    /// Null, a truth value or a number.
    Scalar(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    FirstItem,
    FirstKey,
    Key,
    Colon,
    AfterValue,
    InText { key: bool },
    Number,
    Literal { word: &'static [u8], value: Literal },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Literal {
    Null,
    True,
    False,
}

/// The tokeniser. After an error it must not be fed again.
pub(crate) struct Scanner {
    state: State,
    open: Vec<Container>,
    text: Text,
    number: String,
    /// Bytes consumed by earlier calls.
    consumed: u64,
    started: bool,
}

impl Scanner {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Value,
            open: Vec::new(),
            text: Text::default(),
            number: String::new(),
            consumed: 0,
            started: false,
        }
    }

    /// Reads the next bytes and tells `sink` what they mean; stops at the first error of either.
    pub(crate) fn feed(
        &mut self,
        chunk: &[u8],
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let mut rest = chunk;
        while !rest.is_empty() {
            let at = self.consumed + (chunk.len() - rest.len()) as u64;
            rest = match self.state {
                State::InText { key } => self.text(key, rest, sink)?,
                State::Number => self.number(rest, sink)?,
                State::Literal { word, value } => self.literal(word, value, rest, at, sink)?,
                _ => self.structure(rest, at, sink)?,
            };
        }
        self.consumed += chunk.len() as u64;
        Ok(())
    }

    /// Says that no more bytes come.
    pub(crate) fn finish(
        &mut self,
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if self.state == State::Number {
            self.end_number(sink)?;
        }
        if self.state == State::AfterValue && self.open.is_empty() { Ok(()) } else { Err(Malformed::Truncated) }
    }

    /// Whether anything but white space has come.
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    fn structure<'a>(
        &mut self,
        rest: &'a [u8],
        at: u64,
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<&'a [u8], Malformed> {
        let Some((&byte, tail)) = rest.split_first() else { return Ok(rest) };
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return Ok(tail);
        }
        self.started = true;
        match (self.state, byte) {
            (State::FirstItem, b']') | (State::FirstKey, b'}') => self.close(sink)?,
            (State::FirstKey | State::Key, b'"') => {
                self.state = State::InText { key: true };
                sink(Event::BeginKey)?;
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::AfterValue, _) => self.after_value(byte, at, sink)?,
            (State::Value | State::FirstItem, _) => return self.value(byte, rest, at, sink),
            (state, found) => return Err(Malformed::Unexpected { at, expected: expected(state), found }),
        }
        Ok(tail)
    }

    fn after_value(
        &mut self,
        byte: u8,
        at: u64,
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        match (self.open.last(), byte) {
            (None, _) => return Err(Malformed::Trailing(at)),
            (Some(Container::Object), b'}') | (Some(Container::Array), b']') => self.close(sink)?,
            (Some(Container::Object), b',') => self.state = State::Key,
            (Some(Container::Array), b',') => self.state = State::Value,
            (Some(Container::Object), found) => {
                return Err(Malformed::Unexpected { at, expected: "`,` or `}`", found });
            }
            (Some(Container::Array), found) => {
                return Err(Malformed::Unexpected { at, expected: "`,` or `]`", found });
            }
        }
        Ok(())
    }

    /// Starts the value whose first byte heads `rest`.
    fn value<'a>(
        &mut self,
        byte: u8,
        rest: &'a [u8],
        at: u64,
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<&'a [u8], Malformed> {
        self.state = match byte {
            b'{' => self.open(Container::Object, sink)?,
            b'[' => self.open(Container::Array, sink)?,
            b'"' => {
                sink(Event::BeginText)?;
                State::InText { key: false }
            }
            // the byte itself belongs to the number
            b'-' | b'0'..=b'9' => {
                self.state = State::Number;
                return Ok(rest);
            }
            b't' => State::Literal { word: b"rue", value: Literal::True },
            b'f' => State::Literal { word: b"alse", value: Literal::False },
            b'n' => State::Literal { word: b"ull", value: Literal::Null },
            found => return Err(Malformed::Unexpected { at, expected: "a value", found }),
        };
        Ok(rest.split_first().map_or(rest, |(_, tail)| tail))
    }

    fn open(
        &mut self,
        container: Container,
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<State, Malformed> {
        if self.open.len() == MAX_DEPTH {
            return Err(Malformed::TooDeep);
        }
        self.open.push(container);
        match container {
            Container::Object => sink(Event::BeginObject).map(|()| State::FirstKey),
            Container::Array => sink(Event::BeginArray).map(|()| State::FirstItem),
        }
    }

    fn close(&mut self, sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>) -> Result<(), Malformed> {
        self.open.pop();
        self.state = State::AfterValue;
        sink(Event::End)
    }

    fn text<'a>(
        &mut self,
        key: bool,
        rest: &'a [u8],
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<&'a [u8], Malformed> {
        let (ended, tail) = self.text.feed(rest, &mut |part| sink(Event::Part(part)))?;
        if ended {
            self.state = if key { State::Colon } else { State::AfterValue };
            sink(Event::EndText)?;
        }
        Ok(tail)
    }

    fn number<'a>(
        &mut self,
        rest: &'a [u8],
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<&'a [u8], Malformed> {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        if self.number.len() + length > MAX_NUMBER {
            return Err(Malformed::NumberLength);
        }
        let (digits, tail) = rest.split_at(length);
        self.number.extend(digits.iter().map(|byte| char::from(*byte)));
        if !tail.is_empty() {
            self.end_number(sink)?;
        }
        Ok(tail)
    }

    fn end_number(&mut self, sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>) -> Result<(), Malformed> {
        let text = std::mem::take(&mut self.number);
        if !is_number(&text) {
            return Err(Malformed::Number(text));
        }
        self.state = State::AfterValue;
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => sink(Event::Scalar(value)),
            Err(_) => Err(Malformed::NumberRange),
        }
    }

    fn literal<'a>(
        &mut self,
        word: &'static [u8],
        value: Literal,
        rest: &'a [u8],
        at: u64,
        sink: &mut impl FnMut(Event<'_>) -> Result<(), Malformed>,
    ) -> Result<&'a [u8], Malformed> {
        let (Some((&wanted, word)), Some((&found, tail))) = (word.split_first(), rest.split_first()) else {
            return Ok(rest);
        };
        if found != wanted {
            return Err(Malformed::Unexpected { at, expected: "`true`, `false` or `null`", found });
        }
        self.state = State::Literal { word, value };
        if word.is_empty() {
            self.state = State::AfterValue;
            sink(Event::Scalar(match value {
                Literal::Null => Value::Null,
                Literal::True => Value::Bool(true),
                Literal::False => Value::Bool(false),
            }))?;
        }
        Ok(tail)
    }
}

fn expected(state: State) -> &'static str {
    match state {
        State::FirstKey => "a key or `}`",
        State::Key => "a key",
        State::Colon => "`:`",
        State::Value
        | State::FirstItem
        | State::AfterValue
        | State::InText { .. }
        | State::Number
        | State::Literal { .. } => "a value",
    }
}

/// Whether the text follows JSON's number grammar.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = |part: &str| digits(part.strip_prefix(['+', '-']).unwrap_or(part));
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(unsigned)
}
