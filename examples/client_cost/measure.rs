//! The runs against the null server, in turns with the rivals.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::driven::{Ran, Spec, quantile};
use crate::rivals::{Python, Wrk, oha};
use crate::server::Null;
use crate::table::{Spread, Style, Table, Wanted};

/// A part of what is measured.
pub(crate) type Measure<'a> = fn(&Bench<'a>, &mut Table) -> Outcome<()>;

/// Turns of each.
const TURNS: usize = 5;
/// Side of a picture of about a kilobyte.
const SMALL: u32 = 16;
/// Bytes of a large reply.
const LARGE: f64 = 8e6;

/// The server and who is there to be compared with.
pub(crate) struct Bench<'a> {
    null: &'a Null,
    wrk: Option<Wrk>,
    python: Option<Python>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(null: &'a Null) -> Outcome<Self> {
        Ok(Self { null, wrk: Wrk::find()?, python: Python::find() })
    }

    fn closed(&self, requests: u64, concurrency: u32, side: u32) -> Outcome<Ran> {
        Spec { url: self.null.url(), requests, concurrency: Some(concurrency), rate: None, side }.drive()
    }

    /// Small bodies, 64 at a time.
    pub(crate) fn small(&self, table: &mut Table) -> Outcome<()> {
        let url = self.null.url();
        let bytes = self.null.reply_bytes(SMALL)?;
        let what = format!("closed loop, c = 64, {bytes} B replies");
        let (mut own, mut peak, mut wrk, mut ratio, mut cpu, mut others) =
            (vec![], vec![], vec![], vec![], vec![], vec![]);
        for _ in 0..TURNS {
            let rival = self.wrk.as_ref().map(|wrk| wrk.run(&url, SMALL, 64, 3)).transpose()?;
            let ran = self.closed(100_000, 64, SMALL)?;
            if let Some(rival) = rival {
                wrk.push(rival.per_s);
                ratio.push(ran.rate / rival.per_s);
            }
            others.extend(oha(&url, SMALL, 64, 3)?.map(|oha| ran.rate / oha.per_s));
            own.push(ran.rate);
            cpu.push(ran.cpu_s * 1e6 / 100_064.0);
            peak.push(ran.peak_mb);
        }
        table.add(format!("{what}: requests/s"), Spread::of(own)?, Wanted::Nothing, Style(0, ""));
        table.add(format!("{what}: CPU per request"), Spread::of(cpu)?, Wanted::Nothing, Style(1, " µs"));
        if ratio.is_empty() {
            table.unmeasured(format!("{what}: share of wrk"), "wrk is not installed");
        } else {
            let rate = Wanted::AtLeast(40_000.0, 40_000.0);
            table.add(format!("{what}: wrk's requests/s"), Spread::of(wrk)?, rate, Style(0, ""));
            table.add(format!("{what}: share of wrk"), Spread::of(ratio)?, Wanted::AtLeast(0.35, 0.5), Style(2, " ×"));
        }
        if others.is_empty() {
            table.unmeasured(format!("{what}: share of oha"), "oha is not installed");
        } else {
            table.add(format!("{what}: share of oha"), Spread::of(others)?, Wanted::Nothing, Style(2, " ×"));
        }
        let what = "peak memory, 100,000 small requests, c = 64";
        table.add(what, Spread::of(peak)?, Wanted::AtMost(80.0, 50.0), Style(0, " MB"));
        Ok(())
    }

    /// One request at a time.
    pub(crate) fn one(&self, table: &mut Table) -> Outcome<()> {
        let what = "added latency, c = 1, median";
        let Some(wrk) = &self.wrk else {
            table.unmeasured(what, "wrk is not installed");
            return Ok(());
        };
        let (mut added, mut own) = (vec![], vec![]);
        for _ in 0..TURNS {
            let rival = wrk.run(&self.null.url(), SMALL, 1, 2)?.latency_us.ok_or("wrk told no median")?;
            let ran = self.closed(10_000, 1, SMALL)?.latency_us.ok_or("no latency was recorded")?;
            added.push(ran - rival);
            own.push(ran);
        }
        table.add("latency, c = 1, median", Spread::of(own)?, Wanted::Nothing, Style(0, " µs"));
        table.add(format!("{what}, over wrk -c1"), Spread::of(added)?, Wanted::AtMost(60.0, 30.0), Style(0, " µs"));
        Ok(())
    }

    /// Large bodies, 8 at a time.
    pub(crate) fn large(&self, table: &mut Table) -> Outcome<()> {
        let (url, side) = (self.null.url(), self.null.side_for(LARGE)?);
        let megabytes = f64::from(u32::try_from(self.null.reply_bytes(side)?)?) / 1e6;
        let what = format!("{megabytes:.1} MB base64 replies, c = 8");
        let (mut own, mut ratio, mut peak, mut cpu) = (vec![], vec![], vec![], vec![]);
        for _ in 0..TURNS {
            let rival = self.wrk.as_ref().map(|wrk| wrk.run(&url, side, 8, 3)).transpose()?;
            let ran = self.closed(256, 8, side)?;
            let per_s = ran.rate * megabytes * 1e6;
            ratio.extend(rival.map(|rival| per_s / rival.bytes_per_s));
            own.push(per_s / 1e6);
            cpu.push(ran.cpu_s * 1e3 / (320.0 * megabytes / 1e3));
            peak.push(ran.peak_mb);
        }
        table.add(format!("{what}: bytes/s"), Spread::of(own)?, Wanted::Nothing, Style(0, " MB/s"));
        table.add(format!("{what}: CPU per GB"), Spread::of(cpu)?, Wanted::Nothing, Style(0, " ms"));
        if ratio.is_empty() {
            table.unmeasured(format!("{what}: share of wrk"), "wrk is not installed");
        } else {
            table.add(format!("{what}: share of wrk"), Spread::of(ratio)?, Wanted::AtLeast(0.4, 0.6), Style(2, " ×"));
        }
        let what = format!("peak memory, {what}");
        table.add(what, Spread::of(peak)?, Wanted::AtMost(100.0, 60.0), Style(0, " MB"));
        Ok(())
    }

    /// Schedules without a cap, with a plain sleeper beside them.
    pub(crate) fn open(&self, table: &mut Table) -> Outcome<()> {
        for (rate, floor, goal) in [(1000, 1.0, 0.5), (5000, 3.0, 3.0)] {
            let (mut middle, mut tail, mut slept) = (vec![], vec![], vec![]);
            for _ in 0..TURNS {
                let spec = Spec {
                    url: self.null.url(),
                    requests: u64::from(rate) * 3,
                    concurrency: None,
                    rate: Some(rate),
                    side: SMALL,
                };
                let (ran, sleeper) = std::thread::scope(|scope| {
                    let sleeper = scope.spawn(sleeper_ms);
                    (spec.drive(), sleeper.join())
                });
                let ran = ran?;
                middle.extend(ran.late_p50_ms);
                tail.push(ran.late_p99_ms.ok_or("no lateness was recorded")?);
                slept.push(sleeper.ok().flatten().ok_or("the sleeper did not sleep")?);
            }
            let what = format!("lateness at {rate}/s");
            let sleeper = Spread::of(slept)?;
            table.add(format!("{what}, P50"), Spread::of(middle)?, Wanted::Nothing, Style(3, " ms"));
            table.add(format!("{what}, P99"), Spread::of(tail)?, Wanted::AtMost(floor, goal), Style(3, " ms"));
            table.add(format!("{what}, a sleeper's P99 beside it"), sleeper, Wanted::Nothing, Style(3, " ms"));
        }
        Ok(())
    }

    /// vLLM-Omni's client on the same server.
    pub(crate) fn python(&self, table: &mut Table) -> Outcome<()> {
        let lines = ["closed loop, c = 64: multiple of the Python client", "8 MB replies: share of its CPU per byte"];
        let Some(python) = &self.python else {
            for what in lines {
                table.unmeasured(what, "`OMNI_BENCH_PYTHON_CLIENT` names no script");
            }
            return Ok(());
        };
        let (url, side) = (self.null.url(), self.null.side_for(LARGE)?);
        let (mut ratio, mut rate, mut cpu) = (vec![], vec![], vec![]);
        for _ in 0..TURNS {
            let rival = python.run(&url, SMALL, 64, 10_000)?;
            rate.push(rival.per_s);
            ratio.push(self.closed(100_000, 64, SMALL)?.rate / rival.per_s);
            // what it takes to start is not for bytes, so a run of few requests is taken off
            let (few, many) = (python.run(&url, side, 8, 8)?, python.run(&url, side, 8, 136)?);
            let ran = self.closed(256, 8, side)?;
            cpu.push((ran.cpu_s / 320.0) / ((many.cost.cpu_s - few.cost.cpu_s) / 128.0));
        }
        let [faster, lighter] = lines;
        table.add("the Python client's requests/s", Spread::of(rate)?, Wanted::Nothing, Style(0, ""));
        table.add(faster, Spread::of(ratio)?, Wanted::AtLeast(6.0, 8.0), Style(1, " ×"));
        table.add(lighter, Spread::of(cpu)?, Wanted::AtMost(0.5, 0.2), Style(2, " ×"));
        Ok(())
    }

    /// A run so long that memory that grows with it would show.
    pub(crate) fn million(&self, table: &mut Table) -> Outcome<()> {
        let ran = self.closed(1_000_000, 64, SMALL)?;
        let at = |share: usize| ran.resident_mb.get(ran.resident_mb.len().saturating_sub(1) * share / 100).copied();
        let (early, late) = (at(10).ok_or("the run was too short")?, at(100).ok_or("the run was too short")?);
        let one = |value| Spread { min: value, median: value, max: value };
        table.add("1,000,000 requests: peak memory", one(ran.peak_mb), Wanted::Nothing, Style(0, " MB"));
        let what = "1,000,000 requests: memory at the end over that at a tenth";
        table.add(what, one(late / early), Wanted::AtMost(1.25, 1.1), Style(2, " ×"));
        table.note(format!("The run of 1,000,000 requests took {:.0} s, {:.0}/s.", ran.took_s, ran.rate));
        Ok(())
    }
}

/// How late a thread wakes that only sleeps to a time, a thousand times a second for three seconds: P99 in ms.
fn sleeper_ms() -> Option<f64> {
    let begun = Instant::now();
    let late = (1..3000_u32).map(|tick| {
        let due = begun + Duration::from_millis(1) * tick;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        due.elapsed().as_secs_f64() * 1e3
    });
    quantile(late, 99)
}
