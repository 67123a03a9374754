//! Stand-in until `plan::phases` lands.
#![allow(warnings)]
use crate::workload::Request;

#[derive(Debug, Clone, Default)]
pub struct Phases {
    pub warmup: Vec<Request>,
    pub calibration: Vec<Request>,
    pub measured: Vec<Request>,
    pub due_s: Option<Vec<f64>>,
}
