//! Faults that last for a time: a listener that goes away, a server that restarts.

use omni_bench::catalog::{ErrorClass, FaultKind};
use omni_bench::record::{Record, Status};

use super::{Endpoint, Simulated, assert_unharmed, at, told};
use crate::execute::setup::Outcome;

/// A modelled second lasts two, so that a busy machine does not sleep through it.
const SLOWLY: f64 = 0.5;

/// Requests that come one after the other, a twentieth of a second apart, and one long after them. The server is
/// away for two seconds and starts for two more.
async fn through(kind: FaultKind, endpoint: Endpoint, number: u64) -> Outcome {
    let mut due: Vec<f64> = (0..40).map(|index| f64::from(index) * 0.05).collect();
    due.push(15.0);
    let mut setup = endpoint.setup(due.len(), 1);
    setup.due_s = Some(due);
    let server = Simulated::start_at(SLOWLY, vec![at(kind, &[number])]).await;
    let outcome = setup.run_at(&server.url).await;
    server.stop().await;
    outcome
}

fn class(record: &Record) -> Option<ErrorClass> {
    record.error.as_ref().map(|error| error.class)
}

async fn refused(endpoint: Endpoint) {
    let outcome = through(FaultKind::Refused, endpoint, 1).await;
    let name = endpoint.name();
    assert_unharmed(&outcome.records[0], name);
    // the job of the request that drew it cannot be asked for while nobody can connect
    if endpoint != Endpoint::Videos {
        assert_unharmed(&outcome.records[1], name);
    }
    let failed: Vec<&Record> = outcome.records.iter().filter(|record| record.status != Status::Ok).collect();
    assert!(!failed.is_empty(), "{name}");
    for record in failed {
        assert!(matches!(class(record), Some(ErrorClass::Connect | ErrorClass::PollError)), "{}", told(record));
        assert!(told(record).contains("onnection refused"), "{}", told(record));
    }
    assert_unharmed(outcome.records.last().unwrap(), name);
}

async fn restarted(endpoint: Endpoint) {
    let outcome = through(FaultKind::Restart, endpoint, 1).await;
    let name = endpoint.name();
    assert_unharmed(&outcome.records[0], name);
    assert_eq!(class(&outcome.records[1]), Some(ErrorClass::Io), "{name}: {}", told(&outcome.records[1]));
    let classes: Vec<ErrorClass> = outcome.records.iter().filter_map(class).collect();
    let expected = [ErrorClass::Io, ErrorClass::Connect, ErrorClass::HttpStatus];
    assert!(classes.iter().all(|class| expected.contains(class)), "{name}: {classes:?}");
    assert!(classes.contains(&ErrorClass::Connect), "{name}: {classes:?}");
    assert_unharmed(outcome.records.last().unwrap(), name);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_listener_is_away_connections_are_refused_and_nothing_else_is() {
    let [chat, generations, edits, videos, sync] = Endpoint::ALL;
    tokio::join!(refused(chat), refused(generations), refused(edits), refused(videos), refused(sync));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_harms_what_is_in_flight_and_what_comes_before_the_server_is_ready() {
    let [chat, generations, edits, videos, sync] = Endpoint::ALL;
    tokio::join!(restarted(chat), restarted(generations), restarted(edits), restarted(videos), restarted(sync));
}

/// Jobs are in memory: a restart forgets them, and `/health` says when the server is ready again.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_forgets_jobs_and_health_is_503_until_the_server_is_ready() {
    rustls::crypto::ring::default_provider().install_default().ok();
    let server = Simulated::start_at(SLOWLY, vec![at(FaultKind::Restart, &[1])]).await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let form =
        || http.post(format!("{}/v1/videos", server.url)).header("content-type", "application/x-www-form-urlencoded");
    let created = form().body("prompt=a&size=64x64&num_frames=2").send().await.unwrap();
    let job: serde_json::Value = serde_json::from_slice(&created.bytes().await.unwrap()).unwrap();
    let state = format!("{}/v1/videos/{}", server.url, job["id"].as_str().unwrap());
    let status = async |url: String| http.get(url).send().await.map(|reply| reply.status().as_u16()).ok();
    assert_eq!(status(state.clone()).await, Some(200));
    assert!(form().body("prompt=a").send().await.is_err(), "the connection of the call is reset");
    let health = format!("{}/health", server.url);
    let mut seen = Vec::new();
    while seen.last() != Some(&Some(200)) {
        seen.push(status(health.clone()).await);
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        assert!(seen.len() < 6000, "the server came back");
    }
    seen.dedup();
    assert_eq!(seen, [None, Some(503), Some(200)]);
    assert_eq!(status(state).await, Some(404));
    server.stop().await;
}
