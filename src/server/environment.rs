//! The facts of the machine beside every number: detected, never guessed. In: this machine and its
//! devices. Out: [`Machine`], with a reason for everything that could not be seen. It looks from where
//! omni-bench runs; of a server on another host it sees nothing, and says so.

use std::net::IpAddr;
use std::sync::Arc;

use indexmap::IndexMap;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::container::container;
use super::host_name;
use super::telemetry::{DeviceFacts, Devices};
use crate::record::{GpuLoad, GpuSample, Machine, Role};

/// Where a server is, as far as omni-bench can know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// Its base URL.
    pub url: &'a str,
    /// Whether omni-bench started it.
    pub launched: bool,
    /// Whether it said that it is a simulator.
    pub simulated: bool,
}

impl Place<'_> {
    /// Whose machine this one is. A loopback address may be the end of a tunnel, which nobody can see.
    pub fn role(self) -> Role {
        if self.simulated {
            Role::Simulator
        } else if self.launched || is_here(self.url) {
            Role::Server
        } else {
            Role::Client
        }
    }
}

fn is_here(url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else { return false };
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().map_or_else(
        |_| bare.eq_ignore_ascii_case("localhost") || bare.eq_ignore_ascii_case(&host_name()),
        |address| address.is_loopback(),
    )
}

/// The commit this program was built from, when the build knew it.
pub fn tool_commit() -> Option<&'static str> {
    option_env!("OMNI_BENCH_COMMIT").filter(|commit| !commit.is_empty())
}

/// This machine. `devices` are its GPUs, or why nobody can ask them.
pub fn machine(role: Role, devices: &Result<Arc<dyn Devices>, String>) -> Machine {
    let mut seen = Seen::default();
    let refresh =
        RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()).with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = seen.keep("processor and memory", System::new_with_specifics(refresh));
    let cpus = system.as_ref().map_or(&[][..], System::cpus);
    let brand = cpus.first().map(|cpu| cpu.brand().trim().to_owned()).filter(|brand| !brand.is_empty());
    let memory = system.as_ref().map(System::total_memory).filter(|bytes| *bytes > 0);
    let facts = seen.keep("gpu", devices.as_ref().map(|devices| devices.facts()));
    let DeviceFacts { driver, cuda, gpus, undetected } = facts.clone().unwrap_or_default();
    seen.refused.extend(undetected);
    Machine {
        role,
        host: host_name(),
        os: seen.keep("os", System::long_os_version()),
        kernel: seen.keep("kernel", System::kernel_version()),
        architecture: std::env::consts::ARCH.to_owned(),
        cpu: seen.found("cpu", brand, "the system does not tell the processor's model"),
        cpus: Some(cpus.len() as u64).filter(|count| *count > 0),
        cpus_available: std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        memory_mb: seen.found("memory", memory, "the system does not tell its memory").map(|bytes| bytes >> 20),
        container: seen.found("container", container(), "no sign of one from the inside"),
        image_digest: None,
        devices: devices.as_ref().ok().map(|devices| devices.source()),
        driver,
        cuda,
        gpus: facts.is_some().then_some(gpus),
        background: None,
        undetected: seen.refused,
    }
}

/// Collects reasons beside what was found.
#[derive(Default)]
struct Seen {
    refused: IndexMap<String, String>,
}

impl Seen {
    fn keep<T>(&mut self, name: &str, answer: Result<T, impl ToString>) -> Option<T> {
        answer.map_err(|error| self.refused.insert(name.to_owned(), error.to_string())).ok()
    }

    fn found<T>(&mut self, name: &str, answer: Option<T>, why: &str) -> Option<T> {
        self.keep(name, answer.ok_or(why))
    }
}

/// What the GPUs do before a server is started.
pub fn background(devices: &dyn Devices) -> Result<Vec<GpuLoad>, String> {
    let load = |gpu: &GpuSample| GpuLoad {
        index: gpu.index,
        utilization: gpu.utilization,
        // a sum of nothing is -0
        held_mb: gpu
            .processes
            .as_ref()
            .and_then(|all| all.iter().try_fold(0.0, |sum, process| Some(sum + process.memory_mb?))),
        processes: gpu.processes.as_ref().map(|all| all.len() as u64),
    };
    Ok(devices.sample()?.iter().map(load).collect())
}

/// The digest of a container image that a command names, like `image@sha256:…`.
pub fn image_digest(command: &[String]) -> Option<String> {
    let digest = |word: &String| {
        let hex: String = word.split_once("@sha256:")?.1.chars().take_while(char::is_ascii_hexdigit).collect();
        (hex.len() == 64).then(|| format!("sha256:{hex}"))
    };
    command.iter().find_map(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{DeviceSource, GpuProcess};

    #[derive(Debug)]
    struct Fixed(Vec<GpuSample>);

    impl Devices for Fixed {
        fn source(&self) -> DeviceSource {
            DeviceSource::Recording
        }

        fn facts(&self) -> DeviceFacts {
            let refused = [("GPU 0 power limit".to_owned(), "not supported".to_owned())];
            DeviceFacts { driver: Some("570.1".into()), undetected: refused.into(), ..DeviceFacts::default() }
        }

        fn sample(&self) -> Result<Vec<GpuSample>, String> {
            Ok(self.0.clone())
        }
    }

    #[test]
    fn what_is_not_detected_has_its_reason() {
        let machine = machine(Role::Client, &Err("NVML cannot be loaded".to_owned()));
        assert_eq!(machine.undetected.get("gpu").map(String::as_str), Some("NVML cannot be loaded"));
        assert_eq!((machine.gpus, machine.driver, machine.devices), (None, None, None));
        assert!(machine.container.is_some() || machine.undetected.contains_key("container"));
        assert!(machine.memory_mb.is_none_or(|memory| memory > 0) && machine.cpus.is_some());
        for (found, name) in [(machine.os.is_some(), "os"), (machine.kernel.is_some(), "kernel")] {
            assert_ne!(found, machine.undetected.contains_key(name), "{name}");
        }
    }

    #[test]
    fn what_the_driver_refused_is_named_too() {
        let devices: Result<Arc<dyn Devices>, String> = Ok(Arc::new(Fixed(Vec::new())));
        let machine = machine(Role::Server, &devices);
        assert_eq!(machine.driver.as_deref(), Some("570.1"));
        assert_eq!(machine.gpus, Some(Vec::new()));
        assert!(machine.undetected.contains_key("GPU 0 power limit") && !machine.undetected.contains_key("gpu"));
    }

    #[test]
    fn a_server_is_here_when_it_was_started_here_or_its_address_is() {
        let role = |url: &str| Place { url, launched: false, simulated: false }.role();
        for url in ["http://127.0.0.1:1", "http://localhost:8091", "http://[::1]:1", "http://127.9.9.9"] {
            assert_eq!(role(url), Role::Server, "{url}");
        }
        for url in ["http://10.0.0.1:1", "https://gpu-box.example:1", "not a url"] {
            assert_eq!(role(url), Role::Client, "{url}");
        }
        assert_eq!(role(&format!("http://{}:1", host_name())), Role::Server);
        assert_eq!(Place { url: "http://10.0.0.1:1", launched: true, simulated: false }.role(), Role::Server);
        assert_eq!(Place { url: "http://127.0.0.1:1", launched: true, simulated: true }.role(), Role::Simulator);
    }

    #[test]
    fn only_a_whole_digest_is_one() {
        let words = |image: &str| vec!["docker".to_owned(), "run".to_owned(), image.to_owned()];
        let hex = "0123456789abcdef".repeat(4);
        let named = format!("registry.example/vllm-omni:v1@sha256:{hex}");
        assert_eq!(image_digest(&words(&named)), Some(format!("sha256:{hex}")));
        assert_eq!(image_digest(&words("vllm-omni:v1")), None);
        assert_eq!(image_digest(&words("vllm-omni@sha256:abc")), None);
    }

    #[test]
    fn memory_that_the_driver_does_not_tell_is_no_zero() {
        let process = |memory_mb| GpuProcess { pid: 1, name: None, of_server: None, memory_mb };
        let gpu = |processes| GpuSample { processes, utilization: Some(0.5), ..GpuSample::default() };
        let fixed = Fixed(vec![
            gpu(None),
            gpu(Some(vec![])),
            gpu(Some(vec![process(Some(10.0)), process(Some(5.0))])),
            gpu(Some(vec![process(None)])),
        ]);
        let held: Vec<_> = background(&fixed).unwrap().iter().map(|load| (load.held_mb, load.processes)).collect();
        assert_eq!(held, [(None, None), (Some(0.0), Some(0)), (Some(15.0), Some(2)), (None, Some(1))]);
    }
}
