//! The families that say what a server does → one sample. vLLM-Omni's own come first; those of the
//! engine below it stand in where it has none.

use std::collections::BTreeMap;

use super::exposition::{Exposition, Sample};
use crate::record::{ServerSample, Total};

/// What families are called before their own name, the one that counts first.
const PREFIXES: [&str; 2] = ["vllm_omni:", "vllm:"];
/// Families of times that are kept of one server.
const MOST: usize = 64;

/// What the metrics tell of the server's work; `None` when they hold no family of these servers.
pub fn server_sample(told: &Exposition) -> Option<ServerSample> {
    let is_ours = |sample: &Sample| PREFIXES.iter().any(|prefix| sample.name.starts_with(prefix));
    told.samples.iter().any(is_ours).then(|| ServerSample {
        running: sum(told, &["num_requests_running"]),
        waiting: sum(told, &["num_requests_waiting"]),
        succeeded: sum(told, &["requests_success_total", "request_success_total"]),
        failed: sum(told, &["requests_failed_total", "request_failed_total"]),
        times: times(told),
    })
}

/// The sum over labels of the first of these names that there is.
fn sum(told: &Exposition, names: &[&str]) -> Option<f64> {
    PREFIXES.iter().flat_map(|prefix| names.iter().map(move |name| format!("{prefix}{name}"))).find_map(|name| {
        let values = told.samples.iter().filter(|sample| sample.name == name && sample.value.is_finite());
        values.map(|sample| sample.value).reduce(|a, b| a + b)
    })
}

/// Histograms and summaries: their sums and counts are what is left of them over a run.
fn times(told: &Exposition) -> BTreeMap<String, Total> {
    let mut found = BTreeMap::new();
    for prefix in PREFIXES {
        for (name, kind) in told.types.range(prefix.to_owned()..) {
            let Some(own) = name.strip_prefix(prefix) else { break };
            if !matches!(kind.as_str(), "histogram" | "summary") || found.len() >= MOST || found.contains_key(own) {
                continue;
            }
            let part = |suffix: &str| sum(told, &[&format!("{own}{suffix}")]);
            if let (Some(sum), Some(count)) = (part("_sum"), part("_count")) {
                found.insert(own.to_owned(), Total { sum, count });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<ServerSample> {
        server_sample(&Exposition::parse(text))
    }

    #[test]
    fn gauges_and_counters_are_summed_over_their_labels() {
        let text = "vllm_omni:num_requests_running{stage=\"0\"} 1\nvllm_omni:num_requests_running{stage=\"1\"} 2\n\
                    vllm_omni:num_requests_waiting NaN\n\
                    vllm_omni:requests_success_total{finished_reason=\"stop\"} 3\n\
                    vllm_omni:requests_success_created{finished_reason=\"stop\"} 1.7e9\n";
        let sample = told(text).unwrap();
        assert_eq!((sample.running, sample.waiting), (Some(3.0), None));
        assert_eq!((sample.succeeded, sample.failed), (Some(3.0), None));
    }

    #[test]
    fn the_engines_own_families_stand_in_where_there_are_no_others() {
        let both = "vllm:num_requests_running 5\nvllm_omni:num_requests_running 1\nvllm:num_requests_waiting 4\n";
        let sample = told(both).unwrap();
        assert_eq!((sample.running, sample.waiting), (Some(1.0), Some(4.0)));
    }

    #[test]
    fn a_histogram_is_its_sum_and_its_count() {
        let text = "# TYPE vllm_omni:diffusion_exec_s histogram\n\
                    vllm_omni:diffusion_exec_s_bucket{le=\"1\"} 1\nvllm_omni:diffusion_exec_s_bucket{le=\"+Inf\"} 2\n\
                    vllm_omni:diffusion_exec_s_sum 3.5\nvllm_omni:diffusion_exec_s_count 2\n\
                    # TYPE vllm_omni:num_requests_running gauge\nvllm_omni:num_requests_running 0\n\
                    # TYPE vllm_omni:torn_s summary\nvllm_omni:torn_s_sum 1\n";
        let times = told(text).unwrap().times;
        assert_eq!(times, BTreeMap::from([("diffusion_exec_s".to_owned(), Total { sum: 3.5, count: 2.0 })]));
    }

    #[test]
    fn metrics_of_another_program_tell_nothing() {
        assert_eq!(told("process_cpu_seconds_total 3\n"), None);
        assert_eq!(told("<html>not found</html>"), None);
    }
}
