//! Summaries in an `SQLite` file, and back. In: summaries with where and when they came about. Out: the
//! entries that a filter selects, and one metric of them over time, as data and as an SVG. What belongs
//! to one line of a trend is decided by the run's key and the hardware, never by a name, and simulated
//! figures never join measured ones. Several processes may write at once. Judges nothing, and reads no
//! clock.

mod chart;
mod entry;
mod error;
mod figure;
mod filter;
mod schema;
mod store;
mod trend;

pub(crate) use chart::significant;
pub use chart::{ChartError, trend_svg};
pub use entry::{Entry, Origin};
pub use error::HistoryError;
pub use figure::Figure;
pub(crate) use figure::symbol;
pub use filter::{Condition, ConditionError, Filter};
pub use store::{Added, History};
pub use trend::{Point, Series, TREND_FORMAT, Trend, trend_points};
