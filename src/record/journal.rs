//! Append-only files of JSON lines. Lines are written whole, in one call, and each ends in a guard, the
//! key `check`; a line that is torn, or whose guard says that it is not what was written, is skipped and
//! counted when the file is read.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::sync_folder;

/// Longest line that is read, in bytes.
const LONGEST_LINE: usize = crate::catalog::limits::JOURNAL_LINE;
/// What a line's guard, its last key, begins and ends with.
const GUARD: &[u8] = b",\"check\":\"";
const GUARD_END: &[u8] = b"\"}";
/// Hex digits of the guard: 32 bits of BLAKE3, so that of four thousand million corrupt lines one passes.
const DIGITS: usize = 8;

/// An open file of JSON lines.
#[derive(Debug)]
pub struct Journal {
    file: fs_err::File,
    buffer: Vec<u8>,
    /// Whether the file ends within a line that will never be finished.
    torn: bool,
}

impl Journal {
    /// Opens the file for appending, making it when absent.
    pub fn open(path: &Path) -> io::Result<Self> {
        let is_new = !path.exists();
        let mut file = fs_err::OpenOptions::new().create(true).append(true).read(true).open(path)?;
        if let Some(folder) = path.parent().filter(|_| is_new) {
            sync_folder(folder);
        }
        let torn = ends_within_a_line(&mut file)?;
        Ok(Self { file, buffer: Vec::new(), torn })
    }

    /// Appends the items, one guarded line each, in a single write; they are in the file when this
    /// returns. Items are JSON objects with at least one key.
    pub fn append<T: Serialize>(&mut self, items: &[T]) -> io::Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        self.buffer.clear();
        if self.torn {
            self.buffer.push(b'\n');
        }
        for item in items {
            let begin = self.buffer.len();
            serde_json::to_writer(&mut self.buffer, item)?;
            guard(&mut self.buffer, begin)?;
        }
        // a write that fails half way leaves a torn line, which the next one must not continue
        self.torn = true;
        self.file.write_all(&self.buffer)?;
        self.torn = false;
        Ok(())
    }

    /// Asks the system to put the file on its disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// The same file, for whoever syncs it while others append.
    pub fn syncing(&self) -> io::Result<fs_err::File> {
        self.file.try_clone()
    }
}

/// Ends the line that begins there with its guard and a line feed.
fn guard(buffer: &mut Vec<u8>, begin: usize) -> io::Result<()> {
    let content = buffer.get(begin..).and_then(|line| line.strip_suffix(b"}")).filter(|content| content.len() > 1);
    let no_object = || io::Error::new(io::ErrorKind::InvalidInput, "a line of a journal is a JSON object with a key");
    let content = content.ok_or_else(no_object)?;
    let (digits, end) = (digest(content), begin + content.len());
    buffer.truncate(end);
    for part in [GUARD, digits.as_bytes(), GUARD_END, b"\n"] {
        buffer.extend_from_slice(part);
    }
    Ok(())
}

/// The digits that guard this content.
fn digest(content: &[u8]) -> String {
    let mut hex = blake3::hash(content).to_hex().to_string();
    hex.truncate(DIGITS);
    hex
}

/// What a line's guard says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guarded {
    /// It is what was written.
    Sound,
    /// It is not.
    Broken,
    /// There is none: the line is an older version's, or not whole.
    Without,
}

impl Guarded {
    fn of(line: &[u8]) -> Self {
        let digits = line.strip_suffix(GUARD_END).and_then(|line| line.split_last_chunk::<DIGITS>());
        let parts = digits.and_then(|(line, digits)| Some((line.strip_suffix(GUARD)?, digits)));
        match parts {
            None => Self::Without,
            Some((content, digits)) if digest(content).as_bytes() == digits => Self::Sound,
            Some(_) => Self::Broken,
        }
    }
}

fn ends_within_a_line(file: &mut fs_err::File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// The readable items of a journal and how many lines were not.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalRead<T> {
    /// Items, in the file's order.
    pub items: Vec<T>,
    /// Lines that were torn, not as they were written, or longer than 16 MiB.
    pub skipped: usize,
}

/// Reads a journal; an absent file holds nothing.
pub fn read_journal<T: DeserializeOwned>(path: &Path) -> io::Result<JournalRead<T>> {
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(JournalRead { items: Vec::new(), skipped: 0 });
        }
        Err(error) => return Err(error),
    };
    read_lines(BufReader::new(file), LONGEST_LINE)
}

fn read_lines<T: DeserializeOwned>(mut reader: impl BufRead, longest: usize) -> io::Result<JournalRead<T>> {
    let mut read = JournalRead { items: Vec::new(), skipped: 0 };
    let (mut line, mut guarded, mut without) = (Vec::new(), false, Vec::new());
    while let Some(fits) = next_line(&mut reader, &mut line, longest)? {
        let of_line = Guarded::of(&line);
        if !fits || of_line == Guarded::Broken {
            read.skipped += 1;
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(item) => {
                if of_line == Guarded::Without {
                    without.push(read.items.len());
                } else {
                    guarded = true;
                }
                read.items.push(item);
            }
            Err(_) => read.skipped += 1,
        }
    }
    // a file is written by one version: where lines are guarded, one without was damaged
    for place in without.into_iter().rev().filter(|_| guarded) {
        read.items.remove(place);
        read.skipped += 1;
    }
    Ok(read)
}

/// Reads up to the next line feed, keeping at most `longest` bytes; tells whether that was the whole
/// line, or `None` at the end.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>, longest: usize) -> io::Result<Option<bool>> {
    line.clear();
    let mut length = 0_usize;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok((length > 0).then_some(length <= longest));
        }
        let (part, ends) = match chunk.iter().position(|byte| *byte == b'\n') {
            Some(end) => (chunk.get(..end).unwrap_or(chunk), true),
            None => (chunk, false),
        };
        let room = longest.saturating_sub(line.len()).min(part.len());
        line.extend_from_slice(part.get(..room).unwrap_or(part));
        length += part.len();
        let used = part.len() + usize::from(ends);
        reader.consume(used);
        if ends {
            return Ok(Some(length <= longest));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Item {
        n: u32,
    }

    fn items(numbers: &[u32]) -> Vec<Item> {
        numbers.iter().map(|n| Item { n: *n }).collect()
    }

    fn journal_of(numbers: &[u32]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        Journal::open(&path).unwrap().append(&items(numbers)).unwrap();
        (folder, path)
    }

    #[test]
    fn items_come_back_in_order() {
        let (_folder, path) = journal_of(&[1, 2]);
        let mut journal = Journal::open(&path).unwrap();
        journal.append::<Item>(&[]).unwrap();
        journal.append(&items(&[3])).unwrap();
        assert_eq!(read_journal(&path).unwrap(), JournalRead { items: items(&[1, 2, 3]), skipped: 0 });
    }

    #[test]
    fn every_line_is_json_with_a_guard_as_its_last_key() {
        let (_folder, path) = journal_of(&[1, 2]);
        let text = fs_err::read_to_string(&path).unwrap();
        for (line, n) in text.lines().zip(1..) {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let digits: String = blake3::hash(format!("{{\"n\":{n}").as_bytes()).to_hex().chars().take(8).collect();
            assert_eq!(value, serde_json::json!({ "n": n, "check": digits }));
            assert!(line.ends_with(&format!(",\"check\":\"{digits}\"}}")), "{line}");
        }
    }

    #[test]
    fn a_line_that_was_changed_in_any_byte_is_skipped_and_the_others_stay() {
        let (_folder, path) = journal_of(&[1, 2, 3]);
        let sound = fs_err::read(&path).unwrap();
        let line = sound.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for at in line..2 * line {
            for flip in [1_u8, 0x20, 0x80] {
                let mut bytes = sound.clone();
                bytes[at] ^= flip;
                fs_err::write(&path, &bytes).unwrap();
                let read = read_journal::<Item>(&path).unwrap();
                let whole = read.items.iter().filter(|item| item.n != 2).count();
                // the line feed itself takes the next line along; one amid the line makes two bad ones of it
                assert_eq!(read.items.len(), whole, "byte {at} ^ {flip}: {read:?}");
                assert!(read.skipped >= 1 && whole >= 1, "byte {at} ^ {flip}: {read:?}");
                assert!(whole == 2 || at == 2 * line - 1, "byte {at} ^ {flip}: {read:?}");
            }
        }
    }

    #[test]
    fn lines_of_an_older_version_have_no_guard_and_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        fs_err::write(&path, "{\"n\":1}\n{\"n\":2}\n").unwrap();
        assert_eq!(read_journal(&path).unwrap(), JournalRead { items: items(&[1, 2]), skipped: 0 });
    }

    #[test]
    fn a_torn_line_is_counted_and_does_not_spoil_what_is_appended_later() {
        let (_folder, path) = journal_of(&[1]);
        let mut text = fs_err::read_to_string(&path).unwrap();
        text.push_str("{\"n\":7,\"che");
        fs_err::write(&path, text).unwrap();
        Journal::open(&path).unwrap().append(&items(&[2])).unwrap();
        assert_eq!(read_journal(&path).unwrap(), JournalRead { items: items(&[1, 2]), skipped: 1 });
    }

    #[test]
    fn zeros_that_a_power_cut_leaves_are_one_skipped_line() {
        let (_folder, path) = journal_of(&[1]);
        let mut bytes = fs_err::read(&path).unwrap();
        bytes.extend([0; 4096]);
        fs_err::write(&path, bytes).unwrap();
        Journal::open(&path).unwrap().append(&items(&[2])).unwrap();
        assert_eq!(read_journal(&path).unwrap(), JournalRead { items: items(&[1, 2]), skipped: 1 });
    }

    #[test]
    fn what_is_no_object_is_refused_before_anything_is_written() {
        let (_folder, path) = journal_of(&[1]);
        let before = fs_err::read(&path).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        assert!(journal.append(&[7]).is_err());
        assert!(journal.append(&[std::collections::BTreeMap::<String, u32>::new()]).is_err());
        assert_eq!(fs_err::read(&path).unwrap(), before);
    }

    #[test]
    fn a_line_beyond_the_bound_is_skipped_without_being_kept() {
        let long = |digit: &str| format!("{{\"n\":{}}}", digit.repeat(100));
        let text = format!("{{\"n\":1}}\n{}\n{{\"n\":2}}\n{}", long("9"), long("7"));
        let small = BufReader::with_capacity(7, text.as_bytes());
        assert_eq!(read_lines(small, 10).unwrap(), JournalRead { items: items(&[1, 2]), skipped: 2 });
    }

    #[test]
    fn an_absent_journal_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let read = read_journal::<Item>(&folder.path().join("records.jsonl")).unwrap();
        assert_eq!(read, JournalRead { items: Vec::new(), skipped: 0 });
    }
}
