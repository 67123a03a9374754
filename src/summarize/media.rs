//! Successful records → pictures, clips, real-time factor, work done, memory and stage times.

use std::collections::BTreeMap;

use super::row::{Made, Row};
use super::sample::{Sample, real, real_u64, seconds};
use super::types::{Mean99, Rtf, StageTime, Summary};
use crate::catalog::{Flag, Medium};
use crate::record::OutputKind;

/// Puts the media figures of the successful records into the summary, whose duration and GPUs are
/// set. Rates are per second of that duration and null without one.
pub(crate) fn fill(summary: &mut Summary, medium: Medium, successes: &[&Row]) {
    let duration_s = summary.duration_s.filter(|duration| *duration > 0.0);
    let per_s = |amount: f64| duration_s.map(|duration| amount / duration);
    let outputs = successes.iter().map(|record| record.outputs().len()).sum::<usize>();
    let total = |of: fn(&Row) -> Option<f64>| {
        // one unknown part would make the sum too small
        successes.iter().map(|record| of(record)).sum::<Option<f64>>()
    };
    match medium {
        Medium::Image => {
            summary.images = Some(outputs as u64);
            summary.images_per_s = per_s(real(outputs));
            summary.pixels_per_image = pixels_per_image(successes);
            summary.denoise_step_ms =
                Sample::of_finite(successes.iter().filter_map(|record| denoise_step_ms(record))).map(|s| s.mean());
            summary.image_generation_ms = generation_times(successes);
        }
        Medium::Video => {
            let frames = successes.iter().map(|record| frames(record)).sum::<Option<u64>>();
            summary.video_duration_s = total(clip_s);
            summary.video_frames = frames;
            summary.video_s_per_s = summary.video_duration_s.and_then(per_s);
            summary.rtf = rtf(successes);
            summary.video_generation_ms = generation_times(successes);
            summary.frames_per_s = frames.map(real_u64).and_then(per_s);
        }
    }
    summary.megapixels_per_s = total(megapixels).and_then(per_s);
    summary.megapixel_steps_per_s = total(megapixel_steps).and_then(per_s);
    summary.outputs_per_hour_per_gpu =
        per_s(real(outputs) * 3600.0).filter(|_| summary.gpus > 0).map(|per_hour| per_hour / f64::from(summary.gpus));
    let memory = successes.iter().filter_map(|record| record.peak_memory_mb()).filter(|memory| *memory > 0.0);
    summary.peak_memory_mb = Sample::of_finite(memory).map(|sample| sample.memory());
    summary.stage_ms = stages(successes);
}

/// Generation time in milliseconds as the server tells it; its latency in disguise does not count.
pub(crate) fn told_generation_ms(record: &Row) -> Option<f64> {
    record.generation_ms().filter(|ms| *ms > 0.0 && !record.has(Flag::RtfFromLatency))
}

fn generation_times(successes: &[&Row]) -> Option<Mean99> {
    Sample::of_finite(successes.iter().filter_map(|record| told_generation_ms(record))).map(|sample| sample.mean99())
}

/// Time per denoising step: the slowest stage that tells it, else generation time by steps.
pub(crate) fn denoise_step_ms(record: &Row) -> Option<f64> {
    let told = record.stage_ms().filter(|(name, ms)| name.ends_with("denoise_step_latency_ms") && *ms > 0.0);
    if let Some(ms) = told.map(|(_, ms)| ms).reduce(f64::max) {
        return Some(ms);
    }
    let steps = record.asked().num_inference_steps.filter(|steps| *steps > 0)?;
    Some(told_generation_ms(record)? / f64::from(steps))
}

fn pixels(output: &Made) -> Option<f64> {
    Some(f64::from(output.of.width?) * f64::from(output.of.height?))
}

fn pixels_per_image(successes: &[&Row]) -> Option<f64> {
    let known = successes.iter().flat_map(|record| record.outputs()).filter_map(pixels);
    Sample::of_finite(known).map(|sample| sample.mean())
}

/// Pixels of one output: its own, else those asked for.
fn output_pixels(record: &Row, output: &Made) -> Option<f64> {
    pixels(output).or_else(|| Some(f64::from(record.asked().width?) * f64::from(record.asked().height?)))
}

/// Frames of one output: its own, else those asked for; a picture has one.
fn output_frames(record: &Row, output: &Made) -> Option<u64> {
    match output.of.kind {
        OutputKind::Mp4 => output.of.frames.or_else(|| record.asked().num_frames.map(u64::from)),
        OutputKind::Png | OutputKind::Jpeg | OutputKind::Webp => Some(1),
    }
}

fn megapixels(record: &Row) -> Option<f64> {
    record
        .outputs()
        .iter()
        .map(|output| Some(output_pixels(record, output)? * real_u64(output_frames(record, output)?) / 1e6))
        .sum()
}

pub(crate) fn megapixel_steps(record: &Row) -> Option<f64> {
    Some(megapixels(record)? * f64::from(record.asked().num_inference_steps?))
}

pub(crate) fn frames(record: &Row) -> Option<u64> {
    record.outputs().iter().map(|output| output_frames(record, output)).sum()
}

/// Length of a record's clips in seconds: container or reply, else frames over rate, first those
/// that came back, then those asked for. `None` when nothing tells it.
pub(crate) fn clip_s(record: &Row) -> Option<f64> {
    record
        .outputs()
        .iter()
        .map(|output| {
            let ratio = |frames: u64, fps: f64| (fps > 0.0).then(|| real_u64(frames) / fps);
            output
                .of
                .duration_s
                .or_else(|| ratio(output.of.frames?, output.of.fps?))
                .or_else(|| ratio(record.asked().num_frames?.into(), record.asked().fps?))
        })
        .sum::<Option<f64>>()
        .filter(|length| *length > 0.0)
}

/// Real-time factor over clips of known length: generation time over clip length. The basis is
/// where the generation time comes from.
fn rtf(successes: &[&Row]) -> Option<Rtf> {
    let mut sources = Vec::new();
    let factors = successes.iter().filter_map(|record| {
        let (factor, source) = realtime_factor(record)?;
        if !sources.contains(&source) {
            sources.push(source);
        }
        Some(factor)
    });
    let sample = Sample::of_finite(factors)?;
    let basis = match sources.as_slice() {
        [one] => *one,
        _ => "mixed",
    };
    let Mean99 { n, mean, std, p50, p90, p95, p99 } = sample.mean99();
    Some(Rtf { n, mean, std, p50, p90, p95, p99, basis: basis.to_owned() })
}

/// Generation time over clip length of one request, and where the generation time comes from.
pub(crate) fn realtime_factor(record: &Row) -> Option<(f64, &'static str)> {
    let (generation_s, source) = match told_generation_ms(record) {
        Some(ms) if record.has(Flag::RtfFromInferenceTime) => (ms / 1e3, "inference_time_s"),
        Some(ms) => (ms / 1e3, "stage"),
        None => (seconds(record.latency_us()?), "latency"),
    };
    Some((generation_s / clip_s(record)?, source))
}

/// Times per stage over the requests that report it; stages may contain each other, so they are
/// never summed.
fn stages(successes: &[&Row]) -> BTreeMap<String, StageTime> {
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, ms) in successes.iter().flat_map(|record| record.stage_ms()) {
        times.entry(name).or_default().push(ms);
    }
    times.into_iter().filter_map(|(name, values)| Some((name.to_owned(), Sample::of_finite(values)?.stage()))).collect()
}
