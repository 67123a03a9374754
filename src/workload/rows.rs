//! Files → rows as written: `Request(…)` lines, JSON lines, CSV. Every row carries its line number; a
//! row that cannot be read is handed on as a fault, not skipped in silence. Rows go to their taker one
//! by one: together they would need many times the memory of their file.

use indexmap::IndexMap;
use serde_json::Value;

use super::files::DataFile;
use super::trace::request_line;
use crate::catalog::limits;

/// One row as written.
pub(super) struct RawRow {
    /// Line in its file, from 1.
    pub(super) line: u64,
    pub(super) fields: Result<IndexMap<String, Value>, String>,
}

/// Who takes the rows, and says whether to go on.
pub(super) type Taker<'a> = &'a mut dyn FnMut(RawRow) -> bool;

/// Columns that stay text in a CSV file whatever they look like.
const TEXT_COLUMNS: [&str; 4] = ["prompt", "text", "negative_prompt", "request_id"];
/// What a CSV cell holds where a program wrote a number that is none.
const NO_NUMBERS: [&str; 5] = ["nan", "inf", "-inf", "infinity", "-infinity"];

/// Reads the rows of a trace. The file's name tells the spelling, else the first row does. Gives the
/// number of lines skipped as comments; those of CSV files are not counted.
pub(super) fn of_trace(file: &DataFile, take: Taker<'_>) -> u64 {
    of_table(file, take).unwrap_or_else(|_| lines(without_mark(&file.bytes), request_line, take))
}

/// Reads the rows of a table: CSV by its name, else JSON lines by name or first row. Gives the number of
/// comment lines like [`of_trace`]; after an error no row has been taken.
pub(super) fn of_table(file: &DataFile, take: Taker<'_>) -> Result<u64, String> {
    let bytes = without_mark(&file.bytes);
    let extension = file.name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("csv") => {
            comma_separated(bytes, take);
            return Ok(0);
        }
        Some("jsonl" | "ndjson") => return Ok(lines(bytes, json, take)),
        _ => {}
    }
    let first = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).find(|line| !is_skipped(line));
    match first {
        Some(line) if line.starts_with(b"{") => Ok(lines(bytes, json, take)),
        Some(line) if line.starts_with(b"Request(") => {
            Err(format!("`{}` holds `Request(…)` lines: write `source = \"trace\"`", file.name))
        }
        Some(_) => Err(format!("`{}` is neither JSON lines (an object a line) nor, by its name, CSV", file.name)),
        None => Ok(0),
    }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn is_skipped(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"#")
}

fn lines(bytes: &[u8], parse: impl Fn(&str) -> Result<IndexMap<String, Value>, String>, take: Taker<'_>) -> u64 {
    let mut comments = 0;
    for (line, text) in (1..).zip(bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii)) {
        if is_skipped(text) {
            comments += u64::from(!text.is_empty());
            continue;
        }
        let fields = bounded(text)
            .and_then(|text| std::str::from_utf8(text).map_err(|_| "the line is not UTF-8".to_owned()))
            .and_then(&parse);
        if !take(RawRow { line, fields }) {
            break;
        }
    }
    comments
}

/// The line, when it is one that is read.
fn bounded(line: &[u8]) -> Result<&[u8], String> {
    if line.len() <= limits::DATASET_LINE {
        return Ok(line);
    }
    let (length, most) = (line.len(), limits::DATASET_LINE >> 20);
    Err(format!("the line has {length} bytes; the most that is read is {most} MiB (limit `line_length.dataset`)"))
}

fn json(line: &str) -> Result<IndexMap<String, Value>, String> {
    if !line.starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    serde_json::from_str(line).map_err(|error| match limits::json_words(&error) {
        words if words.starts_with("nested") => words,
        _ => format!("not a JSON object (column {})", error.column()),
    })
}

fn comma_separated(bytes: &[u8], take: Taker<'_>) {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::Headers).from_reader(bytes);
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => {
            take(RawRow { line: 1, fields: Err(format!("the header cannot be read: {error}")) });
            return;
        }
    };
    let mut record = csv::StringRecord::new();
    loop {
        let line = reader.position().line();
        let goes_on = match reader.read_record(&mut record) {
            Ok(false) => false,
            Ok(true) => {
                let size = bounded(record.as_slice().as_bytes()).map(drop);
                let line = record.position().map_or(line, csv::Position::line);
                let cells = headers.iter().zip(&record).filter(|(_, cell)| !cell.trim().is_empty());
                let fields = cells.map(|(name, cell)| Ok((name.to_owned(), cell_value(name, cell)?))).collect();
                take(RawRow { line, fields: size.and(fields) })
            }
            Err(error) => {
                let line = error.position().map_or(line, csv::Position::line);
                let message = match error.kind() {
                    csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                        format!("{len} cells where the header has {expected_len}")
                    }
                    csv::ErrorKind::Utf8 { .. } => "the line is not UTF-8".to_owned(),
                    _ => error.to_string(),
                };
                take(RawRow { line, fields: Err(message) })
            }
        };
        if !goes_on {
            return;
        }
    }
}

/// A cell as number, switch or structure when it spells one, else as text.
fn cell_value(column: &str, cell: &str) -> Result<Value, String> {
    let text = || Value::String(cell.to_owned());
    if TEXT_COLUMNS.contains(&column) {
        return Ok(text());
    }
    let trimmed = cell.trim();
    if NO_NUMBERS.iter().any(|none| none.eq_ignore_ascii_case(trimmed)) {
        return Err(format!("`{column}` is `{trimmed}`, which is no number; leave the cell empty"));
    }
    Ok(match trimmed {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        _ if trimmed.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '{' | '[')) => {
            serde_json::from_str(trimmed).unwrap_or_else(|_| text())
        }
        _ => text(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(name: &str, text: &str) -> DataFile {
        DataFile { shown: name.into(), name: name.into(), folder: None, bytes: text.as_bytes().to_vec() }
    }

    /// The rows and the number of comments.
    fn trace(name: &str, text: &str) -> (Vec<RawRow>, u64) {
        let mut rows = Vec::new();
        let comments = of_trace(&file(name, text), &mut |row| {
            rows.push(row);
            true
        });
        (rows, comments)
    }

    fn values(name: &str, text: &str) -> Vec<(u64, Option<Value>)> {
        let rows = trace(name, text).0;
        rows.into_iter()
            .map(|row| (row.line, row.fields.ok().map(|fields| Value::Object(fields.into_iter().collect()))))
            .collect()
    }

    #[test]
    fn comments_and_blank_lines_are_skipped_and_bad_lines_kept_with_their_number() {
        let text =
            "\u{feff}# a trace\n\nRequest(prompt='a')\r\nRequest(prompt=open('x'))\n  # more\nRequest(prompt='b')";
        let expected = [(3, Some(json!({ "prompt": "a" }))), (4, None), (6, Some(json!({ "prompt": "b" })))];
        assert_eq!(values("t.txt", text), expected);
    }

    #[test]
    fn json_lines_are_told_by_name_or_by_their_first_row() {
        let text = "{\"prompt\":\"a\",\"width\":512}\n[1]\n{\"prompt\":NaN}\n";
        let expected = [(1, Some(json!({ "prompt": "a", "width": 512 }))), (2, None), (3, None)];
        assert_eq!(values("t.jsonl", text), expected);
        assert_eq!(values("t.txt", text), expected);
    }

    #[test]
    fn csv_cells_are_typed_and_empty_ones_absent() {
        let text = "prompt,width,slo_ms,flag,lora\n\"a, \"\"b\"\"\nc\",512,1.5e4,true,\"{\"\"name\"\":\"\"x\"\"}\"\n123,,,no,\n1,2\n";
        let expected = [
            (
                2,
                Some(
                    json!({ "prompt": "a, \"b\"\nc", "width": 512, "slo_ms": 15000.0, "flag": true, "lora": { "name": "x" } }),
                ),
            ),
            (4, Some(json!({ "prompt": "123", "flag": "no" }))),
            (5, None),
        ];
        assert_eq!(values("t.csv", text), expected);
    }

    #[test]
    fn no_row_is_read_once_its_taker_has_enough() {
        for (name, text) in [("t.jsonl", "{}\n{}\n{}\n"), ("t.csv", "a\n1\n2,3\n4\n"), ("t.txt", "x\ny\nz\n")] {
            let mut lines = Vec::new();
            of_trace(&file(name, text), &mut |row| {
                lines.push(row.line);
                lines.len() < 2
            });
            assert_eq!(lines.len(), 2, "{name}");
        }
    }

    #[test]
    fn comment_lines_are_counted() {
        assert_eq!(trace("t.txt", "# a\n\n  # b\nRequest(prompt='#')\n").1, 2);
    }

    #[test]
    fn what_is_no_number_is_told_with_its_column() {
        let rows = trace("t.csv", "prompt,seed\nnan,1\na,NaN\n").0;
        assert_eq!(rows[0].fields.as_ref().unwrap()["prompt"], "nan", "a prompt is text");
        assert_eq!(rows[1].fields.as_ref().unwrap_err(), "`seed` is `NaN`, which is no number; leave the cell empty");
    }

    #[test]
    fn tables_are_json_lines_or_csv() {
        let told = |name: &str, text: &str| {
            let mut rows = 0;
            of_table(&file(name, text), &mut |_| {
                rows += 1;
                true
            })
            .map(|_| rows)
        };
        assert_eq!(told("t.data", "# c\n{\"prompt\":\"a\"}\n{}"), Ok(2));
        assert_eq!(told("t.CSV", "prompt\na\n"), Ok(1));
        assert_eq!(told("t.txt", ""), Ok(0));
        assert!(told("t.txt", "Request(prompt='a')").unwrap_err().contains("source = \"trace\""));
        assert!(told("t.json", "[{}]").unwrap_err().contains("neither JSON lines"));
    }
}
