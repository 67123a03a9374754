//! Foreign files → scenarios and baselines. In: the text of vLLM-Omni's perf JSON. Out: scenario
//! texts, the data files they need, the figures of the baselines by point of the matrix, and what is
//! odd about the file, each with its place. Writes nothing and plans nothing: who calls it joins the
//! figures with the runs of the plan.

mod document;
mod locate;
mod perf;
mod text;

pub use document::{Findings, Located};
pub use perf::{Imported, ImportedScenario, PerfPoint, PointFigures, vllm_omni_perf};
