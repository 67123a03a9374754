//! Where facts and samples of GPUs come from: the driver's library, or a recording in its place.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::nvml::Driver;
use super::recording::Recording;
use crate::record::{DeviceSource, Gpu, GpuSample};

/// What does not change while a machine is up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Version of the driver.
    pub driver: Option<String>,
    /// CUDA version that the driver supports.
    pub cuda: Option<String>,
    /// GPUs in the driver's order.
    pub gpus: Vec<Gpu>,
    /// What could not be asked, by name, and why.
    #[serde(default)]
    pub undetected: IndexMap<String, String>,
}

/// A reader of devices. Calls may block, so none belongs on a thread that drives load.
pub trait Devices: Debug + Send + Sync {
    /// What kind of reader this is.
    fn source(&self) -> DeviceSource;
    /// Facts of the devices.
    fn facts(&self) -> DeviceFacts;
    /// What they do now; the error is why nothing can be told.
    fn sample(&self) -> Result<Vec<GpuSample>, String>;
}

/// The devices of this machine, or what a test recorded of others; the error is why there are none to ask.
pub fn devices(recording: Option<&Path>) -> Result<Arc<dyn Devices>, String> {
    match recording {
        Some(path) => Ok(Arc::new(Recording::read(path)?)),
        None => Ok(Arc::new(Driver::load()?)),
    }
}
