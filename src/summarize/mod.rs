//! Records → numbers: percentiles, intervals, throughput, media, SLO, per class, warnings. Pure; a
//! summary can be made again from the files at any time. Never reads a clock or the network.

mod types;

pub use types::{
    ClassSummary, Distribution, ErrorCount, Mean99, Memory, NotRun, Percentile, RESULTS_FORMAT, Results, Rtf, Slo,
    StageTime, Summary, Tail, Warning,
};
