//! The inside of a JSON string: escapes and UTF-8, in pieces.

use super::Malformed;

/// Reads strings piece by piece; between two strings it is empty again.
#[derive(Debug, Default)]
pub(super) struct Text {
    escape: Escape,
    /// First half of a surrogate pair whose second half has not come yet.
    high: Option<u32>,
    /// The bytes of a character that a chunk border cut.
    cut: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Backslash,
    Hex {
        digits: u8,
        value: u32,
    },
}

type Sink<'s> = &'s mut dyn FnMut(&str) -> Result<(), Malformed>;

impl Text {
    /// Reads up to the closing quote. Returns whether it was there, and what is left.
    pub(super) fn feed<'a>(&mut self, rest: &'a [u8], sink: Sink<'_>) -> Result<(bool, &'a [u8]), Malformed> {
        match self.escape {
            Escape::None => self.run(rest, sink),
            Escape::Backslash | Escape::Hex { .. } => {
                let Some((&byte, tail)) = rest.split_first() else { return Ok((false, rest)) };
                self.escaped(byte, sink)?;
                Ok((false, tail))
            }
        }
    }

    fn run<'a>(&mut self, rest: &'a [u8], sink: Sink<'_>) -> Result<(bool, &'a [u8]), Malformed> {
        let (plain, stop) = rest.split_at(plain_length(rest));
        if !plain.is_empty() {
            self.lone_half(sink)?;
            self.plain(plain, sink)?;
        }
        let Some((&byte, tail)) = stop.split_first() else { return Ok((false, stop)) };
        if !self.cut.is_empty() {
            return Err(Malformed::Utf8);
        }
        match byte {
            b'"' => {
                self.lone_half(sink)?;
                Ok((true, tail))
            }
            b'\\' => {
                self.escape = Escape::Backslash;
                Ok((false, tail))
            }
            _ => Err(Malformed::Control),
        }
    }

    fn plain(&mut self, mut run: &[u8], sink: Sink<'_>) -> Result<(), Malformed> {
        while !self.cut.is_empty() {
            let Some((&byte, tail)) = run.split_first() else { return Ok(()) };
            run = tail;
            self.cut.push(byte);
            match std::str::from_utf8(&self.cut) {
                Ok(text) => {
                    sink(text)?;
                    self.cut.clear();
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(Malformed::Utf8),
            }
        }
        let valid = match std::str::from_utf8(run) {
            Ok(text) => return if text.is_empty() { Ok(()) } else { sink(text) },
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return Err(Malformed::Utf8),
        };
        let (whole, cut) = run.split_at(valid);
        self.cut.extend_from_slice(cut);
        match std::str::from_utf8(whole) {
            Ok("") => Ok(()),
            Ok(text) => sink(text),
            Err(_) => Err(Malformed::Utf8),
        }
    }

    fn escaped(&mut self, byte: u8, sink: Sink<'_>) -> Result<(), Malformed> {
        if let Escape::Hex { digits, value } = self.escape {
            let digit = char::from(byte).to_digit(16).ok_or(Malformed::Escape)?;
            let value = value * 16 + digit;
            self.escape = Escape::Hex { digits: digits + 1, value };
            if digits == 3 {
                self.escape = Escape::None;
                self.unit(value, sink)?;
            }
            return Ok(());
        }
        self.escape = Escape::None;
        let text = match byte {
            b'"' => "\"",
            b'\\' => "\\",
            b'/' => "/",
            b'b' => "\u{8}",
            b'f' => "\u{c}",
            b'n' => "\n",
            b'r' => "\r",
            b't' => "\t",
            b'u' => {
                self.escape = Escape::Hex { digits: 0, value: 0 };
                return Ok(());
            }
            _ => return Err(Malformed::Escape),
        };
        self.lone_half(sink)?;
        sink(text)
    }

    /// Takes one UTF-16 unit.
    fn unit(&mut self, unit: u32, sink: Sink<'_>) -> Result<(), Malformed> {
        if let (Some(high), 0xDC00..=0xDFFF) = (self.high, unit) {
            self.high = None;
            return emit(0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00), sink);
        }
        self.lone_half(sink)?;
        if (0xD800..=0xDBFF).contains(&unit) {
            self.high = Some(unit);
            return Ok(());
        }
        emit(unit, sink)
    }

    /// Half a surrogate pair is within the grammar, and servers echo prompts: it reads as U+FFFD.
    fn lone_half(&mut self, sink: Sink<'_>) -> Result<(), Malformed> {
        match self.high.take() {
            Some(high) => emit(high, sink),
            None => Ok(()),
        }
    }
}

fn emit(code: u32, sink: Sink<'_>) -> Result<(), Malformed> {
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    sink(character.encode_utf8(&mut [0; 4]))
}

/// Bytes before the first quote, backslash or control character. Most of a reply is one long run of
/// base64, so eight bytes are looked at together (the zero-byte test of Hacker's Delight, 6-1).
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGHS: u64 = ONES << 7;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGHS;
    let stops = |word: u64| {
        below(word, 0x20) | below(word ^ (ONES * u64::from(b'"')), 1) | below(word ^ (ONES * u64::from(b'\\')), 1)
    };
    let (words, _) = bytes.as_chunks::<8>();
    let skipped = 8 * words.iter().take_while(|word| stops(u64::from_ne_bytes(**word)) == 0).count();
    let rest = bytes.get(skipped..).unwrap_or_default();
    skipped + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count()
}

#[cfg(test)]
mod tests {
    use super::plain_length;

    #[test]
    fn a_run_ends_at_every_byte_that_ends_it_and_at_no_other() {
        for byte in 0..=u8::MAX {
            for place in 0..20 {
                let mut bytes = [b'A'; 20];
                bytes[place] = byte;
                let ends = byte < 0x20 || byte == b'"' || byte == b'\\';
                assert_eq!(plain_length(&bytes), if ends { place } else { 20 }, "{byte} at {place}");
            }
        }
    }
}
