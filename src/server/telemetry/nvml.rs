//! NVIDIA's management library, loaded at run time. On a machine without it there is nothing to ask,
//! and every figure it does not give is absent, never 0.

use std::fmt::Display;

use indexmap::IndexMap;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml, cuda_driver_version_major, cuda_driver_version_minor};

use super::devices::{DeviceFacts, Devices};
use crate::record::{DeviceSource, Gpu, GpuProcess, GpuSample};

/// Links that a GPU can have at most; asking for more is an error that says so.
const MOST_LINKS: u32 = 18;

/// The loaded library.
#[derive(Debug)]
pub(super) struct Driver {
    nvml: Nvml,
}

impl Driver {
    /// Loads the library and asks it whether there is a GPU.
    pub(super) fn load() -> Result<Self, String> {
        let nvml = Nvml::init().map_err(|error| format!("NVML cannot be loaded: {error}"))?;
        match nvml.device_count() {
            Ok(0) => Err("NVML knows no GPU".to_owned()),
            Ok(_) => Ok(Self { nvml }),
            Err(error) => Err(format!("NVML cannot count GPUs: {error}")),
        }
    }

    fn devices(&self) -> Result<Vec<(u32, Device<'_>)>, NvmlError> {
        (0..self.nvml.device_count()?).map(|index| Ok((index, self.nvml.device_by_index(index)?))).collect()
    }
}

impl Devices for Driver {
    fn source(&self) -> DeviceSource {
        DeviceSource::Nvml
    }

    fn facts(&self) -> DeviceFacts {
        let mut asked = Asked::default();
        let driver = asked.keep("driver", self.nvml.sys_driver_version());
        let cuda = asked.keep("cuda", self.nvml.sys_cuda_driver_version());
        let devices = asked.keep("gpu", self.devices()).unwrap_or_default();
        DeviceFacts {
            driver,
            cuda: cuda.map(|cuda| format!("{}.{}", cuda_driver_version_major(cuda), cuda_driver_version_minor(cuda))),
            gpus: devices.iter().map(|(index, device)| gpu(*index, device, &mut asked)).collect(),
            undetected: asked.refused,
        }
    }

    fn sample(&self) -> Result<Vec<GpuSample>, String> {
        let devices = self.devices().map_err(|error| format!("NVML: {error}"))?;
        Ok(devices.iter().map(|(index, device)| look(*index, device)).collect())
    }
}

/// Remembers why the library refused what.
#[derive(Default)]
struct Asked {
    refused: IndexMap<String, String>,
}

impl Asked {
    fn keep<T>(&mut self, name: &str, answer: Result<T, impl Display>) -> Option<T> {
        answer.map_err(|error| self.refused.insert(name.to_owned(), format!("NVML: {error}"))).ok()
    }
}

fn gpu(index: u32, device: &Device<'_>, asked: &mut Asked) -> Gpu {
    let of = |what: &str| format!("GPU {index} {what}");
    let link = |generation: u32, width: u32| format!("PCIe {generation}.0 x{width}");
    let pcie = device.max_pcie_link_gen().and_then(|generation| Ok(link(generation, device.max_pcie_link_width()?)));
    Gpu {
        index,
        uuid: asked.keep(&of("uuid"), device.uuid()),
        name: asked.keep(&of("name"), device.name()),
        memory_mb: asked.keep(&of("memory"), device.memory_info()).map(|memory| memory.total >> 20),
        power_limit_w: asked.keep(&of("power limit"), device.enforced_power_limit()).map(watts),
        pcie: asked.keep(&of("PCIe link"), pcie),
        nvlinks: asked.keep(&of("NVLink"), nvlinks(device)),
    }
}

/// Links that are up. A GPU that has none does not support the question.
fn nvlinks(device: &Device<'_>) -> Result<u32, NvmlError> {
    let mut up = 0;
    for link in 0..MOST_LINKS {
        match device.link_wrapper_for(link).is_active() {
            Ok(active) => up += u32::from(active),
            Err(NvmlError::NotSupported | NvmlError::InvalidArg) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(up)
}

fn look(index: u32, device: &Device<'_>) -> GpuSample {
    GpuSample {
        index,
        memory_mb: device.memory_info().ok().map(|memory| mebibytes(memory.used)),
        utilization: device.utilization_rates().ok().map(|rates| f64::from(rates.gpu) / 100.0),
        power_w: device.power_usage().ok().map(watts),
        energy_j: device.total_energy_consumption().ok().map(|millijoules| real(millijoules) / 1e3),
        processes: device.running_compute_processes().ok().map(|processes| {
            let process = |process: nvml_wrapper::struct_wrappers::device::ProcessInfo| GpuProcess {
                pid: process.pid,
                name: None,
                of_server: None,
                memory_mb: match process.used_gpu_memory {
                    UsedGpuMemory::Used(bytes) => Some(mebibytes(bytes)),
                    UsedGpuMemory::Unavailable => None,
                },
            };
            processes.into_iter().map(process).collect()
        }),
    }
}

fn watts(milliwatts: u32) -> f64 {
    f64::from(milliwatts) / 1e3
}

fn mebibytes(bytes: u64) -> f64 {
    real(bytes) / 1_048_576.0
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a GPU and millijoules of a year are below 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}
