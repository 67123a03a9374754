//! Numbers → text: one table model, rendered to Markdown, CSV, JSON and the terminal, and the
//! dashboard page around it. Pure: the same input gives the same bytes. Reads and writes no files.

mod caption;
mod comparison;
mod csv;
mod figures;
mod json;
mod junit;
mod markdown;
mod number;
mod official;
mod page;
mod sections;
mod table;
mod terminal;
mod text;
mod verdict;
mod work;

pub use self::csv::csv;
pub use self::json::json;
pub use comparison::{
    comparison_html, comparison_markdown, comparison_terminal, self_test_html, self_test_markdown, self_test_terminal,
};
pub use junit::verdict_junit;
pub use markdown::markdown;
pub use page::{MarkerProblem, PageError, PageFacts, page};
pub use terminal::terminal;
pub use verdict::{verdict_markdown, verdict_terminal};
