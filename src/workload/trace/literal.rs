//! `Request(key=value, …)` lines whose values are Python literals. Read, never evaluated: a name that
//! is not `None`, `True` or `False`, a call or an operator is an error. Nesting is bounded.

use std::iter::Peekable;
use std::str::Chars;

use indexmap::IndexMap;
use serde_json::{Map, Number, Value};

/// Deeper nesting than any trace has, and far from what the stack can take.
const DEEPEST: usize = crate::catalog::limits::TRACE_LEVELS;

/// Reads one line into its fields; `None` becomes a JSON null.
pub(in crate::workload) fn request(line: &str) -> Result<IndexMap<String, Value>, String> {
    let mut reader = Reader { rest: line.chars().peekable(), depth: 0 };
    reader.space();
    if reader.word() != "Request" {
        return Err("a line of a trace starts with `Request(`".into());
    }
    reader.expect('(')?;
    let fields = reader.arguments()?;
    reader.space();
    match reader.rest.next() {
        None | Some('#') => Ok(fields),
        Some(other) => Err(format!("`{other}` after the closing bracket")),
    }
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn taken(&mut self, wanted: char) -> bool {
        self.space();
        self.rest.next_if_eq(&wanted).is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.taken(wanted) {
            return Ok(());
        }
        Err(match self.rest.peek() {
            Some(found) => format!("`{wanted}` expected, found `{found}`"),
            None => format!("`{wanted}` expected, but the line ends"),
        })
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
            word.push(c);
        }
        word
    }

    fn arguments(&mut self) -> Result<IndexMap<String, Value>, String> {
        let mut fields = IndexMap::new();
        while !self.taken(')') {
            let key = self.word();
            if key.is_empty() {
                return Err("every value of a request needs a name, as in `width=512`".into());
            }
            self.expect('=')?;
            let value = self.value()?;
            if fields.insert(key.clone(), value).is_some() {
                return Err(format!("`{key}` is given twice"));
            }
            if !self.taken(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(fields)
    }

    fn value(&mut self) -> Result<Value, String> {
        self.space();
        match self.rest.peek().copied() {
            Some('\'' | '"') => self.text(false).map(Value::String),
            Some('[') => self.nested(|reader| reader.items(']')),
            Some('(') => self.nested(Self::tuple),
            Some('{') => self.nested(Self::dictionary),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number().map(Value::Number),
            Some(_) => self.named(),
            None => Err("a value is missing at the end of the line".into()),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.rest.next();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("values are nested more than {DEEPEST} deep (limit `nesting.trace`)"));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn items(&mut self, close: char) -> Result<Value, String> {
        let mut items = Vec::new();
        while !self.taken(close) {
            items.push(self.value()?);
            if !self.taken(',') {
                self.expect(close)?;
                break;
            }
        }
        Ok(Value::Array(items))
    }

    /// A tuple, or a value in brackets.
    fn tuple(&mut self) -> Result<Value, String> {
        if self.taken(')') {
            return Ok(Value::Array(Vec::new()));
        }
        let first = self.value()?;
        if self.taken(')') {
            return Ok(first);
        }
        self.expect(',')?;
        let Value::Array(mut items) = self.items(')')? else { return Ok(first) };
        items.insert(0, first);
        Ok(Value::Array(items))
    }

    fn dictionary(&mut self) -> Result<Value, String> {
        let mut map = Map::new();
        while !self.taken('}') {
            let key = match self.value()? {
                Value::String(key) => key,
                other => return Err(format!("the key `{other}` of a dictionary is not text")),
            };
            self.expect(':')?;
            let value = self.value()?;
            map.insert(key, value);
            if !self.taken(',') {
                self.expect('}')?;
                break;
            }
        }
        Ok(Value::Object(map))
    }

    fn named(&mut self) -> Result<Value, String> {
        let word = self.word();
        match word.as_str() {
            "None" => Ok(Value::Null),
            "True" => Ok(Value::Bool(true)),
            "False" => Ok(Value::Bool(false)),
            "r" | "R" if matches!(self.rest.peek(), Some('\'' | '"')) => self.text(true).map(Value::String),
            "u" | "U" if matches!(self.rest.peek(), Some('\'' | '"')) => self.text(false).map(Value::String),
            "" => Err(format!("`{}` does not start a value", self.rest.peek().copied().unwrap_or(' '))),
            _ => Err(format!("`{word}` is not a literal; nothing is evaluated")),
        }
    }

    fn number(&mut self) -> Result<Number, String> {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+')) {
            text.push(c);
        }
        let wrong = || format!("`{text}` is not a number");
        let plain = text.strip_prefix('+').unwrap_or(&text).replace('_', "");
        if let Ok(number) = plain.parse::<i64>() {
            return Ok(number.into());
        }
        if let Ok(number) = plain.parse::<u64>() {
            return Ok(number.into());
        }
        let digits_only = plain.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'));
        let whole = plain.chars().all(|c| c.is_ascii_digit() || c == '-');
        if whole || !digits_only {
            return Err(wrong());
        }
        plain.parse::<f64>().ok().and_then(Number::from_f64).ok_or_else(wrong)
    }

    /// Quoted text; neighbouring literals join, as in Python.
    fn text(&mut self, raw: bool) -> Result<String, String> {
        let mut text = String::new();
        let mut raw = raw;
        while let Some(quote) = self.rest.next_if(|c| matches!(c, '\'' | '"')) {
            loop {
                match self.rest.next() {
                    None => return Err("a text is not closed".into()),
                    Some(c) if c == quote => break,
                    Some('\\') if raw => {
                        text.push('\\');
                        text.extend(self.rest.next());
                    }
                    Some('\\') => self.escape(&mut text)?,
                    Some(c) => text.push(c),
                }
            }
            raw = false;
            self.space();
        }
        Ok(text)
    }

    fn escape(&mut self, text: &mut String) -> Result<(), String> {
        let Some(kind) = self.rest.next() else { return Err("a text is not closed".into()) };
        match kind {
            '\\' | '\'' | '"' => text.push(kind),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            'x' => text.push(self.code_point(2)?),
            'u' => text.push(self.code_point(4)?),
            'U' => text.push(self.code_point(8)?),
            'N' => return Err("`\\N{…}` escapes are not read".into()),
            '0'..='7' => text.push(self.octal(kind)),
            // Python keeps the backslash of an escape it does not know
            other => text.extend(['\\', other]),
        }
        Ok(())
    }

    fn code_point(&mut self, digits: usize) -> Result<char, String> {
        let hex: String = (0..digits).filter_map(|_| self.rest.next_if(char::is_ascii_hexdigit)).collect();
        Some(hex.as_str())
            .filter(|hex| hex.len() == digits)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .and_then(char::from_u32)
            .ok_or_else(|| format!("the escape of `{hex}` is not a character"))
    }

    fn octal(&mut self, first: char) -> char {
        let mut code = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            match self.rest.next_if(|c| c.is_digit(8)) {
                Some(c) => code = code * 8 + c.to_digit(8).unwrap_or_default(),
                None => break,
            }
        }
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(line: &str) -> Value {
        Value::Object(request(line).unwrap().into_iter().collect())
    }

    #[test]
    fn a_line_of_the_real_trace_is_read() {
        assert_eq!(
            read(
                "Request(request_id='req-0001', prompt='a city, at dawn (wide)', width=1536, height=1536, num_inference_steps=70)"
            ),
            json!({ "request_id": "req-0001", "prompt": "a city, at dawn (wide)", "width": 1536, "height": 1536, "num_inference_steps": 70 })
        );
    }

    #[test]
    fn quotes_escapes_and_punctuation_stay_inside_texts() {
        assert_eq!(
            read(r#"Request(prompt='it\'s "so" # 1) \x41\u00e9\101\n\q', text = "don't", u=u'x' 'y', r=r'\d')"#),
            json!({ "prompt": "it's \"so\" # 1) Aé\u{41}\n\\q", "text": "don't", "u": "xy", "r": "\\d" })
        );
    }

    #[test]
    fn every_kind_of_literal_is_read() {
        assert_eq!(
            read(
                "Request(a=None, b=True, c=False, d=-3, e=1.5e4, f=.5, g=1_000, h=[1, (2, 3), {'k': [None]},], i=(), j=(7,), k=(8), l=18446744073709551615,)  # end"
            ),
            json!({
                "a": null, "b": true, "c": false, "d": -3, "e": 15000.0, "f": 0.5, "g": 1000,
                "h": [1, [2, 3], { "k": [null] }], "i": [], "j": [7], "k": 8, "l": 18_446_744_073_709_551_615_u64
            })
        );
    }

    #[test]
    fn nothing_is_evaluated() {
        for line in [
            "Request(prompt=__import__('os').system('x'))",
            "Request(width=512*2)",
            "Request(prompt=f'{x}')",
            "Request(prompt=b'x')",
            "Request(prompt='a'.upper())",
            "Request(prompt='a') or exit()",
            "Request(**x)",
            "Request('a')",
            "Request(a=1, a=2)",
            "Request(prompt='open",
            "Request(a=1e999)",
            "Request(a=99999999999999999999)",
            "Request(a=nan)",
            "Request(a=0x10)",
            "Request(a=\\ud83d)",
            "Query(a=1)",
            "Request(a=1",
        ] {
            assert!(request(line).is_err(), "{line}");
        }
        let deep = format!("Request(a={}1{})", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(request(&deep).unwrap_err(), "values are nested more than 32 deep (limit `nesting.trace`)");
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(line in "(Request\\()?[ -~éß€\\\\'\"\\[\\](){}=,0-9]{0,80}") {
            drop(request(&line));
        }

        #[test]
        fn texts_survive_quoting(text in "\\PC{0,40}") {
            let quoted = text.replace('\\', "\\\\").replace('\'', "\\'");
            let fields = request(&format!("Request(prompt='{quoted}', width=1)")).unwrap();
            prop_assert_eq!(fields["prompt"].as_str(), Some(text.as_str()));
        }
    }
}
