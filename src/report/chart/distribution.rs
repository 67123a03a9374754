//! The distribution of a run's times: a cumulative curve per class.

use indexmap::IndexMap;

use super::frame::{BELOW, Panel, PanelWords, Words, finish, heading, legend};
use super::group::is_open_loop;
use super::look::{LOOKS, Look, Sample};
use super::sampling::{Budget, spread};
use super::scale::{Scale, seconds, short};
use super::scene::{Place, Scene, Shape};
use crate::record::{Record, Status};
use crate::report::text::counted;
use crate::summarize::{Summary, survival};

const WIDTH: f64 = 720.0;
const LEFT: f64 = 74.0;
const HEIGHT: f64 = 320.0;
/// Longest times that are drawn whatever is left out.
const TAIL: usize = 20;

/// The times of one class.
#[derive(Debug, Default)]
struct Times {
    /// Seconds, and whether the request ended by itself.
    observations: Vec<(f64, bool)>,
    failed: usize,
}

/// The share of requests done within a time, by class; with cut requests by Kaplan and Meier.
pub(super) fn distribution(
    mut words: Words,
    run: &Summary,
    records: &[Record],
    budget: Budget,
) -> Option<(Words, Scene)> {
    let classes = times(run, records);
    let curves = classes.iter().map(|(class, times)| Curve::of(class, times));
    let curves: Vec<Curve<'_>> = curves.filter(|curve| !curve.steps.is_empty()).collect();
    if curves.is_empty() {
        return None;
    }
    let waited = if is_open_loop(run) { "Response time" } else { "Latency" };
    words.title = format!("Distribution of the {} by class: {}", waited.to_lowercase(), run.id);
    let mut scene = Scene::new(WIDTH);
    let top = heading(&mut scene, &words) + 14.0;
    let values = curves.iter().flat_map(|curve| curve.steps.iter().map(|(time, _)| *time));
    let panel = Panel { x: Scale::fitting(values, [LEFT, WIDTH - 30.0]), y: Scale::of_shares([top + HEIGHT, top]) };
    panel.draw(&mut scene, PanelWords { title: "", x: &format!("{waited} (s)"), y: Some("Requests done") });
    let (mut drawn, mut all) = (0, 0);
    for (place, curve) in curves.iter().enumerate().rev() {
        let kept = thinned(&curve.steps, budget.steps / curves.len());
        drawn += kept.len();
        all += curve.steps.len();
        draw_curve(&mut scene, &panel, Look::of(place), &kept, &curve.told());
    }
    if panel.x.is_logarithmic() {
        words.notes.push("The horizontal scale is logarithmic.".to_owned());
    }
    if drawn < all {
        words.notes.push(format!("{drawn} of {all} steps are drawn, the {TAIL} longest of each class among them."));
    }
    words.notes.extend(left_out(&classes));
    let below = legend(&mut scene, top + HEIGHT + BELOW, &entries(&curves));
    finish(&mut scene, below, &words.notes);
    Some((words, scene))
}

/// Times by class, in the summary's order of classes.
fn times<'a>(run: &'a Summary, records: &'a [Record]) -> IndexMap<&'a str, Times> {
    let mut classes: IndexMap<&str, Times> = run.classes.keys().map(|name| (name.as_str(), Times::default())).collect();
    for record in records {
        let class = classes.entry(&record.class).or_default();
        let us = if is_open_loop(run) { record.response_time_us } else { record.latency_us };
        match (record.status, us) {
            (Status::Ok, Some(us)) => class.observations.push((seconds(us), true)),
            (Status::Censored, Some(us)) => class.observations.push((seconds(us), false)),
            (Status::Ok | Status::Censored | Status::Failed | Status::Cancelled, _) => class.failed += 1,
        }
    }
    classes
}

/// What the curves do not show, or only estimate.
fn left_out(classes: &IndexMap<&str, Times>) -> Vec<String> {
    let cut = |times: &Times| times.observations.iter().filter(|(_, ended)| !ended).count();
    let cut: usize = classes.values().map(cut).sum();
    let failed: usize = classes.values().map(|times| times.failed).sum();
    let mut notes = Vec::new();
    if cut > 0 {
        notes.push(format!(
            "Kaplan–Meier estimate: {} cut by a limit of the client, so curves may end below 100 %.",
            counted(cut as u64, "request")
        ));
    }
    if failed > 0 {
        notes.push(format!("{} failed or cancelled and not in the curves.", counted(failed as u64, "request")));
    }
    notes
}

/// How the requests of one class were done over time.
struct Curve<'a> {
    class: &'a str,
    /// Requests it rests on.
    n: usize,
    /// (seconds, share done) after each time at which a request was done.
    steps: Vec<(f64, f64)>,
}

impl<'a> Curve<'a> {
    fn of(class: &'a str, times: &Times) -> Self {
        let steps = survival(&times.observations).into_iter().map(|(time, longer)| (time, 1.0 - longer));
        Self { class, n: times.observations.len(), steps: steps.collect() }
    }

    fn told(&self) -> String {
        let within = |share: f64, name: &str| {
            let time = self.steps.iter().find(|(_, done)| *done >= share - 1e-12).map(|(time, _)| short(*time));
            time.map_or_else(|| format!("{name} beyond the longest time"), |time| format!("{name} within {time} s"))
        };
        format!("{} · n = {} · {} · {}", self.class, self.n, within(0.5, "half"), within(0.95, "95 %"))
    }
}

/// At most about so many steps, with the longest ones.
fn thinned(curve: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let most = most.max(2 * TAIL);
    if curve.len() <= most {
        return curve.to_vec();
    }
    let (body, tail) = curve.split_at(curve.len() - TAIL);
    let body = spread(body.len(), most - TAIL).into_iter().filter_map(|place| body.get(place));
    body.chain(tail).copied().collect()
}

fn draw_curve(scene: &mut Scene, panel: &Panel, look: Look, curve: &[(f64, f64)], told: &str) {
    let mut line: Vec<Place> = Vec::with_capacity(2 * curve.len() + 1);
    let mut y = panel.y.at(0.0);
    for (time, share) in curve {
        let x = panel.x.at(*time);
        line.push((x, y));
        y = panel.y.at(*share);
        line.push((x, y));
    }
    // a curve of one request would be a line along its own step
    let marked = spread(curve.len(), 6).into_iter().filter_map(|place| curve.get(place));
    let markers =
        marked.flat_map(|(time, share)| look.marker((panel.x.at(*time), panel.y.at(*share)), false)).collect();
    scene.add_parts(told, vec![(look.line(), vec![Shape::Line(line, 1.8)]), (look.ink(), markers)]);
}

fn entries(curves: &[Curve<'_>]) -> Vec<(Sample, String)> {
    let shown = curves.iter().take(LOOKS).enumerate();
    let mut entries: Vec<_> = shown
        .map(|(place, curve)| (Sample::Series(Look::of(place)), format!("{} (n = {})", curve.class, curve.n)))
        .collect();
    if curves.len() > LOOKS {
        let rest = format!("{} more, named by their tooltips", curves.len() - LOOKS);
        entries.push((Sample::Series(Look::DIM), rest));
    }
    entries
}
