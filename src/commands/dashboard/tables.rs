//! `[dashboard]` of a scenario → what its page is to show, or what is wrong with it.

use std::io::Read as _;

use crate::catalog::{TableKind, limits};
use crate::diagnostic::{KeyPath, Problem};
use crate::report::{PARTS, PageSettings, PageTable, Query, QueryError, Wanted};
use crate::scenario::Scenario;
use crate::scenario::model::{Dashboard, TableSpec};

/// Largest template that is read, in bytes, as for a scenario.
const LARGEST_TEMPLATE: u64 = limits::SCENARIO_BYTES as u64;

/// What the page is to show; links stay relative to a folder that is not known yet.
pub(in crate::commands) fn settings(scenario: &Scenario) -> Result<PageSettings, Vec<Problem>> {
    let Some(dashboard) = &scenario.dashboard else { return Ok(PageSettings::default()) };
    let mut problems = Vec::new();
    let mut tables = Vec::new();
    for (place, spec) in dashboard.tables.iter().enumerate() {
        match table(place, spec) {
            Ok(table) => tables.push(table),
            Err(found) => problems.extend(found),
        }
    }
    let template = template(dashboard).unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    if problems.is_empty() {
        Ok(PageSettings { template, tables, charts: Vec::new(), links: dashboard.links.map(|_| String::new()) })
    } else {
        Err(problems)
    }
}

/// Everything that is wrong with `[dashboard]`, as far as can be told without results.
pub(in crate::commands) fn problems(scenario: &Scenario) -> Vec<Problem> {
    settings(scenario).err().unwrap_or_default()
}

/// The problems of keys that the results of a table do not have.
pub(super) fn mistyped(place: usize, errors: &[QueryError]) -> Vec<Problem> {
    let of = |error: &QueryError| {
        let path = at(place).key(error.list.key()).index(error.place);
        Problem { hint: error.hint.clone(), ..Problem::value(path, error.message.as_str()) }
    };
    errors.iter().map(of).collect()
}

fn at(place: usize) -> KeyPath {
    KeyPath::root().key("dashboard").key("tables").index(place)
}

fn table(place: usize, spec: &TableSpec) -> Result<PageTable, Vec<Problem>> {
    let name = spec.name.clone().unwrap_or_default();
    let mut problems = Vec::new();
    if name != "results" && PARTS.contains(&name.as_str()) {
        let text = format!("`{name}` is a part that every page has; give the table another name");
        problems.push(Problem::value(at(place).key("name"), text));
    }
    let named = name.parse::<TableKind>().ok();
    let Some(kind) = spec.kind.or(named) else {
        let kinds: Vec<String> = TableKind::ALL.iter().map(|kind| format!("`{kind}`")).collect();
        let problem = Problem::value(at(place), "this table needs a `kind`");
        problems.push(problem.hint(format!("there are {}", kinds.join(", "))));
        return Err(problems);
    };
    if let Some(other) = named.filter(|other| *other != kind) {
        let text = format!("a table called `{name}` is of kind `{other}`, not `{kind}`; give it another name");
        problems.push(Problem::value(at(place).key("name"), text));
    }
    let wanted =
        Wanted { kind, columns: &spec.columns, filters: &spec.filters, group_by: &spec.group_by, sort: &spec.sort };
    match Query::new(&wanted) {
        Ok(query) if problems.is_empty() => {
            let title = spec.title.clone().unwrap_or_else(|| kind.title().to_owned());
            Ok(PageTable { name, title, kind, query })
        }
        Ok(_) => Err(problems),
        Err(errors) => {
            problems.extend(mistyped(place, &errors));
            Err(problems)
        }
    }
}

fn template(dashboard: &Dashboard) -> Result<Option<(String, String)>, Problem> {
    let Some(file) = &dashboard.template else { return Ok(None) };
    let at = KeyPath::root().key("dashboard").key("template");
    let read = fs_err::File::open(file).and_then(|opened| {
        let mut text = String::new();
        // a device would never end
        opened.take(LARGEST_TEMPLATE + 1).read_to_string(&mut text).map(|_| text)
    });
    match read {
        Ok(text) if text.len() as u64 > LARGEST_TEMPLATE => {
            let message = format!("`{file}` has more than {LARGEST_TEMPLATE} bytes (limit `scenario_bytes`)");
            Err(Problem::value(at, message))
        }
        Ok(text) => Ok(Some((file.clone(), text))),
        Err(error) => Err(Problem::value(at, error.to_string())),
    }
}
