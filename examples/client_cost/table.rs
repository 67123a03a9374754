//! Lines of figures with their floor and goal, as Markdown.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::Outcome;

/// Smallest, middle and largest of some figures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Spread {
    pub(crate) fn of(mut values: Vec<f64>) -> Outcome<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let (first, last) = values.first().zip(values.last()).ok_or("nothing was measured")?;
        let median = values.get(values.len() / 2).ok_or("nothing was measured")?;
        Ok(Self { min: *first, median: *median, max: *last })
    }

    /// As `0.41 (0.39–0.44)`.
    fn text(self, digits: usize, unit: &str) -> String {
        let Self { min, median, max } = self;
        format!("{median:.digits$}{unit} ({min:.digits$}–{max:.digits$})")
    }
}

/// Where a figure should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    /// The floor and the goal of something that should be large.
    AtLeast(f64, f64),
    /// The same of something that should be small.
    AtMost(f64, f64),
    /// Told for its own sake.
    Nothing,
}

/// What was measured, and what to think of it.
#[derive(Debug)]
struct Line {
    what: String,
    bounds: [String; 2],
    measured: String,
    verdict: String,
    missed: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    lines: Vec<Line>,
    notes: Vec<String>,
}

/// How figures are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style(pub(crate) usize, pub(crate) &'static str);

impl Table {
    pub(crate) fn add(&mut self, what: impl Into<String>, figures: Spread, wanted: Wanted, style: Style) {
        let Style(digits, unit) = style;
        let shown = |value: f64| format!("{value:.digits$}{unit}");
        let (bounds, verdict, missed) = match wanted {
            Wanted::Nothing => ([String::new(), String::new()], String::new(), false),
            Wanted::AtLeast(floor, goal) | Wanted::AtMost(floor, goal) => {
                let up = matches!(wanted, Wanted::AtLeast(..));
                let reaches = |bound: f64| if up { figures.median >= bound } else { figures.median <= bound };
                let short = |bound: f64| shown((figures.median - bound).abs());
                let verdict = if reaches(goal) {
                    "goal".to_owned()
                } else if reaches(floor) {
                    format!("pass, {} to the goal", short(goal))
                } else {
                    format!("**short by {}**", short(floor))
                };
                ([shown(floor), shown(goal)], verdict, !reaches(floor))
            }
        };
        let measured = figures.text(digits, unit);
        self.push(Line { what: what.into(), bounds, measured, verdict, missed });
    }

    /// A line that has no figure, and why.
    pub(crate) fn unmeasured(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let bounds = [String::new(), String::new()];
        self.push(Line {
            what: what.into(),
            bounds,
            measured: "not measured".into(),
            verdict: why.into(),
            missed: false,
        });
    }

    /// Something that is to be known with the figures.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    pub(crate) fn has_missed(&self) -> bool {
        self.lines.iter().any(|line| line.missed)
    }

    fn push(&mut self, line: Line) {
        // told as it comes; who waits for minutes wants to see something
        drop(writeln!(std::io::stderr().lock(), "{}: {} {}", line.what, line.measured, line.verdict));
        self.lines.push(line);
    }

    pub(crate) fn print(&self) -> Outcome<()> {
        let mut text = String::new();
        let cores = std::thread::available_parallelism()?;
        let load = fs_err::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("?");
        writeln!(text, "{}, {cores} cores, load {load} at the end{}\n", processor(), debug())?;
        writeln!(text, "| what | floor | goal | median (min–max) | |\n|---|---|---|---|---|")?;
        for Line { what, bounds: [floor, goal], measured, verdict, .. } in &self.lines {
            writeln!(text, "| {what} | {floor} | {goal} | {measured} | {verdict} |")?;
        }
        for note in &self.notes {
            writeln!(text, "\n{note}")?;
        }
        Ok(std::io::stdout().lock().write_all(text.as_bytes())?)
    }
}

fn debug() -> &'static str {
    if cfg!(debug_assertions) { "; a debug build, so these are not the client's real costs" } else { "" }
}

fn processor() -> String {
    let all = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = all.lines().find_map(|line| line.strip_prefix("model name")).and_then(|line| line.split_once(':'));
    name.map_or_else(|| "unknown processor".to_owned(), |(_, name)| name.trim().to_owned())
}
