//! The cost model: modelled seconds and memory of one request as a function of its shape and the
//! layout. Never a table of shapes.
//!
//! ```text
//! seconds = fixed
//!         + steps × (per_step + per_mpf·(MP·frame) + per_mp2f·(MP²·frame)) ÷ efficiency
//!         + decode_per_mpf·(MP·frame) ÷ VAE degree
//! ```

use super::settings::{Layout, Settings};

/// Exponents of the layout's efficiency: a degree `d` of an axis speeds the steps up `d^exponent` times.
///
/// 2^0.9 · 2^0.65 = 2.93 is close to the 2.87 that the August 2026 CI baselines of Qwen-Image at 1536² show
/// on H100 between one GPU (23.599 s) and cfg 2 × ulysses 2 (8.2211 s). Guidance branches exchange one tensor
/// a step and scale best; Ulysses moves activations twice a layer, ring and tensor parallelism more often.
const CFG_EXPONENT: f64 = 0.9;
const ULYSSES_EXPONENT: f64 = 0.65;
const RING_EXPONENT: f64 = 0.6;
const TENSOR_EXPONENT: f64 = 0.6;
/// A pipeline overlaps little of one request's work.
const PIPELINE_EXPONENT: f64 = 0.3;
/// Gathering sharded weights layer by layer costs a few per cent of a step.
const HSDP_FACTOR: f64 = 1.03;
/// Edit pipelines resize every reference picture to about this area and attend to it beside the output.
const REFERENCE_MEGAPIXELS: f64 = 1.0;

/// The constants of one model on one GPU.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Profile {
    /// Name in settings.
    pub(crate) name: &'static str,
    /// Text encoding and bookkeeping, in seconds.
    pub(crate) fixed_s: f64,
    /// Seconds per step whatever the size.
    pub(crate) per_step_s: f64,
    /// Seconds per step and megapixel·frame.
    pub(crate) per_mpf_s: f64,
    /// Seconds per step and megapixel²·frame: attention.
    pub(crate) per_mp2f_s: f64,
    /// Seconds of decoding per megapixel·frame.
    pub(crate) decode_per_mpf_s: f64,
    /// What each further member of a batch adds to a step, as a share of the step alone.
    pub(crate) member_share: f64,
    /// Memory that is on every GPU, in MB.
    pub(crate) resident_mb: f64,
    /// Weights that tensor parallelism and HSDP spread over GPUs, in MB.
    pub(crate) sharded_mb: f64,
    /// Memory of decoding per megapixel·frame, in MB.
    pub(crate) decode_mb_per_mpf: f64,
    /// What is made when a request does not say.
    pub(crate) defaults: Defaults,
}

/// Shape of a request that does not say one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defaults {
    /// Picture size.
    pub(crate) image: (u32, u32),
    /// Denoising steps of a picture.
    pub(crate) image_steps: u32,
    /// Video size.
    pub(crate) video: (u32, u32),
    /// Denoising steps of a video.
    pub(crate) video_steps: u32,
    /// Frames of a video.
    pub(crate) frames: u32,
}

/// The shape of one request: requests of equal shape are of one class and may share steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Width in pixels.
    pub(crate) width: u32,
    /// Height in pixels.
    pub(crate) height: u32,
    /// Denoising steps.
    pub(crate) steps: u32,
    /// Frames; 1 for a picture.
    pub(crate) frames: u32,
    /// Pictures or videos made at once.
    pub(crate) outputs: u32,
    /// Reference pictures that the steps attend to; a video's references replace frames and add nothing.
    pub(crate) references: u32,
}

/// Modelled seconds of one request that has the server to itself, by stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// Before the first step.
    pub(crate) encode_s: f64,
    /// One step.
    pub(crate) step_s: f64,
    /// Number of steps.
    pub(crate) steps: u32,
    /// After the last step.
    pub(crate) decode_s: f64,
}

impl Cost {
    /// The whole request.
    pub(crate) fn total_s(&self) -> f64 {
        self.encode_s + f64::from(self.steps) * self.step_s + self.decode_s
    }

    /// The same request, slower or faster by a factor.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            encode_s: self.encode_s * factor,
            step_s: self.step_s * factor,
            decode_s: self.decode_s * factor,
            ..self
        }
    }
}

/// How many times faster than one GPU the layout takes a step.
fn efficiency(layout: &Layout) -> f64 {
    let axes = [
        (layout.cfg, CFG_EXPONENT),
        (layout.ulysses, ULYSSES_EXPONENT),
        (layout.ring, RING_EXPONENT),
        (layout.tensor, TENSOR_EXPONENT),
        (layout.pipeline, PIPELINE_EXPONENT),
    ];
    let gain: f64 = axes.iter().map(|(degree, exponent)| f64::from((*degree).max(1)).powf(*exponent)).product();
    if layout.hsdp { gain / HSDP_FACTOR } else { gain }
}

impl Profile {
    /// Cost of a request alone on the layout.
    pub(crate) fn cost(&self, layout: &Layout, shape: &Shape) -> Cost {
        let frames = f64::from(shape.frames);
        let outputs = f64::from(shape.outputs);
        let made = megapixels(shape);
        let references = if shape.frames > 1 { 0.0 } else { f64::from(shape.references) * REFERENCE_MEGAPIXELS };
        let seen = made + references;
        let step = self.per_step_s + self.per_mpf_s * seen * frames + self.per_mp2f_s * seen * seen * frames;
        let several = 1.0 + self.member_share * (outputs - 1.0).max(0.0);
        Cost {
            encode_s: self.fixed_s,
            step_s: step * several / efficiency(layout),
            steps: shape.steps,
            decode_s: self.decode_per_mpf_s * made * frames * outputs / f64::from(layout.vae_patch.max(1)),
        }
    }

    /// Peak reserved memory of one GPU, in MB: what every GPU holds, plus the weights over tensor degree (and,
    /// with HSDP, over the GPUs of one replica), plus decoding over the VAE degree. A batch decodes one member
    /// after the other and so peaks no higher.
    pub(crate) fn peak_memory_mb(&self, layout: &Layout, shape: &Shape) -> f64 {
        let shards =
            if layout.hsdp { f64::from(layout.cfg) * f64::from(layout.ulysses) * f64::from(layout.ring) } else { 1.0 };
        let decode = self.decode_mb_per_mpf * megapixels(shape) * f64::from(shape.frames);
        self.resident_mb
            + self.sharded_mb / (f64::from(layout.tensor) * f64::from(layout.pipeline) * shards)
            + decode / f64::from(layout.vae_patch)
    }
}

fn megapixels(shape: &Shape) -> f64 {
    f64::from(shape.width) * f64::from(shape.height) / 1e6
}

/// Modelled seconds of one request that has the server to itself.
///
/// # Errors
/// Settings that [`Settings::check`] refuses.
pub fn request_seconds(settings: &Settings, width: u32, height: u32, steps: u32, frames: u32) -> Result<f64, String> {
    settings.check()?;
    if settings.null {
        return Ok(0.0);
    }
    let shape = Shape { width, height, steps, frames: frames.max(1), outputs: 1, references: 0 };
    Ok(settings.cost_profile()?.cost(&settings.layout, &shape).total_s())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(model: &str, layout: Layout) -> Settings {
        Settings { model: model.into(), layout, ..Settings::default() }
    }

    fn qwen() -> Settings {
        server("Qwen/Qwen-Image", Layout { cfg: 2, ulysses: 2, ..Layout::default() })
    }

    fn wan(vae_patch: u32) -> Settings {
        let layout = Layout { cfg: 2, ulysses: 2, hsdp: true, vae_patch, ..Layout::default() };
        server("Wan-AI/Wan2.2-T2V-A14B-Diffusers", layout)
    }

    fn near(value: f64, published: f64, share: f64) {
        assert!((value / published - 1.0).abs() <= share, "{value} is not within {share} of {published}");
    }

    /// Mean and P99 (linear interpolation between the two largest of ten).
    fn mixed(seconds: &[(usize, f64)]) -> (f64, f64) {
        let mut all: Vec<f64> = seconds.iter().flat_map(|(count, s)| std::iter::repeat_n(*s, *count)).collect();
        all.sort_by(f64::total_cmp);
        assert_eq!(all.len(), 10);
        (all.iter().sum::<f64>() / 10.0, all[8] + (all[9] - all[8]) * 0.91)
    }

    #[test]
    fn qwen_image_on_cfg_2_ulysses_2_costs_what_the_dashboard_says() {
        let seconds = |side: u32, steps: u32| request_seconds(&qwen(), side, side, steps, 1).unwrap();
        near(seconds(512, 20), 2.2087, 0.05);
        near(seconds(1536, 35), 19.6739, 0.05);
        let (mean, p99) =
            mixed(&[(3, seconds(512, 20)), (2, seconds(768, 20)), (4, seconds(1024, 25)), (1, seconds(1536, 35))]);
        near(mean, 5.67259, 0.03);
        near(p99, 18.6234, 0.03);
    }

    #[test]
    fn wan_2_2_costs_what_the_dashboard_says_with_and_without_vae_parallelism() {
        let published = [
            (1, 24.6766, 124.6639, 79.2175, 124.2565), //
            (4, 21.6810, 117.44, 74.4977, 117.710),
        ];
        for (vae, small, large, mean, p99) in published {
            let seconds = |w, h, steps, frames| request_seconds(&wan(vae), w, h, steps, frames).unwrap();
            let (a, middle, b) = (seconds(854, 480, 3, 80), seconds(854, 480, 4, 120), seconds(1280, 720, 6, 80));
            near(a, small, 0.05);
            near(b, large, 0.05);
            let (modelled_mean, modelled_p99) = mixed(&[(3, a), (2, middle), (5, b)]);
            near(modelled_mean, mean, 0.05);
            near(modelled_p99, p99, 0.05);
        }
    }

    #[test]
    fn every_axis_helps_the_stage_it_works_on_and_no_other() {
        let cost = |layout: Layout| {
            let shape = Shape { width: 1024, height: 1024, steps: 20, frames: 1, outputs: 1, references: 0 };
            qwen().cost_profile().unwrap().cost(&layout, &shape)
        };
        let alone = cost(Layout::default());
        let vae = cost(Layout { vae_patch: 4, ..Layout::default() });
        near(alone.decode_s / vae.decode_s, 4.0, 1e-9);
        assert_eq!(alone.step_s.to_bits(), vae.step_s.to_bits());
        for layout in [
            Layout { cfg: 2, ..Layout::default() },
            Layout { ulysses: 2, ..Layout::default() },
            Layout { ring: 2, ..Layout::default() },
            Layout { tensor: 2, ..Layout::default() },
            Layout { pipeline: 2, ..Layout::default() },
        ] {
            let faster = cost(layout);
            assert!(faster.step_s < alone.step_s && faster.step_s > alone.step_s / 2.0);
            assert_eq!(faster.encode_s.to_bits(), alone.encode_s.to_bits());
        }
        assert_eq!(cost(Layout { data: 4, ..Layout::default() }), alone);
    }

    #[test]
    fn memory_follows_the_published_peaks() {
        let square = |side| Shape { width: side, height: side, steps: 20, frames: 1, outputs: 1, references: 0 };
        let one = server("Qwen/Qwen-Image", Layout::default());
        let profile = one.cost_profile().unwrap();
        near(profile.peak_memory_mb(&one.layout, &square(512)), 55_121.0, 0.02);
        near(profile.peak_memory_mb(&one.layout, &square(1536)), 65_118.0, 0.02);
        let wan_shape = |width, height, frames| Shape { width, height, steps: 4, frames, outputs: 1, references: 0 };
        let profile = wan(1).cost_profile().unwrap();
        let sharded = Layout { ulysses: 2, vae_patch: 2, hsdp: true, ..Layout::default() };
        near(profile.peak_memory_mb(&Layout::default(), &wan_shape(832, 480, 81)), 80_548.0, 0.02);
        near(profile.peak_memory_mb(&sharded, &wan_shape(832, 480, 81)), 50_053.7, 0.02);
        near(profile.peak_memory_mb(&sharded, &wan_shape(1280, 720, 121)), 59_718.0, 0.02);
    }

    #[test]
    fn a_profile_is_picked_by_model_or_by_name_and_an_unknown_name_lists_all() {
        assert_eq!(server("Qwen/Qwen-Image-Edit", Layout::default()).cost_profile().unwrap().name, "qwen-image");
        assert_eq!(server("my/model", Layout::default()).cost_profile().unwrap().name, "generic");
        let named = Settings { profile: Some("wan2.2".into()), ..Settings::default() };
        assert_eq!(named.cost_profile().unwrap().name, "wan2.2");
        let unknown = Settings { profile: Some("wan".into()), ..Settings::default() };
        let message = request_seconds(&unknown, 64, 64, 1, 1).unwrap_err();
        assert_eq!(message, "no simulator profile is called `wan`; there are qwen-image, wan2.2, generic");
    }
}
