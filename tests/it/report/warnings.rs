//! Every kind of warning: a run that has it and, as near as its threshold allows, one that has not.

use omni_bench::catalog::{ErrorClass, Flag, Validity, WarningKind};
use omni_bench::plan::{ComparePlan, Plan};
use omni_bench::record::{GpuLoad, GpuProcess, GpuSample, SlurmFacts, TelemetrySample};
use omni_bench::record::{Poll, Record, RunState, Status};
use omni_bench::summarize::{RunFiles, Summary, doubt_unreadable, summarize};

use super::build::{all, censored, failed, flagged, image, image_plan, in_turn, manifest, open_loop, run, summary, us};

/// A run that is warned of, what the warning makes of it, and one that is not warned of.
struct Case {
    kind: WarningKind,
    fires: Summary,
    validity: Validity,
    quiet: Summary,
}

fn has(summary: &Summary, kind: WarningKind) -> bool {
    summary.warnings.iter().any(|warning| warning.kind == kind)
}

/// The number as a time.
fn time(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

/// A plan of so many requests at this concurrency.
fn at_concurrency(requests: u64, cap: u32) -> Plan {
    let mut plan = image_plan(requests);
    plan.runs[0].traffic.max_concurrency = Some(cap);
    plan
}

fn allowing(mut plan: Plan, failures: u64) -> Plan {
    plan.allow_failures = failures;
    plan
}

/// So many requests in rounds of `width`, each round 1 s long.
fn rounds(requests: usize, width: usize) -> Vec<Record> {
    (0..requests).map(|index| image(index, time(index / width), time(index / width) + 1.0)).collect()
}

fn few_requests() -> Case {
    // 4 per slot are enough: 16 at concurrency 4
    let of = |requests: u64| summary(&at_concurrency(requests, 4), &rounds(usize::try_from(requests).unwrap(), 4));
    Case { kind: WarningKind::FewRequests, fires: of(15), validity: Validity::Valid, quiet: of(16) }
}

fn below_cap() -> Case {
    // rounds of two for the first part, then one after another; half of the time at the cap is enough
    let of = |pairs: usize, singles: usize| {
        let mut records = rounds(2 * pairs, 2);
        let from = time(pairs);
        records.extend((0..singles).map(|i| image(2 * pairs + i, from + time(i), from + time(i) + 1.0)));
        summary(&at_concurrency(records.len() as u64, 2), &records)
    };
    Case { kind: WarningKind::BelowCap, fires: of(9, 11), validity: Validity::Valid, quiet: of(10, 10) }
}

/// Requests of 1 s one after another, each sent so long after its slot was free.
fn sent_late(late_s: f64) -> Vec<Record> {
    let mut records = in_turn(&[1.0; 10]);
    for record in &mut records {
        record.sent_us = Some(record.due_us + us(late_s));
        record.done_us = record.due_us + us(late_s) + us(1.0);
        record.response_time_us = Some(us(late_s) + us(1.0));
    }
    records
}

fn client_bound() -> Case {
    // 5 % of the median latency
    let of = |late_s: f64| summary(&image_plan(10), &sent_late(late_s));
    Case { kind: WarningKind::ClientBound, fires: of(0.051), validity: Validity::Suspect, quiet: of(0.049) }
}

fn late() -> Case {
    let of = |late_s: f64| {
        let mut plan = image_plan(10);
        plan.runs = vec![open_loop(plan.runs[0].clone(), 1.0, None)];
        summary(&plan, &sent_late(late_s))
    };
    Case { kind: WarningKind::Late, fires: of(0.051), validity: Validity::Suspect, quiet: of(0.049) }
}

fn below_offered() -> Case {
    // one arrival per second and one worker: the rate of ends is 1 / service
    let of = |service_s: f64| {
        let mut plan = image_plan(40);
        plan.runs = vec![open_loop(plan.runs[0].clone(), 1.0, None)];
        let mut free = 0.0_f64;
        let records: Vec<Record> = (0..40)
            .map(|index| {
                free = free.max(time(index)) + service_s;
                image(index, time(index), free)
            })
            .collect();
        summary(&plan, &records)
    };
    // 1 / 1.12 is 0.893 of what is offered, 1 / 1.1 is 0.909
    Case { kind: WarningKind::BelowOffered, fires: of(1.12), validity: Validity::Suspect, quiet: of(1.1) }
}

fn coarse_polls() -> Case {
    // a job of 10 s, looked at every `gap`; a tenth of its time is fine
    let of = |gap: f64| {
        let mut record = image(0, 0.0, 10.1);
        record.created_us = Some(0);
        record.first_terminal_us = Some(us(10.0));
        let looks = (1..).map(|look| time(look) * gap).take_while(|at| *at < 9.999);
        record.polls =
            looks.map(|at| Poll { sent_us: us(at), at_us: us(at + 0.001), status: "in_progress".to_owned() }).collect();
        summary(&image_plan(1), &[record])
    };
    Case { kind: WarningKind::CoarsePolls, fires: of(1.1), validity: Validity::Valid, quiet: of(1.0) }
}

fn serialised() -> Case {
    let mut plan = image_plan(32);
    plan.runs = [1, 4].map(|cap| run("base", "A", 32, cap)).into();
    let one_worker = |cap: usize| -> Vec<Record> {
        (0..32).map(|i| image(i, time(i.saturating_sub(cap - 1)), time(i) + 1.0)).collect()
    };
    let of = |sweep: [Vec<Record>; 2]| all(&plan, &sweep).runs.remove(1);
    Case {
        kind: WarningKind::Serialised,
        fires: of([one_worker(1), one_worker(4)]),
        validity: Validity::Valid,
        quiet: of([one_worker(1), rounds(32, 4)]),
    }
}

fn unmatched_warmup() -> Case {
    let of = |matched: bool| {
        let mut plan = image_plan(3);
        plan.runs[0].warmup.matched = matched;
        summary(&plan, &in_turn(&[1.0; 3]))
    };
    Case { kind: WarningKind::UnmatchedWarmup, fires: of(false), validity: Validity::Valid, quiet: of(true) }
}

fn duplicate_outputs() -> Case {
    let copies = |count: usize| {
        let mut records = in_turn(&[1.0; 4]);
        for place in 1..count {
            records[place].outputs = records[0].outputs.clone();
        }
        summary(&image_plan(4), &records)
    };
    assert_eq!(copies(2).validity, Validity::Valid);
    Case { kind: WarningKind::DuplicateOutputs, fires: copies(3), validity: Validity::Suspect, quiet: copies(1) }
}

fn censoring() -> Case {
    let mut records = in_turn(&[1.0; 4]);
    let quiet = summary(&allowing(image_plan(4), 1), &records);
    records[3] = censored(records[3].clone(), "no reply within 1s");
    assert_eq!(summary(&image_plan(4), &records).validity, Validity::Invalid);
    let fires = summary(&allowing(image_plan(4), 1), &records);
    Case { kind: WarningKind::Censoring, fires, validity: Validity::Suspect, quiet }
}

fn failures() -> Case {
    let mut records = in_turn(&[1.0; 4]);
    let quiet = summary(&image_plan(4), &records);
    records[3] = failed(records[3].clone(), ErrorClass::Io, "reset");
    assert_eq!(summary(&image_plan(4), &records).validity, Validity::Invalid);
    let fires = summary(&allowing(image_plan(4), 1), &records);
    Case { kind: WarningKind::Failures, fires, validity: Validity::Valid, quiet }
}

fn flags() -> Case {
    let of = |flag: Flag| {
        let mut records = in_turn(&[1.0; 4]);
        records[0] = flagged(records[0].clone(), flag);
        summary(&image_plan(4), &records)
    };
    assert_eq!(of(Flag::SizeMismatch).validity, Validity::Valid);
    // the basis of an RTF stands beside it and is no remark
    let quiet = of(Flag::RtfFromLatency);
    Case { kind: WarningKind::Flagged, fires: of(Flag::Blank), validity: Validity::Suspect, quiet }
}

fn interrupted() -> Case {
    let plan = image_plan(4);
    let records = in_turn(&[1.0; 4]);
    let stopped = |state: RunState, records: &[Record]| {
        let manifest = omni_bench::record::RunManifest { state, ..manifest(&plan.runs[0]) };
        summarize(
            &plan,
            &plan.runs[0],
            &RunFiles { manifest: &manifest, records, calibration: &[], warmup: &[], telemetry: &[] },
        )
    };
    let cancelled = Record { status: Status::Cancelled, ..records[3].clone() };
    for fires in [
        stopped(RunState::Interrupted, &records),
        stopped(RunState::Failed, &records),
        stopped(RunState::Complete, &[&records[..3], &[cancelled]].concat()),
    ] {
        assert!(has(&fires, WarningKind::Interrupted) && fires.validity == Validity::Invalid);
    }
    Case {
        kind: WarningKind::Interrupted,
        fires: stopped(RunState::Complete, &records[..3]),
        validity: Validity::Invalid,
        quiet: stopped(RunState::Running, &records),
    }
}

fn background_load() -> Case {
    let plan = image_plan(4);
    let records = in_turn(&[1.0; 4]);
    let look = |index: u32, of_server: bool| {
        let process = GpuProcess { pid: 1, name: None, of_server: Some(of_server), memory_mb: None };
        GpuSample { index, processes: Some(vec![process]), ..GpuSample::default() }
    };
    let sample = |gpus| TelemetrySample { run: String::new(), at_us: 0, took_us: 0, gpus: Some(gpus), server: None };
    let of = |background: &[(f64, f64)], telemetry: &[TelemetrySample]| {
        let load = |(index, (share, held)): (u32, &(f64, f64))| GpuLoad {
            index,
            utilization: Some(*share),
            held_mb: Some(*held),
            processes: Some(1),
        };
        let mut manifest = manifest(&plan.runs[0]);
        manifest.server.background = Some((0..).zip(background).map(load).collect());
        let (manifest, records) = (&manifest, &records);
        let files = RunFiles { manifest, records, calibration: &[], warmup: &[], telemetry };
        summarize(&plan, &plan.runs[0], &files)
    };
    let fires = of(&[(0.0, 0.0), (0.05, 0.0)], &[]);
    assert!(has(&of(&[(0.0, 1024.0)], &[]), WarningKind::BackgroundLoad));
    // the neighbour's work on a GPU that the server was not on, and on one that it was on
    let on_first = [sample(vec![look(0, true), look(1, false)])];
    assert!(!has(&of(&[(0.0, 0.0), (1.0, 4096.0)], &on_first), WarningKind::BackgroundLoad));
    assert!(has(&of(&[(1.0, 4096.0), (0.0, 0.0)], &on_first), WarningKind::BackgroundLoad));
    let quiet = of(&[(0.04, 1023.0)], &[]);
    Case { kind: WarningKind::BackgroundLoad, fires, validity: Validity::Suspect, quiet }
}

fn faults_injected() -> Case {
    let plan = image_plan(4);
    let of = |version: serde_json::Value| {
        let mut manifest = manifest(&plan.runs[0]);
        manifest.simulated = true;
        manifest.server.version = Some(version);
        let (manifest, records) = (&manifest, &in_turn(&[1.0; 4])[..]);
        let files = RunFiles { manifest, records, calibration: &[], warmup: &[], telemetry: &[] };
        summarize(&plan, &plan.runs[0], &files)
    };
    let fires = of(serde_json::json!({ "version": "1", "faults": { "reset": 0.1 } }));
    let quiet = of(serde_json::json!({ "version": "1", "faults": {} }));
    Case { kind: WarningKind::FaultsInjected, fires, validity: Validity::Suspect, quiet }
}

fn across_nodes() -> Case {
    let of = |gpus: u32| {
        let mut plan = image_plan(4);
        let mut other = plan.variants[0].clone();
        other.name = "other".into();
        other.gpus = gpus;
        let variants = vec![plan.variants[0].name.clone(), other.name.clone()];
        plan.variants.push(other);
        plan.compare = Some(ComparePlan { variants, effect_floor: None, metrics: None });
        let mut manifest = manifest(&plan.runs[0]);
        let slurm = |name: &str| (name == "SLURM_JOB_ID").then(|| "7".to_owned());
        manifest.server.slurm = SlurmFacts::of(slurm);
        let (manifest, records) = (&manifest, &in_turn(&[1.0; 4])[..]);
        let files = RunFiles { manifest, records, calibration: &[], warmup: &[], telemetry: &[] };
        summarize(&plan, &plan.runs[0], &files)
    };
    let same = image_plan(4).runs[0].gpus;
    Case { kind: WarningKind::AcrossNodes, fires: of(same + 1), validity: Validity::Valid, quiet: of(same) }
}

/// The lines are counted by whoever reads the journals.
fn unreadable_records() -> Case {
    let of = |lines: usize| {
        let mut summary = summary(&image_plan(4), &in_turn(&[1.0; 4]));
        doubt_unreadable(&mut summary, lines);
        summary
    };
    Case { kind: WarningKind::UnreadableRecords, fires: of(1), validity: Validity::Suspect, quiet: of(0) }
}

#[test]
fn every_warning_fires_at_its_threshold_and_not_below() {
    let cases: [fn() -> Case; 17] = [
        few_requests,
        below_cap,
        client_bound,
        late,
        below_offered,
        coarse_polls,
        serialised,
        unmatched_warmup,
        duplicate_outputs,
        censoring,
        failures,
        flags,
        interrupted,
        background_load,
        faults_injected,
        across_nodes,
        unreadable_records,
    ];
    let cases: Vec<Case> = cases.into_iter().map(|case| case()).collect();
    for case in &cases {
        let Case { kind, fires, validity, quiet } = case;
        assert!(has(fires, *kind), "{kind} does not fire: {:?}", fires.warnings);
        assert_eq!(fires.validity, *validity, "{kind}: {:?}", fires.warnings);
        assert!(!has(quiet, *kind), "{kind} fires: {:?}", quiet.warnings);
        assert_eq!(quiet.validity, Validity::Valid, "{kind}: {:?}", quiet.warnings);
        let told = fires.warnings.iter().find(|warning| warning.kind == *kind).map(|warning| warning.text.as_str());
        assert!(told.is_some_and(|text| !text.is_empty()), "{kind}");
    }
    for kind in WarningKind::ALL {
        assert_eq!(cases.iter().filter(|case| case.kind == *kind).count(), 1, "{kind} has no case");
    }
}

#[test]
fn a_wait_below_5_ms_is_a_timers_own_and_no_news() {
    // a tenth of a latency of 40 ms, and less than 5 ms
    let mut records = sent_late(0.004);
    for record in &mut records {
        record.done_us = record.sent_us.unwrap() + us(0.04);
        record.latency_us = Some(us(0.04));
    }
    assert!(!has(&summary(&image_plan(10), &records), WarningKind::ClientBound));
}
