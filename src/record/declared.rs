//! Declared facts beside detected ones: which keys of `[environment]` mean what a machine can tell, and
//! whether the two can both be true. In: an [`Environment`]. Out: words, and contradictions. A declared
//! fact is never changed: people may know better.

use indexmap::IndexMap;
use serde_json::Value;

use super::environment::{Environment, Gpu, Machine, Role};

/// Facts that a machine tells, with the keys by which people declare them.
const KEYS: &[(&str, &[&str])] = &[
    ("gpu", &["gpu", "gpus", "accelerator", "npu"]),
    ("driver", &["driver", "driver_version", "gpu_driver", "nvidia_driver"]),
    ("cuda", &["cuda", "cuda_version"]),
    ("power_limit", &["power_limit", "gpu_power_limit"]),
    ("interconnect", &["interconnect", "nvlink"]),
    ("cpu", &["cpu", "processor"]),
    ("memory", &["memory", "ram"]),
    ("host", &["host", "hostname"]),
    ("os", &["os", "operating_system"]),
    ("kernel", &["kernel"]),
    ("container", &["container"]),
    ("image_digest", &["image_digest", "digest", "image"]),
];

/// Facts whose words can be held against each other; of the others units and wording differ.
const COMPARABLE: [&str; 4] = ["gpu", "driver", "cuda", "cpu"];

/// The name of the fact that a declared key means; `None` when no machine tells it.
pub fn fact_of(key: &str) -> Option<&'static str> {
    let key = key.to_lowercase();
    KEYS.iter().find(|(_, names)| names.contains(&key.as_str())).map(|(fact, _)| *fact)
}

/// A declared fact that the machine does not bear out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// Key of `[environment]`.
    pub key: String,
    /// What was declared.
    pub declared: String,
    /// What was detected.
    pub detected: String,
}

impl Environment {
    /// Declared facts that cannot be true of the machine that the server ran on. Of a server on another
    /// host, and of a simulator, nothing is known to contradict them.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let Some(machine) = self.machine.as_ref().filter(|machine| machine.role == Role::Server) else {
            return Vec::new();
        };
        let detected = machine.facts();
        let of = |(key, value): (&String, &Value)| {
            let fact = fact_of(key).filter(|fact| COMPARABLE.contains(fact))?;
            let (declared, detected) = (value.as_str()?, detected.get(fact)?);
            contradict(declared, detected).then(|| Contradiction {
                key: key.clone(),
                declared: declared.to_owned(),
                detected: detected.clone(),
            })
        };
        self.environment.iter().filter_map(of).collect()
    }
}

impl Machine {
    /// What was detected, in words, by the name of the fact; what was not is left out.
    pub fn facts(&self) -> IndexMap<&'static str, String> {
        let container = self.container.as_ref().map(|container| {
            let parts = [&container.image, &container.image_id, &container.id];
            let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
            format!("{} {}", container.engine, parts.join(", ")).trim_end().to_owned()
        });
        let cpu = self.cpu.as_ref().map(|cpu| match (self.cpus, self.cpus_available) {
            (Some(all), Some(usable)) if usable < all => {
                format!("{cpu}, {all} logical processors, {usable} of them usable")
            }
            (Some(all), _) => format!("{cpu}, {all} logical processors"),
            (None, _) => cpu.clone(),
        });
        let facts = [
            ("gpu", self.gpus.as_deref().and_then(gpus)),
            ("driver", self.driver.clone()),
            ("cuda", self.cuda.clone()),
            (
                "power_limit",
                self.gpus.as_deref().and_then(|gpus| each(gpus, |gpu| Some(format!("{} W", gpu.power_limit_w?)))),
            ),
            ("interconnect", self.gpus.as_deref().and_then(|gpus| each(gpus, interconnect))),
            ("cpu", cpu),
            ("memory", self.memory_mb.map(|memory| format!("{memory} MiB"))),
            ("host", Some(self.host.clone())),
            ("os", self.os.clone()),
            ("kernel", self.kernel.as_ref().map(|kernel| format!("{kernel}, {}", self.architecture))),
            ("container", container),
            ("image_digest", self.image_digest.clone()),
        ];
        facts.into_iter().filter_map(|(name, fact)| Some((name, fact?))).collect()
    }

    /// The model of the GPUs, each once; `None` when they are not known.
    pub fn gpu_model(&self) -> Option<String> {
        let names = self.gpus.as_deref()?.iter().map(|gpu| gpu.name.as_deref());
        let mut names: Vec<&str> = names.collect::<Option<_>>()?;
        names.dedup();
        (!names.is_empty()).then(|| names.join(" + "))
    }
}

/// `4 × NVIDIA A100-SXM4-80GB (81920 MiB)`.
fn gpus(gpus: &[Gpu]) -> Option<String> {
    let one = |gpu: &Gpu| {
        let memory = gpu.memory_mb.map(|memory| format!(" ({memory} MiB)")).unwrap_or_default();
        Some(format!("{}{memory}", gpu.name.as_ref()?))
    };
    let mut kinds: IndexMap<String, usize> = IndexMap::new();
    for gpu in gpus {
        *kinds.entry(one(gpu)?).or_default() += 1;
    }
    let text: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    (!text.is_empty()).then(|| text.join(", "))
}

fn interconnect(gpu: &Gpu) -> Option<String> {
    let nvlink = match gpu.nvlinks {
        None => None,
        Some(0) => Some("no NVLink".to_owned()),
        Some(links) => Some(format!("NVLink ({links} links)")),
    };
    let parts: Vec<String> = gpu.pcie.clone().into_iter().chain(nvlink).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The words of the GPUs, once when all have the same.
fn each(gpus: &[Gpu], words: impl Fn(&Gpu) -> Option<String>) -> Option<String> {
    let mut all: Vec<String> = gpus.iter().map(words).collect::<Option<_>>()?;
    all.dedup();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Whether two names cannot mean one thing: both hold designations with digits (`H100`, `570.86`), and
/// none of one is, or begins, one of the other.
fn contradict(declared: &str, detected: &str) -> bool {
    let (a, b) = (designations(declared), designations(detected));
    let same = |x: &str, y: &str| x == y || x.strip_prefix(y).is_some_and(|rest| rest.starts_with('.'));
    !a.is_empty() && !b.is_empty() && !a.iter().any(|x| b.iter().any(|y| same(x, y) || same(y, x)))
}

/// The words with digits that name a model or a version; sizes of memory and forms of boards name neither.
fn designations(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).map(|word| word.trim_matches('.'));
    let names = |word: &String| {
        let form = ["sxm", "hbm", "gddr", "pcie"].iter().any(|form| word.starts_with(form));
        word.contains(|c: char| c.is_ascii_digit()) && !form && !word.ends_with("gb") && !word.ends_with("gib")
    };
    words.map(str::to_lowercase).filter(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_thing_do_not_contradict_each_other() {
        let detected = "NVIDIA A100-SXM4-80GB";
        for declared in ["A100", "NVIDIA A100 80GB", "8 x A100-SXM4", "a100 (40GB?)", "some GPU", "80GB"] {
            assert!(!contradict(declared, detected), "{declared}");
        }
        for declared in ["H100", "NVIDIA H100 80GB HBM3", "L40S"] {
            assert!(contradict(declared, detected), "{declared}");
        }
        assert!(contradict("L4", "NVIDIA L40S"));
    }

    #[test]
    fn a_shorter_version_is_the_same_version() {
        assert!(!contradict("570", "570.86.15") && !contradict("12.8", "12.8") && !contradict("CUDA 12", "12.8"));
        assert!(contradict("570.1", "570.86.15") && contradict("57", "570.86.15"));
    }

    #[test]
    fn keys_mean_what_machines_tell() {
        assert_eq!(
            (fact_of("GPU"), fact_of("accelerator"), fact_of("ram")),
            (Some("gpu"), Some("gpu"), Some("memory"))
        );
        assert_eq!(fact_of("attention_backend"), None);
    }

    #[test]
    fn gpus_are_told_by_kind() {
        let gpu = |index: u32, name: &str| Gpu {
            index,
            uuid: None,
            name: Some(name.to_owned()),
            memory_mb: Some(100),
            power_limit_w: Some(400.0),
            pcie: Some("PCIe 4.0 x16".to_owned()),
            nvlinks: Some(12),
        };
        let two = [gpu(0, "A"), gpu(1, "A")];
        assert_eq!(gpus(&two).as_deref(), Some("2 × A (100 MiB)"));
        assert_eq!(each(&two, interconnect).as_deref(), Some("PCIe 4.0 x16, NVLink (12 links)"));
        assert_eq!(gpus(&[]), None);
    }
}
