//! Numbers → text: one table model, filled by queries and rendered to Markdown, CSV, JSON and the
//! terminal; the dashboard page, charts and the HTML report around it; formats of other programs.
//! Pure: the same input gives the same bytes. Reads and writes no files.

mod benchmark_json;
mod caption;
mod chart;
mod comparison;
mod csv;
mod escape;
mod figures;
mod html;
mod json;
mod junit;
mod markdown;
mod number;
mod official;
mod openmetrics;
mod page;
mod parity;
mod query;
mod sections;
mod source;
mod table;
mod telemetry;
mod terminal;
mod text;
mod verdict;
mod whole;
mod work;

pub use self::chart::{Chart, ChartError, charts};
pub use self::csv::csv;
pub(crate) use self::csv::render as table_csv;
pub use self::json::json;
pub use benchmark_json::{Better, github_action_benchmark};
pub use comparison::{
    comparison_html, comparison_markdown, comparison_terminal, self_test_html, self_test_markdown, self_test_terminal,
};
pub(crate) use escape::{prose, terminal as harmless};
pub use html::{HtmlError, HtmlInput, html};
pub use junit::verdict_junit;
pub use markdown::markdown;
pub use openmetrics::openmetrics;
pub use page::{MarkerProblem, PageError, PageFacts, page};
pub(crate) use page::{PARTS, PageChart, PageSettings, PageTable, adopt, page_with, without_markers};
pub use parity::{ComparisonJson, OutputParity, RunParity};
pub use query::{List, QueryError};
pub(crate) use query::{Query, Wanted, chosen, tabulate};
pub(crate) use sections::escape as html_text;
pub(crate) use source::Source;
pub(crate) use table::Table;
pub use terminal::terminal;
pub use verdict::{verdict_markdown, verdict_terminal};
pub(crate) use whole::{
    FoldersJson, TableJson, Titled, everything_csv, everything_json, everything_markdown, everything_terminal, nothing,
};
