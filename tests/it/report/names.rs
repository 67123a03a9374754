//! The figures of the clients that people come from, by our names.

use omni_bench::plan::{Plan, SloTarget};
use omni_bench::record::Record;

use super::build::{calibrated, image_plan, in_turn, summary, video, video_plan, with_slo};

/// Names of the clients that people come from, and where their figures are here. Theirs in seconds and
/// ours agree; theirs in ms keep `_ms` here or are the `_s` of the same path.
const BY_OTHER_NAMES: &[(&str, &str)] = &[
    ("duration", "duration_s"),
    ("completed_requests", "completed"),
    ("failed_requests", "failed"),
    ("throughput_qps", "throughput_per_s"),
    ("latency_mean", "latency_s.mean"),
    ("latency_median", "latency_s.p50"),
    ("latency_p50", "latency_s.p50"),
    ("latency_p95", "latency_s.p95"),
    ("latency_p99", "latency_s.p99"),
    ("peak_memory_mb_max", "peak_memory_mb.max"),
    ("peak_memory_mb_mean", "peak_memory_mb.mean"),
    ("peak_memory_mb_median", "peak_memory_mb.median"),
    ("stage_durations_mean", "stage_ms.diffuse.mean"),
    ("stage_durations_p50", "stage_ms.diffuse.p50"),
    ("stage_durations_p99", "stage_ms.diffuse.p99"),
    ("slo_attainment_rate", "slo.attainment"),
    ("slo_met_success", "slo.met"),
    ("slo_scale", "slo.scale"),
    ("request_throughput", "throughput_per_s"),
    ("request_goodput", "goodput_per_s"),
    ("std_e2el_ms", "latency_s.std"),
    ("p90_e2el_ms", "latency_s.p90"),
    ("max_concurrent_requests", "peak_concurrency"),
    ("total_images", "images"),
    ("image_throughput", "images_per_s"),
    ("average_pixels_per_image", "pixels_per_image"),
    ("mean_denoise_step_latency_ms", "denoise_step_ms"),
    ("mean_image_generation_ms", "image_generation_ms.mean"),
    ("median_image_generation_ms", "image_generation_ms.p50"),
    ("std_image_generation_ms", "image_generation_ms.std"),
    ("p99_image_generation_ms", "image_generation_ms.p99"),
    ("total_video_duration_s", "video_duration_s"),
    ("total_video_frames", "video_frames"),
    ("video_throughput", "video_s_per_s"),
    ("mean_video_rtf", "rtf.mean"),
    ("median_video_rtf", "rtf.p50"),
    ("std_video_rtf", "rtf.std"),
    ("p90_video_rtf", "rtf.p90"),
    ("mean_video_generation_ms", "video_generation_ms.mean"),
    ("median_video_generation_ms", "video_generation_ms.p50"),
    ("std_video_generation_ms", "video_generation_ms.std"),
    ("p95_video_generation_ms", "video_generation_ms.p95"),
    ("p99_peak_memory_mb", "peak_memory_mb.p99"),
];

#[test]
fn every_figure_of_the_other_clients_has_its_place_and_is_absent_when_not_measured() {
    let told = |mut records: Vec<Record>| {
        for record in &mut records {
            record.generation_ms = Some(900.0);
            record.peak_memory_mb = Some(1.0);
            record.stage_ms.insert("diffuse".to_owned(), 800.0);
        }
        records
    };
    let scaled = |plan: Plan| with_slo(plan, SloTarget::Scale { factor: 3.0, calibration: 1 });
    let images = told(in_turn(&[1.0; 3]));
    let clips = told(vec![video(0, 0.0, 4.0, 33, 24.0)]);
    let runs =
        [calibrated(&scaled(image_plan(3)), &images, &images[..1]), calibrated(&scaled(video_plan(1)), &clips, &clips)];
    for (theirs, ours) in BY_OTHER_NAMES {
        assert!(runs.iter().any(|run| run.metric(ours).is_some()), "{theirs} → {ours}");
    }
    let (image, video) = (&runs[0], &runs[1]);
    for ours in BY_OTHER_NAMES.iter().map(|(_, ours)| ours) {
        let of_images = ours.starts_with("image") || ours.starts_with("pixels") || ours.starts_with("denoise");
        let of_videos = ours.starts_with("video") || ours.starts_with("rtf");
        assert!(!of_images || video.metric(ours).is_none(), "{ours} of a video");
        assert!(!of_videos || image.metric(ours).is_none(), "{ours} of a picture");
    }
    // nothing told by the server: nothing invented
    let silent = summary(&image_plan(3), &in_turn(&[1.0; 3]));
    for ours in ["peak_memory_mb.max", "image_generation_ms.mean", "denoise_step_ms", "slo.attainment", "goodput_per_s"]
    {
        assert_eq!(silent.metric(ours), None, "{ours}");
    }
}
