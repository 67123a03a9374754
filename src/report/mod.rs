//! Numbers → text: one table model, rendered to Markdown, CSV, JSON and the terminal, and the
//! dashboard page around it. Pure: the same input gives the same bytes. Reads and writes no files.

mod caption;
mod chart;
mod csv;
mod figures;
mod html;
mod json;
mod markdown;
mod number;
mod official;
mod page;
mod table;
mod terminal;
mod text;
mod work;

pub use self::chart::{Chart, ChartError, charts};
pub use self::csv::csv;
pub use self::json::json;
pub use html::{HtmlError, HtmlInput, html};
pub use markdown::markdown;
pub use page::{MarkerProblem, PageError, PageFacts, page};
pub use terminal::terminal;
