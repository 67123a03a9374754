//! Latency against throughput per GPU: which runs are worth having, and which are dominated.

use super::frame::{BELOW, Panel, PanelWords, Words, finish, heading, legend};
use super::group::{Comparison, Load, Pace, Point, headline};
use super::load::series_entries;
use super::look::{Look, Sample};
use super::scale::{Scale, short};
use super::scene::{Anchor, Place, Scene, Shape, fitted, width_of};
use crate::catalog::Validity;
use crate::plan::Plan;
use crate::summarize::Results;

const WIDTH: f64 = 720.0;
const LEFT: f64 = 74.0;
const HEIGHT: f64 = 300.0;

/// A run that has both figures.
struct Candidate<'a> {
    look: Look,
    label: &'a str,
    point: Point<'a>,
    /// Seconds, and successes per GPU and unit of time.
    figures: (f64, f64),
    dominated: bool,
}

/// Throughput per GPU against median latency. Invalid runs, and those whose throughput a limit of the
/// client chose, take no part.
pub(super) fn pareto(plan: &Plan, results: &Results, group: &Comparison<'_>) -> Option<(Words, Scene)> {
    let mut candidates = candidates(group);
    if candidates.len() < 2 {
        return None;
    }
    mark_dominated(&mut candidates);
    let pace = Pace::of(candidates.iter().map(|candidate| candidate.figures.1));
    for candidate in &mut candidates {
        candidate.figures.1 = pace.told(candidate.figures.1);
    }
    let waited = group.load.waited().to_lowercase();
    let mut words = group.words(plan, results, &format!("Throughput per GPU against median {waited}"));
    let mut scene = Scene::new(WIDTH);
    let top = heading(&mut scene, &words) + 16.0;
    let figures = || candidates.iter().map(|candidate| candidate.figures);
    let panel = Panel {
        x: Scale::fitting(figures().map(|(latency, _)| latency), [LEFT, WIDTH - 30.0]),
        y: Scale::from_zero(figures().map(|(_, rate)| rate).fold(0.0, f64::max), [top + HEIGHT, top]),
    };
    let x = format!("Median {waited} (s), lower is better");
    let y = format!("Successes per GPU ({}), higher is better", pace.unit);
    panel.draw(&mut scene, PanelWords { title: "", x: &x, y: Some(&y) });
    draw_front(&mut scene, &panel, &candidates);
    draw_points(&mut scene, &panel, group, pace.unit, &candidates);
    let mut entries = series_entries(group);
    if candidates.iter().any(|candidate| candidate.dominated) {
        entries.push((Sample::Series(Look::DIM), "dominated: another run is as fast and gets as much done".to_owned()));
    }
    if panel.x.is_logarithmic() {
        words.notes.push("The horizontal scale is logarithmic.".to_owned());
    }
    let left_out = group.points().count() - candidates.len();
    if left_out > 0 {
        words.notes.push(format!("Left out: {left_out} invalid, without successes, or cut by a limit of the client."));
    }
    let below = legend(&mut scene, top + HEIGHT + BELOW, &entries);
    finish(&mut scene, below, &words.notes);
    Some((words, scene))
}

fn candidates<'a>(group: &'a Comparison<'a>) -> Vec<Candidate<'a>> {
    let all = group
        .series
        .iter()
        .flat_map(|series| series.points.iter().map(move |point| (series.look, series.label.as_str(), *point)));
    all.filter(|(.., point)| point.run.validity != Validity::Invalid && point.run.throughput_comparable)
        .filter_map(|(look, label, point)| {
            let rate = point.run.throughput_per_s.filter(|rate| *rate > 0.0)? / f64::from(point.run.gpus.max(1));
            Some(Candidate { look, label, point, figures: (headline(point.run).p50?, rate), dominated: false })
        })
        .collect()
}

/// A run is dominated when another one is no worse in both figures and better in one.
fn mark_dominated(candidates: &mut [Candidate<'_>]) {
    let all: Vec<(f64, f64)> = candidates.iter().map(|candidate| candidate.figures).collect();
    for candidate in candidates {
        let (latency, rate) = candidate.figures;
        let beats = |(other_latency, other_rate): &(f64, f64)| {
            *other_latency <= latency && *other_rate >= rate && (*other_latency < latency || *other_rate > rate)
        };
        candidate.dominated = all.iter().any(beats);
    }
}

fn draw_front(scene: &mut Scene, panel: &Panel, candidates: &[Candidate<'_>]) {
    let mut front: Vec<(f64, f64)> =
        candidates.iter().filter(|candidate| !candidate.dominated).map(|candidate| candidate.figures).collect();
    front.sort_by(|a, b| a.0.total_cmp(&b.0));
    // what is between two runs is not on offer: the front goes in steps
    let mut line: Vec<Place> = Vec::new();
    for (latency, rate) in front {
        let place = (panel.x.at(latency), panel.y.at(rate));
        line.extend(line.last().map(|(_, y)| (place.0, *y)));
        line.push(place);
    }
    if line.len() > 1 {
        scene.add("muted d4", vec![Shape::Line(line, 1.2)]);
    }
}

fn draw_points(scene: &mut Scene, panel: &Panel, group: &Comparison<'_>, unit: &str, candidates: &[Candidate<'_>]) {
    let one_load = group.loads().len() < 2;
    let (dominated, best): (Vec<_>, Vec<_>) = candidates.iter().partition(|candidate| candidate.dominated);
    let mut taken: Vec<(Place, String)> = Vec::new();
    for candidate in dominated.into_iter().chain(best) {
        let (latency, rate) = candidate.figures;
        let place = (panel.x.at(latency), panel.y.at(rate));
        let look = candidate.look;
        let told = [
            candidate.label.to_owned(),
            candidate.point.run.id.clone(),
            format!("median {} s", short(latency)),
            format!("{} {} per GPU ({} GPUs)", short(rate), unit, candidate.point.run.gpus),
            if candidate.dominated { "dominated" } else { "on the front" }.to_owned(),
        ];
        let class = if candidate.dominated { "dim".to_owned() } else { look.ink() };
        scene.add_told(&class, told.join(" · "), look.marker(place, false));
        if !candidate.dominated {
            let name = match group.load {
                _ if one_load => fitted(candidate.label, 150.0, 10.5),
                Load::Concurrency => format!("c{}", short(candidate.point.load)),
                Load::Rate => format!("{}/s", short(candidate.point.load)),
            };
            draw_name(scene, place, name, &mut taken);
        }
    }
}

/// Names a point of the front when no other name stands there, nor the same one beside it.
fn draw_name(scene: &mut Scene, (x, y): Place, name: String, taken: &mut Vec<(Place, String)>) {
    let width = width_of(&name, 10.5);
    let is_near = |at: Place, room: f64| (at.0 - x).abs() < room + width && (at.1 - y).abs() < room;
    if taken.iter().any(|(at, other)| *other == name && is_near(*at, 16.0)) {
        return;
    }
    let free = |at: Place| {
        at.0 + width < WIDTH
            && !taken.iter().any(|((left, middle), other)| {
                at.0 < left + width_of(other, 10.5) + 2.0 && *left < at.0 + width + 2.0 && (at.1 - middle).abs() < 12.0
            })
    };
    let places = [(x + 8.0, y - 8.0), (x + 8.0, y + 9.0), (x - 8.0 - width, y - 8.0), (x - 8.0 - width, y + 9.0)];
    if let Some(at) = places.into_iter().find(|at| free(*at)) {
        taken.push((at, name.clone()));
        scene.add("ink small", vec![Shape::Text(at, name, Anchor::Start)]);
    }
}
