//! A table of requests: JSON lines or CSV → rows. Unlike a trace, which was recorded by a program, it
//! was written by the person who runs it, so that a row that cannot be used is an error.

use super::files::DataFile;
use super::intake::Intake;
use super::rows;

/// Reads the rows of a table, and gives the number of its comment lines. Rows that cannot be used are
/// left with `intake`; an error is a file that is no table.
pub(super) fn read(files: &[DataFile], intake: &mut Intake<'_>) -> Result<u64, Vec<String>> {
    let mut comments = 0;
    let mut faults = Vec::new();
    for file in files {
        match rows::of_table(file, &mut |row| intake.line(file, row.line, row.fields)) {
            Ok(found) => comments += found,
            Err(message) => faults.push(message),
        }
    }
    if faults.is_empty() { Ok(comments) } else { Err(faults) }
}
