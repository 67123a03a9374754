//! One campaign after another that is killed again and again: what was seen of it before each kill, and
//! whether all of that is still there afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::setup::{Bench, PATIENCE, call, code, journal, json, talk};

const RUNS: [&str; 3] = ["v/A/c1", "v/A/c2", "v/A/c3"];
const JOURNALS: [&str; 3] = ["records.jsonl", "warmup.jsonl", "jobs.jsonl"];

/// Numbers that look random and are the same every time (`SplitMix64`).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((mixed ^ (mixed >> 31)) % u64::from(bound)).unwrap()
    }
}

/// What a kill waits for, before it waits a little longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    /// Nothing: planning, the results folder, the client's measuring of itself.
    Start,
    /// A run was claimed: its warm-up.
    Claimed,
    /// So many records of a run more.
    Records,
    /// A job was created.
    Job,
    /// A run was completed: its summary, the next run, its server.
    Completed,
    /// All runs are complete: tables, charts, page.
    Writing,
}

/// What kills came upon, and what became of what was recorded.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) kills: u32,
    pub(super) at: BTreeMap<Moment, u32>,
    pub(super) campaigns: u32,
    /// Records read before a kill.
    pub(super) seen: usize,
    /// Those of them that are nowhere any more.
    pub(super) lost: usize,
    pub(super) torn: usize,
    /// Jobs that were known and are still on the server at the end.
    pub(super) orphans: usize,
}

/// A campaign that is being killed.
pub(super) struct Lane<'a> {
    bench: Bench,
    url: Option<&'a str>,
    arguments: &'a [&'a str],
    /// Lines of journals that could be read at some time, by run and journal.
    seen: BTreeSet<(String, String, String)>,
    /// Files of runs that were complete, as they were then.
    complete: BTreeMap<String, Vec<(PathBuf, Vec<u8>)>>,
}

impl<'a> Lane<'a> {
    pub(super) fn new(scenario: &str, url: Option<&'a str>, arguments: &'a [&'a str]) -> Self {
        Self { bench: Bench::new(scenario), url, arguments, seen: BTreeSet::new(), complete: BTreeMap::new() }
    }

    fn start(&self) -> Child {
        let mut arguments = self.arguments.to_vec();
        if self.bench.latest().exists() {
            arguments.extend(["--resume", "results/small/latest"]);
        }
        self.bench.run(&arguments).spawn().unwrap()
    }

    /// Starts the tool, kills it at such a moment; whether it could be, or had ended before.
    pub(super) fn kill(&mut self, moment: Moment, dice: &mut Dice, tally: &mut Tally) -> bool {
        let before = self.sight();
        let mut child = self.start();
        let (begun, goal) = (Instant::now(), 1 + dice.below(10) as usize);
        let has_come = |now: &Sight| match moment {
            Moment::Start => true,
            Moment::Claimed => now.attempts > before.attempts,
            Moment::Records => now.attempts > before.attempts && now.records >= before.records + goal,
            Moment::Job => now.jobs > before.jobs,
            Moment::Completed => now.complete > before.complete,
            Moment::Writing => now.complete == RUNS.len(),
        };
        while child.try_wait().unwrap().is_none() && !has_come(&self.sight()) {
            assert!(begun.elapsed() < PATIENCE, "{moment:?} did not come");
            std::thread::sleep(Duration::from_millis(5));
        }
        let longer = match moment {
            Moment::Start => 1_200,
            Moment::Claimed | Moment::Records | Moment::Job | Moment::Completed => 60,
            Moment::Writing => 800,
        };
        std::thread::sleep(Duration::from_millis(dice.below(longer).into()));
        self.look();
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let was_killed = output.status.code().is_none();
        self.bench.until_deserted();
        if was_killed {
            tally.kills += 1;
            *tally.at.entry(moment).or_default() += 1;
            tally.torn += self.torn_tails();
        } else {
            assert_eq!(code(&output), 0, "{}", talk(&output));
        }
        tally.lost += self.lost();
        self.check_complete();
        was_killed
    }

    pub(super) fn is_complete(&self) -> bool {
        self.sight().complete == RUNS.len()
    }

    /// Completes the campaign and looks at all that it left.
    pub(super) fn finish(mut self, tally: &mut Tally) {
        self.look();
        let output = self.start().wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{}", talk(&output));
        self.bench.until_deserted();
        self.check_complete();
        tally.campaigns += 1;
        tally.seen += self.seen.len();
        tally.lost += self.lost();
        let results = json(&self.bench.latest().join("results.json"));
        let runs = results["runs"].as_array().unwrap();
        assert_eq!(runs.len(), RUNS.len(), "{}", talk(&output));
        for (run, id) in runs.iter().zip(RUNS) {
            assert_eq!((&run["id"], &run["completed"]), (&id.into(), &run["requests"]), "{run}");
            let (records, skipped) = journal(&self.folder(id).join("records.jsonl"));
            let indices: BTreeSet<u64> = records.iter().map(|record| record["index"].as_u64().unwrap()).collect();
            assert_eq!((records.len(), indices.len(), skipped), (12, 12, 0), "{id}: each request once");
        }
        if let Some(url) = self.url {
            let ids = self.attempts().into_iter().flat_map(|(_, folder)| journal(&folder.join("jobs.jsonl")).0);
            let ids: BTreeSet<String> = ids.map(|job| job["job_id"].as_str().unwrap().to_owned()).collect();
            let there = ids.iter().filter(|id| call(url, "GET", &format!("/v1/videos/{id}")).0 != 404);
            tally.orphans += there.count();
        }
    }

    fn folder(&self, run: &str) -> PathBuf {
        self.bench.latest().join("runs").join(run)
    }

    /// Every attempt of every run, with the run.
    fn attempts(&self) -> Vec<(&'static str, PathBuf)> {
        let mut found = Vec::new();
        for run in RUNS {
            let older = (1..).map(|number| self.folder(&format!("{run}.attempt-{number}")));
            found.extend(older.take_while(|folder| folder.exists()).map(|folder| (run, folder)));
            found.extend(Some((run, self.folder(run))).filter(|(_, folder)| folder.exists()));
        }
        found
    }

    /// Remembers every line that can be read now, as a reader of the file would.
    fn look(&mut self) {
        self.seen.extend(self.lines());
        for run in RUNS.iter().filter(|run| self.bench.state(run).as_deref() == Some("complete")) {
            if !self.complete.contains_key(*run) {
                // a tool at work may still be at its summary
                let files = files(&self.folder(run)).into_iter();
                let journals = files.filter(|(path, _)| path.extension().is_some_and(|kind| kind == "jsonl"));
                self.complete.insert((*run).to_owned(), journals.collect());
            }
        }
    }

    fn lines(&self) -> Vec<(String, String, String)> {
        let mut lines = Vec::new();
        for (run, folder) in self.attempts() {
            for name in JOURNALS {
                // a folder may be moved aside under the reader
                let Ok(text) = fs_err::read(folder.join(name)) else { continue };
                let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                let text = String::from_utf8(text[..whole].to_vec()).unwrap();
                lines.extend(text.lines().map(|line| (run.to_owned(), name.to_owned(), line.to_owned())));
            }
        }
        lines
    }

    /// Lines that could be read before and are nowhere now.
    fn lost(&self) -> usize {
        let now: BTreeSet<_> = self.lines().into_iter().collect();
        for (_, folder) in self.attempts() {
            for path in JOURNALS.map(|name| folder.join(name)) {
                let (_, skipped) = journal(&path);
                assert!(skipped <= 1, "{} has {skipped} torn lines", path.display());
            }
        }
        self.seen.iter().filter(|line| !now.contains(*line)).count()
    }

    fn torn_tails(&self) -> usize {
        let journals = self.attempts().into_iter().flat_map(|(_, folder)| JOURNALS.map(|name| folder.join(name)));
        journals.map(|path| journal(&path).1).sum()
    }

    /// What was complete is as it was.
    fn check_complete(&mut self) {
        for (run, before) in &self.complete {
            let now = files(&self.folder(run));
            for (path, bytes) in before {
                let same = now.iter().any(|(other, found)| other == path && found == bytes);
                assert!(same, "{run}: {} was touched", path.display());
            }
        }
        // no tool is at work now: from here on, every file and every byte
        for run in RUNS.iter().filter(|run| self.bench.state(run).as_deref() == Some("complete")) {
            self.complete.insert((*run).to_owned(), files(&self.folder(run)));
        }
    }

    fn sight(&self) -> Sight {
        let count = |name: &str| {
            let texts = self.attempts().into_iter().map(|(_, folder)| fs_err::read(folder.join(name)));
            texts.filter_map(Result::ok).flatten().filter(|byte| *byte == b'\n').count()
        };
        let states = RUNS.iter().filter(|run| {
            let manifest = fs_err::read(self.folder(run).join("run.json")).ok();
            manifest.is_some_and(|text| serde_json::from_slice::<Value>(&text).unwrap()["state"] == "complete")
        });
        Sight {
            attempts: self.attempts().len(),
            records: count("records.jsonl"),
            jobs: count("jobs.jsonl"),
            complete: states.count(),
        }
    }
}

/// How far a campaign is.
struct Sight {
    attempts: usize,
    records: usize,
    jobs: usize,
    complete: usize,
}

/// The files of a folder with their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.is_file()).map(|path| (path.clone(), fs_err::read(path).unwrap())).collect();
    files.sort();
    files
}
