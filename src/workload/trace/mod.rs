//! A recorded trace: files → rows in the order of their time stamps where every row has one, else in
//! the order of the files. Lines that cannot be used are kept apart and counted; nothing is evaluated.

mod literal;

pub(super) use literal::request as request_line;

use super::data::Row;
use super::files::DataFile;
use super::intake::Intake;
use super::rows;

/// Reads the rows of a trace, and gives the number of its comment lines.
pub(super) fn read(files: &[DataFile], intake: &mut Intake<'_>) -> u64 {
    let mut comments = 0;
    for file in files {
        comments += rows::of_trace(file, &mut |row| intake.line(file, row.line, row.fields));
    }
    sort_by_time(&mut intake.rows);
    comments
}

/// Arrivals are replayed in the order in which they happened; rows of equal time keep their order.
fn sort_by_time(rows: &mut [Row]) {
    if rows.iter().all(|row| row.fields.timestamp_s.is_some()) {
        rows.sort_by(|a, b| {
            let stamp = |row: &Row| row.fields.timestamp_s.unwrap_or_default();
            stamp(a).total_cmp(&stamp(b))
        });
    }
}
