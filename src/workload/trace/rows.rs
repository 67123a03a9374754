//! The three spellings of a trace: `Request(…)` lines, JSON lines, CSV. Every row carries its line
//! number; a row that cannot be read is kept as a fault, not skipped in silence.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;

use super::literal;

/// One row as written.
pub(super) struct RawRow {
    /// Line in its file, from 1.
    pub(super) line: u64,
    pub(super) fields: Result<IndexMap<String, Value>, String>,
}

/// Columns that stay text in a CSV file whatever they look like.
const TEXT_COLUMNS: [&str; 4] = ["prompt", "text", "negative_prompt", "request_id"];

/// Reads a file's rows. The name's ending tells the spelling, else the first row does.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Vec<RawRow> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match path.extension().and_then(|ext| ext.to_str()) {
        Some("csv") => comma_separated(bytes),
        Some("jsonl" | "ndjson") => lines(bytes, json),
        _ => {
            let first = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).find(|line| !is_skipped(line));
            match first {
                Some(line) if line.starts_with(b"{") => lines(bytes, json),
                _ => lines(bytes, literal::request),
            }
        }
    }
}

fn is_skipped(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"#")
}

fn lines(bytes: &[u8], parse: impl Fn(&str) -> Result<IndexMap<String, Value>, String>) -> Vec<RawRow> {
    (1..)
        .zip(bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii))
        .filter(|(_, text)| !is_skipped(text))
        .map(|(line, text)| {
            let fields = std::str::from_utf8(text).map_err(|_| "the line is not UTF-8".to_owned()).and_then(&parse);
            RawRow { line, fields }
        })
        .collect()
}

fn json(line: &str) -> Result<IndexMap<String, Value>, String> {
    serde_json::from_str(line).map_err(|error| match error.column() {
        0 => format!("not a JSON object: {error}"),
        column => format!("not a JSON object (column {column})"),
    })
}

fn comma_separated(bytes: &[u8]) -> Vec<RawRow> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::Headers).from_reader(bytes);
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => return vec![RawRow { line: 1, fields: Err(format!("the header cannot be read: {error}")) }],
    };
    let mut rows = Vec::new();
    let mut record = csv::StringRecord::new();
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {
                let line = record.position().map_or(line, csv::Position::line);
                let cells = headers.iter().zip(&record).filter(|(_, cell)| !cell.trim().is_empty());
                let fields = cells.map(|(name, cell)| (name.to_owned(), cell_value(name, cell))).collect();
                rows.push(RawRow { line, fields: Ok(fields) });
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
                rows.push(RawRow { line, fields: Err(message) });
            }
        }
    }
    rows
}

/// A cell as number, switch or structure when it spells one, else as text.
fn cell_value(column: &str, cell: &str) -> Value {
    let text = || Value::String(cell.to_owned());
    if TEXT_COLUMNS.contains(&column) {
        return text();
    }
    match cell.trim() {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        trimmed if trimmed.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '{' | '[')) => {
            serde_json::from_str(trimmed).unwrap_or_else(|_| text())
        }
        _ => text(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(name: &str, text: &str) -> Vec<(u64, Option<Value>)> {
        read(Path::new(name), text.as_bytes())
            .into_iter()
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
}
