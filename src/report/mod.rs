//! Numbers → text: one table model, filled by queries and rendered to Markdown, CSV, JSON and the
//! terminal, and the dashboard page around it. Pure: the same input gives the same bytes. Reads and writes no files.

mod caption;
mod csv;
mod escape;
mod figures;
mod json;
mod markdown;
mod number;
mod official;
mod page;
mod query;
mod source;
mod table;
mod terminal;
mod text;
mod whole;
mod work;

pub use self::csv::csv;
pub(crate) use self::csv::render as table_csv;
pub use self::json::json;
pub(crate) use escape::prose;
pub use markdown::markdown;
pub use page::{MarkerProblem, PageError, PageFacts, page};
pub(crate) use page::{PARTS, PageSettings, PageTable, adopt, page_with, without_markers};
pub use query::{List, QueryError};
pub(crate) use query::{Query, Wanted, chosen, tabulate};
pub(crate) use source::Source;
pub(crate) use table::Table;
pub use terminal::terminal;
pub(crate) use whole::{
    FoldersJson, TableJson, Titled, everything_csv, everything_json, everything_markdown, everything_terminal, nothing,
};
