//! Which Slurm job a server belongs to, as the job's own environment tells it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts of the job that a server was started in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlurmFacts {
    /// Number of the job, different for every task of an array.
    pub job_id: u32,
    /// Number of its array; null for a job that is in none.
    pub array_job_id: Option<u32>,
    /// Its task in the array.
    pub array_task: Option<u32>,
    /// Node by its name in the cluster.
    pub node: Option<String>,
    /// `CUDA_VISIBLE_DEVICES` as Slurm set it; null when it did not.
    pub cuda_visible_devices: Option<String>,
}

impl SlurmFacts {
    /// From the environment of a job; `None` outside of one.
    pub fn of(lookup: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| lookup(name)?.parse().ok();
        Some(Self {
            job_id: number("SLURM_JOB_ID")?,
            array_job_id: number("SLURM_ARRAY_JOB_ID"),
            array_task: number("SLURM_ARRAY_TASK_ID"),
            node: lookup("SLURMD_NODENAME"),
            cuda_visible_devices: lookup("CUDA_VISIBLE_DEVICES"),
        })
    }

    /// The job as Slurm's own programs name it: `12_3`, or `12` for a job in no array.
    pub fn name(&self) -> String {
        match (self.array_job_id, self.array_task) {
            (Some(array), Some(task)) => format!("{array}_{task}"),
            _ => self.job_id.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_an_array_tells_where_it_is_and_what_it_sees() {
        let environment = [
            ("SLURM_JOB_ID", "14"),
            ("SLURM_ARRAY_JOB_ID", "12"),
            ("SLURM_ARRAY_TASK_ID", "1"),
            ("SLURMD_NODENAME", "n3"),
            ("CUDA_VISIBLE_DEVICES", "2,3"),
        ];
        let of = |known: &[(&str, &str)]| {
            SlurmFacts::of(|name| known.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        let facts = of(&environment).unwrap();
        assert_eq!(facts.name(), "12_1");
        assert_eq!((facts.node.as_deref(), facts.cuda_visible_devices.as_deref()), (Some("n3"), Some("2,3")));
        assert_eq!(of(&environment[..1]).unwrap().name(), "14");
        assert_eq!(of(&environment[3..]), None);
    }
}
