//! Append-only files of JSON lines. A line is written whole in one call; a torn or corrupt line is
//! skipped and counted when the file is read.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// An open file of JSON lines.
#[derive(Debug)]
pub struct Journal {
    file: fs_err::File,
    buffer: Vec<u8>,
}

impl Journal {
    /// Opens the file for appending, making it when absent.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file, buffer: Vec::new() })
    }

    /// Appends the items, one line each, in a single write; they are in the file when this returns.
    pub fn append<T: Serialize>(&mut self, items: &[T]) -> io::Result<()> {
        self.buffer.clear();
        for item in items {
            serde_json::to_writer(&mut self.buffer, item)?;
            self.buffer.push(b'\n');
        }
        self.file.write_all(&self.buffer)
    }

    /// Asks the system to put the file on its disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// The readable items of a journal and how many lines were not.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalRead<T> {
    /// Items, in the file's order.
    pub items: Vec<T>,
    /// Lines that were torn or corrupt.
    pub skipped: usize,
}

/// Reads a journal; an absent file holds nothing.
pub fn read_journal<T: DeserializeOwned>(path: &Path) -> io::Result<JournalRead<T>> {
    let mut read = JournalRead { items: Vec::new(), skipped: 0 };
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(read),
        Err(error) => return Err(error),
    };
    for line in BufReader::new(file).split(b'\n') {
        match serde_json::from_slice(&line?) {
            Ok(item) => read.items.push(item),
            Err(_) => read.skipped += 1,
        }
    }
    Ok(read)
}
