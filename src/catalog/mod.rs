//! Facts about the field, with no input or output: tasks, endpoints and the request fields each
//! endpoint reads, legacy spellings, parallel degrees and their serve flags, metric names, and the
//! closed sets (error classes, flags, warnings) that records, schemas and summaries share.

mod api;
mod fields;
mod metric;
mod outcome;
mod parallel;
mod task;

pub use api::{Api, SYNC_VIDEO_PATH, Spelling};
pub use fields::{FieldKind, FieldSpec, field, fields, is_known_field};
pub use metric::{Direction, METRICS, MetricSpec, Unit, metric};
pub use outcome::{ErrorClass, Flag, Validity, WarningKind};
pub use parallel::{DEGREES, DegreeSpec};
pub use task::{Medium, Task};
