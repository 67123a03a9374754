//! Append-only files of JSON lines. A line is written whole in one call; a torn or corrupt line is
//! skipped and counted when the file is read.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest line that is read, in bytes.
const LONGEST_LINE: usize = crate::catalog::limits::JOURNAL_LINE;

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
        let mut file = fs_err::OpenOptions::new().create(true).append(true).read(true).open(path)?;
        let torn = ends_within_a_line(&mut file)?;
        Ok(Self { file, buffer: Vec::new(), torn })
    }

    /// Appends the items, one line each, in a single write; they are in the file when this returns.
    pub fn append<T: Serialize>(&mut self, items: &[T]) -> io::Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        self.buffer.clear();
        if self.torn {
            self.buffer.push(b'\n');
        }
        for item in items {
            serde_json::to_writer(&mut self.buffer, item)?;
            self.buffer.push(b'\n');
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
    /// Lines that were torn, corrupt or longer than 16 MiB.
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
    let mut line = Vec::new();
    while let Some(fits) = next_line(&mut reader, &mut line, longest)? {
        match serde_json::from_slice(&line) {
            Ok(item) if fits => read.items.push(item),
            Ok(_) | Err(_) => read.skipped += 1,
        }
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
    use super::*;

    #[test]
    fn items_come_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        journal.append(&[1, 2]).unwrap();
        journal.append::<u32>(&[]).unwrap();
        journal.append(&[3]).unwrap();
        assert_eq!(read_journal::<u32>(&path).unwrap(), JournalRead { items: vec![1, 2, 3], skipped: 0 });
    }

    #[test]
    fn a_torn_line_is_counted_and_does_not_spoil_what_is_appended_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        fs_err::write(&path, "1\n\"half a li").unwrap();
        Journal::open(&path).unwrap().append(&[2]).unwrap();
        assert_eq!(read_journal::<u32>(&path).unwrap(), JournalRead { items: vec![1, 2], skipped: 1 });
    }

    #[test]
    fn a_line_beyond_the_bound_is_skipped_without_being_kept() {
        let text = format!("1\n{}\n2\n{}", "9".repeat(100), "7".repeat(100));
        let small = BufReader::with_capacity(7, text.as_bytes());
        assert_eq!(read_lines::<u32>(small, 10).unwrap(), JournalRead { items: vec![1, 2], skipped: 2 });
    }

    #[test]
    fn an_absent_journal_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let read = read_journal::<u32>(&folder.path().join("records.jsonl")).unwrap();
        assert_eq!(read, JournalRead { items: Vec::new(), skipped: 0 });
    }
}
