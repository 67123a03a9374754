//! Tables of a page that someone typed → the same page with markers around those that are recognised.
//! Nothing but marker lines is added; what stands in the tables changes only when the page is made again.

use indexmap::IndexMap;

use super::markers::{self, Fence};
use super::{PARTS, PageError, PageSettings};
use crate::catalog::TableKind;

/// A page with its new markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Adopted {
    /// The page.
    pub(crate) page: String,
    /// Line of the old page and name of every table that got markers.
    pub(crate) tables: Vec<(usize, String)>,
    /// Line and kind of those that are recognised and for which no part is left.
    pub(crate) left: Vec<(usize, TableKind)>,
}

/// Puts markers around the tables that are recognised.
pub(crate) fn adopt(page: &str, settings: &PageSettings) -> Result<Adopted, PageError> {
    let own = settings.tables.iter().map(|table| table.name.as_str());
    let known = PARTS.into_iter().chain(TableKind::ALL.iter().map(|kind| kind.name())).chain(own);
    let known: IndexMap<String, String> = known.map(|name| (name.to_owned(), String::new())).collect();
    match markers::replace(page, &known) {
        Ok(_) | Err(PageError::NoMarkers) => {}
        Err(error) => return Err(error),
    }
    let mut taken = markers::names(page);
    let mut adopted = Adopted { page: String::with_capacity(page.len()), tables: Vec::new(), left: Vec::new() };
    let lines: Vec<&str> = page.split_inclusive('\n').collect();
    let end = if page.contains("\r\n") { "\r\n" } else { "\n" };
    let mut place = 0;
    for table in tables(&lines) {
        adopted.add(lines.get(place..table.first).unwrap_or_default());
        let rows = lines.get(table.first..table.last).unwrap_or_default();
        place = table.last;
        let kind = kind(&cells(rows.first().copied().unwrap_or_default()));
        let name = kind.and_then(|kind| free(kind, settings, &taken));
        if let Some(name) = name {
            adopted.wrap(rows, &name, end);
            adopted.tables.push((table.first + 1, name.clone()));
            taken.push(name);
        } else {
            adopted.left.extend(kind.map(|kind| (table.first + 1, kind)));
            adopted.add(rows);
        }
    }
    adopted.add(lines.get(place..).unwrap_or_default());
    Ok(adopted)
}

impl Adopted {
    fn add(&mut self, lines: &[&str]) {
        self.page.extend(lines.iter().copied());
    }

    fn wrap(&mut self, rows: &[&str], name: &str, end: &str) {
        let open_ended = rows.last().is_some_and(|row| !row.ends_with('\n'));
        // a file may begin with a mark of its encoding, which stays the first thing in it
        let bare = rows.first().map_or("", |row| row.trim_start_matches('\u{feff}'));
        let mark = if rows.first().is_some_and(|row| row.len() > bare.len()) { "\u{feff}" } else { "" };
        self.add(&[mark, &format!("{}begin {name} -->{end}{bare}", markers::PREFIX)]);
        self.add(rows.get(1..).unwrap_or_default());
        let (before, after) = if open_ended { (end, "") } else { ("", end) };
        self.add(&[&format!("{before}{}end {name} -->{after}", markers::PREFIX)]);
    }
}

/// The name that a table of this kind gets: of the scenario's own tables first.
fn free(kind: TableKind, settings: &PageSettings, taken: &[String]) -> Option<String> {
    let own = settings.tables.iter().filter(|table| table.kind == kind).map(|table| table.name.as_str());
    let mut names = own.chain([kind.name()]);
    names.find(|name| !taken.iter().any(|other| other == name)).map(str::to_owned)
}

/// Lines of a table, from 0, the last one not included.
struct Lines {
    first: usize,
    last: usize,
}

/// Every table at the margin that is in no code block and in no generated part.
fn tables(lines: &[&str]) -> Vec<Lines> {
    let mut found: Vec<Lines> = Vec::new();
    let (mut fence, mut in_part) = (Fence::default(), false);
    let mut place = 0;
    while let Some(line) = lines.get(place) {
        let in_code = !in_part && fence.holds(place + 1, line);
        if !in_code && let Some(begins) = markers::begins(line) {
            in_part = begins;
        }
        let delimited = lines.get(place + 1).is_some_and(|next| is_delimiter(next, cells(line).len()));
        if in_code || in_part || !line.contains('|') || line.starts_with([' ', '\t', '>']) || !delimited {
            place += 1;
            continue;
        }
        let rows = lines.get(place..).unwrap_or_default().iter().take_while(|line| line.contains('|')).count();
        found.push(Lines { first: place, last: place + rows });
        place += rows;
    }
    found
}

/// The line below a table's heading: a row of dashes with as many cells.
fn is_delimiter(line: &str, columns: usize) -> bool {
    let cells = cells(line);
    let dashes = |cell: &String| {
        let inner = cell.trim_start_matches(':').trim_end_matches(':');
        !inner.is_empty() && inner.chars().all(|c| c == '-')
    };
    columns > 0 && cells.len() == columns && cells.iter().all(dashes)
}

/// The cells of a row, without escaped pipes' backslashes.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim_start_matches('\u{feff}').trim();
    let inner = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match (letter, cells.last_mut()) {
            ('|', _) => cells.push(String::new()),
            ('\\', Some(cell)) => cell.extend(letters.next()),
            (other, Some(cell)) => cell.push(other),
            (_, None) => {}
        }
    }
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// A heading as it is compared: in small letters, without units and decoration.
fn word(heading: &str) -> String {
    let bare = heading.split('(').next().unwrap_or_default().to_lowercase();
    let plain: String = bare.chars().filter(|c| !matches!(c, '*' | '`' | '.' | '_')).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a table with these headings holds; `None` for one that is not recognised.
fn kind(headings: &[String]) -> Option<TableKind> {
    let words: Vec<String> = headings.iter().map(|heading| word(heading)).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let first = words.first().map(String::as_str);
    let concurrency = has(&["max concur", "max concurrency", "concurrency"]);
    let throughput = words.iter().any(|word| word.starts_with("throughput"));
    let mean = has(&["mean", "mean latency", "avg", "average"]);
    let percentile = has(&["p50", "p90", "p95", "p99", "median"]);
    if has(&["dataset configuration", "dataset"]) && concurrency && has(&["mean latency"]) && has(&["p99 latency"]) {
        Some(TableKind::Results)
    } else if concurrency && throughput && mean && percentile {
        Some(TableKind::Envelope)
    } else if first == Some("stage") && mean {
        Some(TableKind::Stages)
    } else if has(&["class"]) && mean {
        Some(TableKind::Classes)
    } else if has(&["steps"]) && mean && percentile {
        Some(TableKind::Sensitivity)
    } else if throughput && !mean && !percentile {
        Some(TableKind::Throughput)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(header: &str) -> Option<TableKind> {
        kind(&cells(header))
    }

    #[test]
    fn headings_of_real_pages_are_recognised() {
        let qwen = "| Dataset Configuration | Max Concur. | CFG | Usp | Tp | VAE Parallel | Mean Latency (s) | P99 Latency (s) |";
        assert_eq!(kind_of(qwen), Some(TableKind::Results));
        assert_eq!(kind_of(&qwen.replace("| Tp |", "| Tp | Hsdp |")), Some(TableKind::Results));
        let envelope =
            "Concurrency | Throughput (clips/hr) | Mean | p50 | p99 | Video seconds per wall second | Peak memory";
        assert_eq!(kind_of(envelope), Some(TableKind::Envelope));
        assert_eq!(
            kind_of("| Resolution | Steps | Concurrency | Mean | P50 | P95 | P99 |"),
            Some(TableKind::Sensitivity)
        );
        assert_eq!(kind_of("| **Stage** | Mean (ms) |"), Some(TableKind::Stages));
        for other in ["| Component | Specification |", "| Metric | Description | Unit |", "| A | B |"] {
            assert_eq!(kind_of(other), None, "{other}");
        }
    }

    #[test]
    fn only_tables_gain_markers_and_every_byte_stays() {
        let header =
            "| Dataset Configuration | Max Concur. | Mean Latency (s) | P99 Latency (s) |\r\n|---|---|---|---|\r\n";
        let page = format!(
            "\u{feff}# Title\r\n```\r\n{header}```\r\n{header}| A | 1 | 2 | 3 |\r\ntext | more\r\n\r\n{header}| B | 1 | 2 | 3 |"
        );
        let adopted = adopt(&page, &PageSettings::default()).unwrap();
        assert_eq!(adopted.tables, [(6, "results".to_owned())]);
        assert_eq!(adopted.left, [(11, TableKind::Results)]);
        let without: String = adopted.page.split_inclusive('\n').filter(|line| !line.contains("omni-bench:")).collect();
        assert_eq!(without, page);
        assert_eq!(adopted.page.matches('\n').count(), adopted.page.matches("\r\n").count());
        // and again: nothing is left to do
        assert_eq!(adopt(&adopted.page, &PageSettings::default()).unwrap().page, adopted.page);
    }

    #[test]
    fn a_table_at_the_very_end_keeps_its_missing_line_end() {
        let page = "| Concurrency | Throughput | Mean | p99 |\n| - | - | - | - |\n| 1 | 2 | 3 | 4 |";
        let adopted = adopt(page, &PageSettings::default()).unwrap().page;
        let marked = format!("<!-- omni-bench:begin envelope -->\n{page}\n<!-- omni-bench:end envelope -->");
        assert_eq!(adopted, marked);
        let marked = adopt(&format!("\u{feff}{page}"), &PageSettings::default()).unwrap().page;
        assert!(marked.starts_with("\u{feff}<!-- omni-bench:begin envelope -->\n| Conc"), "{marked}");
    }
}
