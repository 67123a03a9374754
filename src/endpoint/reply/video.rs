//! The bytes of one video: job content, or the reply of the synchronous endpoint.

use std::io;

use super::capture::Capture;
use super::metrics::{Told, generation_ms, measured};
use super::save::PartFile;
use super::tally::{Counted, Tally};
use crate::catalog::Flag;
use crate::endpoint::types::{JobState, Verdict};
use crate::media::{MediaError, VideoInfo, VideoProbe};
use crate::record::{Asked, Output, OutputKind};

/// Why a body is not a usable video.
#[derive(Debug, thiserror::Error)]
pub(super) enum VideoFault {
    #[error("the video is empty")]
    Empty,
    #[error("the reply is json, not a video: {0}")]
    Json(String),
    #[error("{bytes} bytes that are no video: {error}")]
    Media { bytes: u64, error: MediaError },
    #[error("{0}")]
    Io(io::Error),
}

/// Reads one video.
pub(super) struct VideoReader {
    check: bool,
    probe: VideoProbe,
    tally: Tally,
    /// The body, as long as it may be JSON.
    words: Option<Capture>,
}

impl VideoReader {
    pub(super) fn new(check: bool, file: Option<io::Result<PartFile>>) -> Self {
        Self { check, probe: VideoProbe::new(), tally: Tally::new(file), words: None }
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) {
        if self.tally.bytes() == 0 && matches!(chunk.first(), Some(b'{' | b'[')) {
            self.words = Some(Capture::default());
        }
        if let Some(words) = &mut self.words {
            words.feed(chunk);
        }
        self.probe.feed(chunk);
        self.tally.feed(chunk);
    }

    /// What the container says, if it must be readable or can be read.
    pub(super) fn finish(self, status: u16) -> Result<(Counted, Option<VideoInfo>), VideoFault> {
        let bytes = self.tally.bytes();
        if bytes == 0 {
            return Err(VideoFault::Empty);
        }
        if let Some(message) = self.words.and_then(|words| words.json_message(status)) {
            return Err(VideoFault::Json(message));
        }
        let info = match self.probe.finish() {
            Ok(info) => Some(info),
            Err(error) if self.check => return Err(VideoFault::Media { bytes, error }),
            Err(_) => None,
        };
        Ok((self.tally.finish().map_err(VideoFault::Io)?, info))
    }

    /// Bytes of messages held; the probe keeps the container's index besides.
    pub(super) fn retained(&self) -> usize {
        self.words.as_ref().map_or(0, Capture::retained)
    }
}

/// Frames, rate and length of a video: from the container, else from the job, else from the request,
/// which is flagged. An echoed `seconds` says nothing about the clip and is never used.
pub(super) fn output(
    (blake3, bytes): (String, u64),
    info: Option<VideoInfo>,
    job: Option<&JobState>,
    asked: &Asked,
    flags: &mut Vec<Flag>,
) -> Output {
    let told_frames = info.map(|info| info.frames).filter(|frames| *frames > 0).or(job.and_then(|job| job.num_frames));
    let told_fps = info.and_then(|info| measured(info.fps)).or(job.and_then(|job| job.fps));
    let told_duration = info
        .and_then(|info| measured(info.duration_s))
        .or(job.and_then(|job| job.duration_s))
        .or_else(|| length(told_frames, told_fps));
    let frames = told_frames.or(asked.num_frames.map(u64::from));
    let fps = told_fps.or(asked.fps);
    let duration_s = told_duration.or_else(|| length(frames, fps));
    if (told_frames.is_none() && frames.is_some()) || (told_duration.is_none() && duration_s.is_some()) {
        flags.push(Flag::DurationFromRequest);
    }
    let size = info.filter(|info| info.width > 0 && info.height > 0);
    Output {
        kind: OutputKind::Mp4,
        width: size.map(|info| info.width),
        height: size.map(|info| info.height),
        frames,
        fps,
        duration_s,
        bytes,
        blake3,
    }
}

/// Remarks on a video that is not the one asked for. Rates count as equal within half a percent, so
/// that 23.976 passes for 24.
pub(super) fn compare(made: &Output, asked: &Asked, flags: &mut Vec<Flag>) {
    if let (Some(made), Some(asked)) = (made.frames, asked.num_frames)
        && made != u64::from(asked)
    {
        flags.push(Flag::FramesMismatch);
    }
    if let (Some(made), Some(asked)) = (made.fps, asked.fps)
        && (made - asked).abs() > asked * 0.005
    {
        flags.push(Flag::FpsMismatch);
    }
    // the endpoint gives one video, however many were asked for
    if asked.n > 1 {
        flags.push(Flag::FewerOutputs);
    }
}

/// Joins what headers and job tell about the making: headers first, the larger peak memory. The
/// generation time is the largest `…_gen_ms` stage, else `inference_time_s` (flagged), else the
/// latency that the summary knows (flagged).
pub(super) fn making(verdict: &mut Verdict, told: Told, job: Option<&JobState>) {
    verdict.stage_ms = match job {
        Some(job) if told.stage_ms.is_empty() => job.stage_ms.clone(),
        _ => told.stage_ms,
    };
    let job_memory = job.and_then(|job| job.peak_memory_mb);
    verdict.peak_memory_mb = told.peak_memory_mb.into_iter().chain(job_memory).reduce(f64::max);
    verdict.generation_ms = generation_ms(&verdict.stage_ms);
    if verdict.generation_ms.is_none() {
        let inference_s = told.inference_time_s.or(job.and_then(|job| job.inference_time_s));
        verdict.generation_ms = inference_s.map(|seconds| seconds * 1000.0);
        verdict.flags.push(match inference_s {
            Some(_) => Flag::RtfFromInferenceTime,
            None => Flag::RtfFromLatency,
        });
    }
}

#[expect(clippy::cast_precision_loss, reason = "frame counts are far below 2^52")]
fn length(frames: Option<u64>, fps: Option<f64>) -> Option<f64> {
    let (frames, fps) = (frames?, fps?);
    (frames > 0 && fps > 0.0).then(|| frames as f64 / fps)
}
