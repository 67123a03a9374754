//! Base64 (RFC 4648, standard alphabet) decoded as it arrives: white space is skipped, missing
//! padding is accepted, unused bits of the last character are ignored, as browsers do.

use base64_simd::{AsOut as _, STANDARD_NO_PAD};

/// Decoded bytes handed on at once.
const BLOCK: usize = 12 * 1024;
/// Groups decoded at once at first after something that is no plain character; lines of encoded text have 76.
const AFTER_OTHER: usize = 19;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Base64Error {
    #[error("not base64: unexpected `{}`", char::from(*.0).escape_default())]
    Unexpected(u8),
    #[error("not base64: wrong padding")]
    Padding,
    #[error("not base64: characters follow the padding")]
    AfterPadding,
    #[error("not base64: it ends within a byte")]
    Cut,
}

/// The decoder. After an error it must not be fed again.
pub(crate) struct Base64 {
    /// Characters of an unfinished group, at most three.
    group: Vec<u8>,
    pads: usize,
    out: Vec<u8>,
    /// Decoded bytes in `out`; what is behind them is room.
    filled: usize,
    /// Groups decoded at once at most.
    stride: usize,
}

impl Base64 {
    pub(crate) fn new() -> Self {
        Self { group: Vec::with_capacity(4), pads: 0, out: Vec::new(), filled: 0, stride: BLOCK }
    }

    /// Decodes the next characters; `sink` gets blocks of decoded bytes.
    pub(crate) fn feed(&mut self, input: &[u8], sink: &mut impl FnMut(&[u8])) -> Result<(), Base64Error> {
        let mut rest = input;
        while !rest.is_empty() {
            if BLOCK - self.filled < 3 {
                self.flush(sink);
            }
            let is_aligned = self.group.is_empty() && self.pads == 0;
            let groups = (rest.len() / 4).min((BLOCK - self.filled) / 3).min(self.stride);
            if is_aligned && groups > 0 {
                let (block, tail) = rest.split_at(groups * 4);
                if self.decode(block) {
                    self.stride = (self.stride * 2).min(BLOCK);
                    rest = tail;
                    continue;
                }
                // white space or padding is in it, and where there is some there may be more
                self.stride = AFTER_OTHER;
                let plain = block.iter().take_while(|byte| sextet(**byte).is_some()).count() / 4 * 4;
                let (block, tail) = rest.split_at(plain);
                if plain > 0 && self.decode(block) {
                    rest = tail;
                    continue;
                }
            }
            // by single characters to the end of the group, after which blocks work again
            let (slow, tail) = rest.split_at(rest.len().min(4_usize.saturating_sub(self.group.len()).max(1)));
            for &byte in slow {
                self.push(byte, sink)?;
            }
            rest = tail;
        }
        Ok(())
    }

    /// Says that no more characters come.
    pub(crate) fn finish(&mut self, sink: &mut impl FnMut(&[u8])) -> Result<(), Base64Error> {
        let whole = match (self.group.len(), self.pads) {
            (0, 0) => 0,
            (2, 0 | 2) => 1,
            (3, 0 | 1) => 2,
            (1, 0) => return Err(Base64Error::Cut),
            _ => return Err(Base64Error::Padding),
        };
        self.group.resize(4, b'A');
        let group = self.group();
        self.put(group.get(..whole).unwrap_or_default());
        self.flush(sink);
        Ok(())
    }

    /// Bytes held.
    pub(crate) fn retained(&self) -> usize {
        self.filled + self.group.len()
    }

    /// Decodes whole groups of plain characters; false, and nothing done, when they are not.
    fn decode(&mut self, block: &[u8]) -> bool {
        let bytes = block.len() / 4 * 3;
        let done = STANDARD_NO_PAD.decode(block, self.room(bytes).as_out()).is_ok();
        self.filled += if done { bytes } else { 0 };
        done
    }

    /// Room behind what is decoded; it is made once and used again and again.
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        let end = self.filled + bytes;
        if self.out.len() < end {
            self.out.resize(end, 0);
        }
        self.out.get_mut(self.filled..end).unwrap_or_default()
    }

    fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    fn push(&mut self, byte: u8, sink: &mut impl FnMut(&[u8])) -> Result<(), Base64Error> {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => return Ok(()),
            b'=' => {
                self.pads += 1;
                return if self.pads + self.group.len() > 4 || self.group.len() < 2 {
                    Err(Base64Error::Padding)
                } else {
                    Ok(())
                };
            }
            _ if sextet(byte).is_none() => return Err(Base64Error::Unexpected(byte)),
            _ if self.pads > 0 => return Err(Base64Error::AfterPadding),
            _ => self.group.push(byte),
        }
        if self.group.len() == 4 {
            if BLOCK - self.filled < 3 {
                self.flush(sink);
            }
            let group = self.group();
            self.put(&group);
            self.group.clear();
        }
        Ok(())
    }

    /// The three bytes of the four characters of a group.
    fn group(&self) -> [u8; 3] {
        let bits = self.group.iter().fold(0, |bits, byte| bits << 6 | sextet(*byte).unwrap_or(0));
        let [_, a, b, c] = u32::to_be_bytes(bits);
        [a, b, c]
    }

    fn flush(&mut self, sink: &mut impl FnMut(&[u8])) {
        if self.filled > 0 {
            sink(self.out.get(..self.filled).unwrap_or_default());
            self.filled = 0;
        }
    }
}

fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(input: &[u8], step: usize) -> Result<Vec<u8>, Base64Error> {
        let mut decoder = Base64::new();
        let mut out = Vec::new();
        for chunk in input.chunks(step) {
            decoder.feed(chunk, &mut |block| out.extend_from_slice(block))?;
        }
        decoder.finish(&mut |block| out.extend_from_slice(block))?;
        Ok(out)
    }

    #[test]
    fn padding_may_be_missing_but_not_wrong() {
        for (text, wanted) in [("aGVsbG8=", "hello"), ("aGVsbG8", "hello"), ("aA==", "h"), ("aA", "h"), ("", "")] {
            assert_eq!(decode(text.as_bytes(), 3), Ok(wanted.as_bytes().to_vec()), "{text}");
        }
        for text in ["aA=", "=", "aGVsbG8==", "aGVs=", "aA===", "a="] {
            assert_eq!(decode(text.as_bytes(), 2), Err(Base64Error::Padding), "{text}");
        }
        assert_eq!(decode(b"aGVsb", 4), Err(Base64Error::Cut));
        assert_eq!(decode(b"aA==aA==", 1), Err(Base64Error::AfterPadding));
        assert_eq!(decode(b"!!!", 9), Err(Base64Error::Unexpected(b'!')));
    }

    #[test]
    fn white_space_is_skipped_wherever_it_stands() {
        let text = b"aGVs\r\nbG8g d29y\n bGQ=\n";
        for step in 1..text.len() {
            assert_eq!(decode(text, step), Ok(b"hello world".to_vec()));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back_in_any_chunks(bytes in prop::collection::vec(any::<u8>(), 0..14_000), step in 1usize..9000) {
            let text = base64_simd::STANDARD.encode_to_string(&bytes);
            prop_assert_eq!(decode(text.as_bytes(), step), Ok(bytes));
        }

        #[test]
        fn chunk_borders_do_not_change_the_outcome(text in "[A-Za-z0-9+/= \n!]{0,60}", step in 1usize..60) {
            prop_assert_eq!(decode(text.as_bytes(), step), decode(text.as_bytes(), 1000));
        }
    }
}
