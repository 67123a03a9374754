//! What is simulated: the model, its layout, the scheduler's knobs and the time base.

use super::cost::Profile;
use super::profiles;
use crate::catalog::{FaultRule, Task};

/// Parallel degrees of the simulated server; 1 is off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Guidance branches on separate GPUs.
    pub cfg: u32,
    /// Ulysses sequence parallelism.
    pub ulysses: u32,
    /// Ring attention.
    pub ring: u32,
    /// Tensor parallelism.
    pub tensor: u32,
    /// Pipeline parallelism.
    pub pipeline: u32,
    /// Replicas, each with its own slots.
    pub data: u32,
    /// Patch parallelism of the VAE.
    pub vae_patch: u32,
    /// Hybrid sharded weights.
    pub hsdp: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { cfg: 1, ulysses: 1, ring: 1, tensor: 1, pipeline: 1, data: 1, vae_patch: 1, hsdp: false }
    }
}

impl Layout {
    /// The degrees by the name a scenario gives them.
    fn degrees(&self) -> [(&'static str, u32); 7] {
        [
            ("cfg", self.cfg),
            ("ulysses", self.ulysses),
            ("ring", self.ring),
            ("tensor", self.tensor),
            ("pipeline", self.pipeline),
            ("data", self.data),
            ("vae_patch", self.vae_patch),
        ]
    }
}

/// Everything that decides how the simulator answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Model id it serves.
    pub model: String,
    /// What the model does: requests must carry its inputs; `None` takes requests with and without.
    pub task: Option<Task>,
    /// Time base: wall time is modelled time divided by this.
    pub speed: f64,
    /// Parallel layout.
    pub layout: Layout,
    /// Most requests of one batch; they batch only under `step_execution`.
    pub max_num_seqs: u32,
    /// Whether requests of one class share denoising steps.
    pub step_execution: bool,
    /// Whether replies carry stage durations.
    pub profiler: bool,
    /// Cache that reuses results between steps: pictures are a little off, times as without it.
    pub cache_backend: Option<String>,
    /// Cost model by name; `None` takes the one that fits the model.
    pub profile: Option<String>,
    /// Relative spread of service times; 0 is exact.
    pub noise: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// Answer at once, without a cost model.
    pub null: bool,
    /// Draw PNG pictures that compress no better than photographs.
    pub detailed: bool,
    /// Faults to commit.
    pub faults: Vec<FaultRule>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: "Qwen/Qwen-Image".into(),
            task: None,
            speed: 1.0,
            layout: Layout::default(),
            max_num_seqs: 1,
            step_execution: false,
            profiler: false,
            cache_backend: None,
            profile: None,
            noise: 0.0,
            seed: 42,
            null: false,
            detailed: false,
            faults: Vec::new(),
        }
    }
}

impl Settings {
    /// The cost model named, or the one that fits the model id.
    pub(crate) fn cost_profile(&self) -> Result<&'static Profile, String> {
        match &self.profile {
            None => Ok(profiles::fitting(&self.model)),
            Some(name) => profiles::named(name).ok_or_else(|| {
                format!("no simulator profile is called `{name}`; there are {}", profiles::names().join(", "))
            }),
        }
    }

    /// Says what makes the settings unusable.
    ///
    /// # Errors
    /// A speed or spread outside its range, a degree or slot count of 0, impossible faults, an unknown profile.
    pub fn check(&self) -> Result<(), String> {
        if !(self.speed.is_finite() && self.speed > 0.0) {
            return Err(format!("speed must be a number above 0, not `{}`", self.speed));
        }
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            return Err(format!("noise must be a number of at least 0, not `{}`", self.noise));
        }
        if let Some((name, _)) = self.layout.degrees().into_iter().find(|(_, degree)| *degree == 0) {
            return Err(format!("the parallel degree `{name}` must be at least 1"));
        }
        if self.max_num_seqs == 0 {
            return Err("`max-num-seqs` must be at least 1".into());
        }
        FaultRule::check(&self.faults).map_err(|(kind, text)| format!("fault `{kind}`: {text}"))?;
        self.cost_profile().map(|_| ())
    }
}
