//! How late requests were sent, counted in fixed buckets, so that runs can be laid over each other.

use super::row::Row;
use super::types::LatenessBucket;

/// Upper ends of the buckets in microseconds, three to a decade.
const ENDS_US: [u64; 14] =
    [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000];

/// The requests that were sent, by how much later than due; nothing when none was.
pub(super) fn buckets(records: &[Row]) -> Vec<LatenessBucket> {
    let ends = ENDS_US.into_iter().map(Some).chain([None]);
    let mut buckets: Vec<LatenessBucket> = ends
        .map(|end_us| LatenessBucket { up_to_ms: end_us.map(|us| super::sample::seconds(us) * 1e3), requests: 0 })
        .collect();
    let late = records.iter().filter_map(|record| Some(record.sent_us()?.saturating_sub(record.due_us)));
    let mut sent = false;
    for late_us in late {
        sent = true;
        let place = ENDS_US.partition_point(|end_us| *end_us < late_us);
        if let Some(bucket) = buckets.get_mut(place) {
            bucket.requests += 1;
        }
    }
    if sent { buckets } else { Vec::new() }
}

/// The buckets that hold requests, in words: `2 up to 0.05 ms, 1 above 1000 ms`.
pub(super) fn told(buckets: &[LatenessBucket]) -> String {
    let last = ENDS_US.last().map_or(0.0, |us| super::sample::seconds(*us) * 1e3);
    let held = buckets.iter().filter(|bucket| bucket.requests > 0).map(|bucket| match bucket.up_to_ms {
        Some(ms) => format!("{} up to {ms} ms", bucket.requests),
        None => format!("{} above {last} ms", bucket.requests),
    });
    held.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sent_request_is_in_the_bucket_that_its_lateness_ends_in() {
        let row = |sent_us: Option<u64>| Row::from(&record(sent_us));
        let rows = [row(Some(10)), row(Some(60)), row(Some(61)), row(Some(2_000_000)), row(None)];
        let buckets = buckets(&rows);
        assert_eq!(buckets.iter().map(|bucket| bucket.requests).sum::<u64>(), 4);
        assert_eq!(told(&buckets), "2 up to 0.05 ms, 1 up to 0.1 ms, 1 above 1000 ms");
        assert!(super::buckets(&[row(None)]).is_empty());
    }

    /// Due at 10 µs.
    fn record(sent_us: Option<u64>) -> crate::record::Record {
        serde_json::from_value(serde_json::json!({
            "index": 0, "row": 0, "class": "c", "request_id": "r", "status": "cancelled", "due_us": 10, "done_us": 20,
            "sent_us": sent_us, "polls": [], "bytes": 0, "outputs": [], "flags": [], "stage_ms": {}, "attempts": 1,
            "asked": {"width": null, "height": null, "num_inference_steps": null, "num_frames": null, "fps": null, "n": 1},
        }))
        .unwrap()
    }
}
