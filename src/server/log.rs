//! The log of a started server, without secrets: what the server writes goes through a pipe, is
//! cleaned line by line, and only then reaches the file. Without anything to hide it goes into the file
//! directly.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::record::Redactor;

/// A line longer than this is passed on in pieces.
const LONGEST_LINE: usize = 64 << 10;
/// Bytes taken at once.
const CHUNK: usize = 16 << 10;
/// How long the end of a server's last words is waited for; helpers that live on hold the pipe open.
const LAST_WORDS: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(10);

/// Takes a server's output to its log.
#[derive(Debug)]
pub(super) struct Log {
    filter: Option<JoinHandle<()>>,
}

impl Log {
    /// Opens the log for appending; gives what the server's stdout and stderr are to be.
    pub(super) fn open(path: &Path, redactor: &Redactor) -> io::Result<(Self, Stdio, Stdio)> {
        let file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        if redactor.is_empty() {
            let file = file.into_parts().0;
            return Ok((Self { filter: None }, file.try_clone()?.into(), file.into()));
        }
        let (reader, writer) = io::pipe()?;
        let lines = Lines { redactor: redactor.clone(), pending: Vec::new() };
        let filter = thread::Builder::new().name("server log".into()).spawn(|| pass(reader, lines, file))?;
        Ok((Self { filter: Some(filter) }, writer.try_clone()?.into(), writer.into()))
    }

    /// Waits, within a bound, until everything that a server wrote before it ended is in the file.
    pub(super) fn settle(&self) {
        let deadline = Instant::now() + LAST_WORDS;
        while self.filter.as_ref().is_some_and(|filter| !filter.is_finished()) && Instant::now() < deadline {
            thread::sleep(GLANCE);
        }
    }
}

/// Reads to the end. A file that takes no more does not stop the server: its output is read on and lost.
fn pass(mut from: impl Read, mut lines: Lines, mut to: impl Write) {
    let mut chunk = vec![0; CHUNK];
    let mut writes = true;
    loop {
        let clean = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => lines.feed(chunk.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        writes = writes && to.write_all(&clean).is_ok();
    }
    if writes {
        // nobody is left who could be told
        drop(to.write_all(&lines.finish()));
    }
}

/// Cleans whole lines, so that a secret whose parts are written one after the other is seen.
struct Lines {
    redactor: Redactor,
    pending: Vec<u8>,
}

impl Lines {
    /// Takes bytes; gives the lines that are whole, clean.
    fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        // progress bars end their lines with a carriage return
        if let Some(last) = self.pending.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
            let rest = self.pending.split_off(last + 1);
            let whole = std::mem::replace(&mut self.pending, rest);
            return self.redactor.bytes(&whole);
        }
        if self.pending.len() <= LONGEST_LINE {
            return Vec::new();
        }
        // the end may be the beginning of a secret
        let mut clean = self.redactor.bytes(&self.pending);
        self.pending = clean.split_off(clean.len().saturating_sub(self.redactor.longest()));
        clean
    }

    /// Gives what no line break ended.
    fn finish(self) -> Vec<u8> {
        self.redactor.bytes(&self.pending)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-0123456789abcdef";

    fn passed(pieces: &[&[u8]]) -> String {
        let mut lines = Lines { redactor: Redactor::new([KEY]), pending: Vec::new() };
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| lines.feed(piece)).collect();
        out.extend(lines.finish());
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn a_line_is_passed_on_when_it_is_whole() {
        let mut lines = Lines { redactor: Redactor::new([KEY]), pending: Vec::new() };
        assert_eq!(lines.feed(b"a\nb"), b"a\n");
        assert_eq!(lines.feed(b"\r10%"), b"b\r");
        assert_eq!(lines.finish(), b"10%");
    }

    #[test]
    fn a_line_without_end_is_passed_on_in_pieces() {
        let long = "x".repeat(LONGEST_LINE);
        let text = passed(&[long.as_bytes(), b"yz sk-01234", b"56789abcdef", long.as_bytes(), b"\n"]);
        assert_eq!(text, format!("{long}yz [hidden]{long}\n"));
    }

    #[test]
    fn bytes_that_are_no_text_stay_as_they_are() {
        let mut lines = Lines { redactor: Redactor::new([KEY]), pending: Vec::new() };
        assert_eq!(lines.feed(b"\xff\x00 sk-0123456789abcdef\xfe\n"), b"\xff\x00 [hidden]\xfe\n");
    }

    #[test]
    fn a_file_that_takes_no_more_does_not_stop_the_server() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut from = io::Cursor::new(b"line\n".repeat(20_000));
        pass(&mut from, Lines { redactor: Redactor::default(), pending: Vec::new() }, Full);
        assert_eq!(from.position(), 100_000);
    }

    proptest! {
        #[test]
        fn the_key_is_hidden_however_it_is_split(cuts in prop::collection::vec(0_usize..80, 0..6), lead in "[a-z \\n]{0,20}") {
            let text = format!("{lead} Authorization: Bearer {KEY} {lead}");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(passed(&pieces), text.replace(KEY, "[hidden]"));
        }
    }
}
