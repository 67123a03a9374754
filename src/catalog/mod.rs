//! Facts about the field, with no input or output: tasks, endpoints and the request fields each
//! endpoint reads, legacy spellings, parallel degrees and their serve flags, metric names, and the
//! closed sets (error classes, flags, warnings, tables) that records, schemas and summaries share.

mod api;
mod fault;
mod fields;
pub mod limits;
mod metric;
mod outcome;
mod parallel;
pub mod schemas;
mod table;
mod task;

pub use api::{Api, SYNC_VIDEO_PATH, Spelling, takes_video_reference};
pub(crate) use fault::each_fault;
pub use fault::{FaultFamily, FaultKind, FaultRule};
pub use fields::{FieldKind, FieldSpec, REFERENCE_COLUMNS, advice, field, fields, is_known_field};
pub use metric::{Direction, METRICS, MetricSpec, Unit, metric};
pub use outcome::{ErrorClass, Flag, Validity, WarningKind};
pub use parallel::{DEGREES, DegreeSpec};
pub use table::TableKind;
pub use task::{Medium, Task};
