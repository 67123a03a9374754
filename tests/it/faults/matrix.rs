//! Every fault × every endpoint. Refusals and restarts, which last for a time, are in `outages`.

use std::sync::Arc;
use std::time::Duration;

use omni_bench::catalog::{FaultFamily, FaultKind, FaultRule};
use omni_bench::execute::Stop;
use omni_bench::units::{Limit, Span};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{Endpoint, Simulated, assert_unharmed, at, run, told};
use crate::execute::setup::{Outcome, Setup};
use crate::support::figure;

/// The places where a fault meets a request, by the call whose reply it spoils; none where it cannot.
fn places(kind: FaultKind, endpoint: Endpoint) -> &'static [&'static str] {
    let whole: &[&str] = &["reply"];
    match (endpoint, kind.family()) {
        (Endpoint::Videos, FaultFamily::Job) if kind == FaultKind::ContentMissing => &["content"],
        (Endpoint::Videos, FaultFamily::Job) => &["state"],
        (Endpoint::Videos, FaultFamily::Json) => &["created", "state"],
        (Endpoint::Videos, FaultFamily::Media) => &["content"],
        (Endpoint::Videos, _) => &["created", "state", "content"],
        (Endpoint::SyncVideos, FaultFamily::Json) | (_, FaultFamily::Job) => &[],
        _ => whole,
    }
}

const fn forms(kind: FaultKind) -> usize {
    if matches!(kind, FaultKind::ClientError | FaultKind::ServerError) { 3 } else { 1 }
}

/// Requests with a fault, one after the other, between requests without.
async fn cell(kind: FaultKind, endpoint: Endpoint) -> Vec<String> {
    let places = places(kind, endpoint);
    let met = places.len() * forms(kind);
    // places are taken in turn by request number
    let first = places.len();
    let hit: Vec<u64> = (first as u64..).take(met).collect();
    let setup = endpoint.setup(first + met + 1, 1);
    let outcome = run(vec![at(kind, &hit)], setup).await;
    let mut rows = Vec::new();
    for (index, record) in outcome.records.iter().enumerate() {
        let what = format!("{kind} × {}, request {index}", endpoint.name());
        if !hit.contains(&(index as u64)) {
            assert_unharmed(record, &what);
            continue;
        }
        rows.push(format!("{:<18} {:<12} {:<8} {}", kind.name(), endpoint.name(), places[index % first], told(record)));
    }
    assert_eq!(rows.len(), met, "{kind} × {}", endpoint.name());
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_at_every_endpoint_is_judged_and_its_neighbours_are_unharmed() {
    let lasting = [FaultKind::Refused, FaultKind::Restart];
    let kinds = FaultKind::ALL.iter().copied().filter(|kind| !lasting.contains(kind));
    let cells: Vec<_> = kinds
        .flat_map(|kind| Endpoint::ALL.map(|endpoint| (kind, endpoint)))
        .filter(|(kind, endpoint)| !places(*kind, *endpoint).is_empty())
        .collect();
    // most of the time goes into waiting for limits
    let room = Arc::new(Semaphore::new(12));
    let mut running = JoinSet::new();
    for (number, (kind, endpoint)) in cells.iter().copied().enumerate() {
        let room = Arc::clone(&room);
        running.spawn(async move {
            let _place = room.acquire().await.unwrap();
            (number, cell(kind, endpoint).await)
        });
    }
    let mut rows: Vec<(usize, Vec<String>)> = running.join_all().await;
    rows.sort();
    let table: Vec<String> = rows.into_iter().flat_map(|(_, rows)| rows).collect();
    // the two that last are tried at every endpoint in `outages`
    let tried = cells.len() + lasting.len() * Endpoint::ALL.len();
    figure(&format!("faults tried: {tried} (kinds × endpoints, {} kinds)", FaultKind::ALL.len()));
    insta::with_settings!({
        filters => vec![
            (r"\d+ of \d+ bytes", "N of M bytes"),
            (r"(?m) +$", ""),
        ],
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!("faults", table.join("\n"));
    });
}

/// A fault of one request must not show in those that are in flight beside it.
#[tokio::test(flavor = "multi_thread")]
async fn requests_in_flight_beside_a_fault_are_unharmed() {
    let faults = [
        FaultKind::Reset,
        FaultKind::ResetInBody,
        FaultKind::TruncatedBody,
        FaultKind::OverlongBody,
        FaultKind::WrongType,
        FaultKind::EmptyData,
        FaultKind::MalformedJson,
        FaultKind::DeepNesting,
        FaultKind::ServerError,
        FaultKind::RateLimited,
        FaultKind::Redirect,
    ];
    for endpoint in Endpoint::ALL {
        let met: Vec<_> = faults.into_iter().filter(|kind| !places(*kind, endpoint).is_empty()).collect();
        let rules = met.iter().zip(0..).map(|(kind, number)| at(*kind, &[5 + 3 * number])).collect();
        let outcome = run(rules, endpoint.setup(60, 4)).await;
        let counts = outcome.driven().counts;
        assert_eq!((counts.failed, counts.ok), (met.len() as u64, 60 - met.len() as u64), "{}", endpoint.name());
        for record in outcome.records.iter().filter(|record| record.error.is_none()) {
            assert_unharmed(record, endpoint.name());
        }
    }
}

#[tokio::test]
async fn the_same_seed_brings_the_same_faults_for_the_same_requests() {
    let rules = || {
        let kinds = [FaultKind::ServerError, FaultKind::EmptyData, FaultKind::WrongSize];
        kinds.map(|kind| FaultRule::rate(kind, 0.2)).to_vec()
    };
    let told_by = |outcome: &Outcome| outcome.records.iter().map(told).collect::<Vec<_>>();
    let first = told_by(&run(rules(), Endpoint::Generations.setup(30, 1)).await);
    assert_eq!(first, told_by(&run(rules(), Endpoint::Generations.setup(30, 1)).await));
    let met = first.iter().filter(|told| told.as_str() != "ok").count();
    assert!((8..=28).contains(&met), "{met} of 30 met a fault");
}

/// A stop ends a run in the middle of faults that never end by themselves.
#[tokio::test]
async fn a_stop_ends_requests_that_stall() {
    let stop = Stop::new();
    let setup = Setup {
        stop: stop.clone(),
        request_limit: Limit::After(Span::seconds(60)),
        ..Endpoint::Generations.setup(4, 4)
    };
    let server = Simulated::start(vec![FaultRule::rate(FaultKind::Stall, 1.0)]).await;
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.request();
    };
    let (outcome, ()) = tokio::join!(setup.run_at(&server.url), stopping);
    server.stop().await;
    assert!(outcome.driven().interrupted);
    assert_eq!((outcome.driven().counts.total(), outcome.driven().counts.cancelled), (4, 4));
}
