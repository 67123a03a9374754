//! Latency and throughput against the load, a series per variant.

use super::frame::{BELOW, Panel, PanelWords, Words, finish, heading, legend};
use super::group::{Comparison, Load, Pace, Point, Series, headline};
use super::look::{Look, Sample, arrow_up, cross};
use super::scale::{Scale, short};
use super::scene::{Place, Scene, Shape};
use crate::catalog::Validity;
use crate::plan::Plan;
use crate::summarize::{Results, Summary};

/// Room for the names of a vertical axis.
const LEFT: f64 = 74.0;
/// Room at the right side.
const RIGHT: f64 = 18.0;
/// Height of a field.
const HEIGHT: f64 = 250.0;

/// Latency against load: a panel for each of p50, p95 and p99, with intervals.
pub(super) fn latency(plan: &Plan, results: &Results, group: &Comparison<'_>) -> Option<(Words, Scene)> {
    let figures: Vec<Percentile> = ["p50", "p95", "p99"].map(|name| Percentile { name }).to_vec();
    let loads = group.loads();
    if loads.len() < 2 || !figures.iter().any(|figure| group.points().any(|point| figure.height(point.run).is_some())) {
        return None;
    }
    let what = format!("{} against {}", group.load.waited(), group.load.name());
    let mut words = group.words(plan, results, &what);
    let mut scene = Scene::new(960.0);
    let top = heading(&mut scene, &words) + 36.0;
    let (width, gap) = ((960.0 - LEFT - RIGHT - 2.0 * 26.0) / 3.0, 26.0);
    let heights = || group.points().flat_map(|point| figures.iter().flat_map(move |figure| figure.extent(point.run)));
    let mut seen = Seen::default();
    for (place, figure) in figures.iter().enumerate() {
        let left = LEFT + super::scale::real(place) * (width + gap);
        let panel = Panel {
            x: Scale::of_loads(&loads, [left, left + width]),
            y: Scale::fitting(heights(), [top + HEIGHT, top]),
        };
        let name = format!("{} (s)", group.load.waited());
        let title = figure.name.to_uppercase();
        let y = (place == 0).then_some(name.as_str());
        panel.draw(&mut scene, PanelWords { title: &title, x: axis_name(group.load, width), y });
        draw_series(&mut scene, &panel, group, figure, &mut seen);
    }
    if Scale::fitting(heights(), [0.0, 1.0]).is_logarithmic() {
        words.notes.push("The vertical scale is logarithmic.".to_owned());
    }
    words.notes.push("Bars: 95 % order-statistic intervals within a run.".to_owned());
    close(&mut scene, top + HEIGHT + BELOW, &mut words, group, seen);
    Some((words, scene))
}

/// Successes per second against load.
pub(super) fn throughput(plan: &Plan, results: &Results, group: &Comparison<'_>) -> Option<(Words, Scene)> {
    let loads = group.loads();
    let rates: Vec<f64> = group.points().filter_map(|point| point.run.throughput_per_s).collect();
    if loads.len() < 2 || !rates.iter().any(|rate| *rate > 0.0) {
        return None;
    }
    let figure = Throughput(Pace::of(rates.iter().copied()));
    let mut words = group.words(plan, results, &format!("Throughput against {}", group.load.name()));
    let mut scene = Scene::new(720.0);
    let top = heading(&mut scene, &words) + 16.0;
    // in open loop the rate that is offered is the line to keep up with
    let offered = if group.load == Load::Rate { loads.clone() } else { Vec::new() };
    let most = figure.0.told(rates.into_iter().chain(offered.iter().copied()).fold(0.0, f64::max));
    let panel =
        Panel { x: Scale::of_loads(&loads, [LEFT, 720.0 - RIGHT]), y: Scale::from_zero(most, [top + HEIGHT, top]) };
    let y = format!("Successes ({})", figure.0.unit);
    panel.draw(&mut scene, PanelWords { title: "", x: group.load.axis(), y: Some(&y) });
    let mut seen = Seen::default();
    if group.load == Load::Rate {
        let line = offered.iter().map(|rate| (panel.x.at(*rate), panel.y.at(figure.0.told(*rate))));
        scene.add_told("dim d4", "offered", vec![Shape::Line(line.collect(), 1.2)]);
        words.notes.push("The grey line is the rate that was offered.".to_owned());
    }
    draw_series(&mut scene, &panel, group, &figure, &mut seen);
    close(&mut scene, top + HEIGHT + BELOW, &mut words, group, seen);
    Some((words, scene))
}

fn axis_name(load: Load, width: f64) -> &'static str {
    match load {
        Load::Concurrency if width < 300.0 => "Max concurrency",
        Load::Rate if width < 300.0 => "Request rate (1/s)",
        Load::Concurrency | Load::Rate => load.axis(),
    }
}

/// A figure of a run that has a height in a chart.
trait Figure {
    /// The figure.
    fn height(&self, run: &Summary) -> Option<f64>;
    /// What it is known to lie above when it is not known itself.
    fn above(&self, run: &Summary) -> Option<f64>;
    /// Its 95 % interval.
    fn interval(&self, run: &Summary) -> Option<[f64; 2]>;
    /// Why it has to be taken with care.
    fn doubt(&self, run: &Summary) -> Option<String>;
    /// It in words.
    fn told(&self, run: &Summary) -> String;

    /// Every height that must be seen.
    fn extent(&self, run: &Summary) -> Vec<f64> {
        let known = self.height(run).or_else(|| self.above(run));
        known.into_iter().chain(self.interval(run).into_iter().flatten()).collect()
    }
}

#[derive(Debug, Clone, Copy)]
struct Percentile {
    name: &'static str,
}

impl Percentile {
    /// Observations from which on the interval exists.
    const fn needed(self) -> u64 {
        match self.name.as_bytes() {
            b"p50" => 6,
            b"p95" => 59,
            _ => 299,
        }
    }
}

impl Figure for Percentile {
    fn height(&self, run: &Summary) -> Option<f64> {
        let distribution = headline(run);
        match self.name {
            "p50" => distribution.p50,
            "p95" => distribution.p95,
            _ => distribution.p99,
        }
    }

    fn above(&self, run: &Summary) -> Option<f64> {
        headline(run).at_least.filter(|_| self.height(run).is_none())
    }

    fn interval(&self, run: &Summary) -> Option<[f64; 2]> {
        let support = run.percentiles.get(self.name)?;
        Some([support.low?, support.high?])
    }

    fn doubt(&self, run: &Summary) -> Option<String> {
        let n = run.completed + run.censored;
        if run.censored > 0 {
            return Some(format!("Kaplan–Meier: {} of {n} requests were cut by a limit of the client", run.censored));
        }
        let supported = run.percentiles.get(self.name).is_some_and(|percentile| percentile.supported);
        (!supported).then(|| format!("not supported: {n} requests, its interval exists from {} on", self.needed()))
    }

    fn told(&self, run: &Summary) -> String {
        let title = self.name.to_uppercase();
        match (self.height(run), self.above(run), self.interval(run)) {
            (Some(value), _, Some([low, high])) => {
                format!("{title} {} s, 95 % interval {}–{} s", short(value), short(low), short(high))
            }
            (Some(value), ..) => format!("{title} {} s", short(value)),
            (None, Some(bound), _) => format!("{title} ≥ {} s", short(bound)),
            (None, None, _) => format!("{title} n/a"),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Throughput(Pace);

impl Figure for Throughput {
    fn height(&self, run: &Summary) -> Option<f64> {
        run.throughput_per_s.map(|rate| self.0.told(rate))
    }

    fn above(&self, _: &Summary) -> Option<f64> {
        None
    }

    fn interval(&self, _: &Summary) -> Option<[f64; 2]> {
        None
    }

    fn doubt(&self, run: &Summary) -> Option<String> {
        (!run.throughput_comparable).then(|| "not comparable: a limit of the client cut requests".to_owned())
    }

    fn told(&self, run: &Summary) -> String {
        self.height(run).map_or_else(|| "n/a".to_owned(), |rate| format!("{} {}", short(rate), self.0.unit))
    }
}

/// Signs that were used and that the legend must explain.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    doubt: bool,
    invalid: bool,
    above: bool,
}

fn draw_series(scene: &mut Scene, panel: &Panel, group: &Comparison<'_>, figure: &impl Figure, seen: &mut Seen) {
    // the first series goes on top
    let (dim, distinct): (Vec<_>, Vec<_>) = group.series.iter().partition(|series| series.look.is_dim());
    for series in dim.into_iter().chain(distinct.into_iter().rev()) {
        let look = series.look;
        let line: Vec<Place> = series
            .line(|run| figure.height(run).or_else(|| figure.above(run)))
            .into_iter()
            .map(|(load, height)| (panel.x.at(load) + aside(look, group), panel.y.at(height)))
            .collect();
        if line.len() > 1 {
            let class = look.line();
            scene.add_told(&class, &series.label, vec![Shape::Line(line, if look.is_dim() { 1.0 } else { 1.8 })]);
        }
        for point in &series.points {
            draw_point(scene, panel, aside(look, group), series, *point, figure, seen);
        }
    }
}

/// How far a series stands beside its load, so that intervals do not hide each other.
fn aside(look: Look, group: &Comparison<'_>) -> f64 {
    let distinct = super::scale::real(group.series.len().min(super::look::LOOKS));
    look.place().map_or(0.0, |place| (super::scale::real(place) - (distinct - 1.0) / 2.0) * 3.5)
}

fn draw_point(
    scene: &mut Scene,
    panel: &Panel,
    aside: f64,
    series: &Series<'_>,
    point: Point<'_>,
    figure: &impl Figure,
    seen: &mut Seen,
) {
    let (run, look) = (point.run, series.look);
    let above = figure.above(run);
    let Some(height) = figure.height(run).or(above) else { return };
    let (x, y) = (panel.x.at(point.load) + aside, panel.y.at(height));
    let doubt = figure.doubt(run);
    let invalid = run.validity == Validity::Invalid;
    let mut told = vec![series.label.clone(), run.id.clone(), figure.told(run), format!("n = {}", run.completed)];
    told.extend(doubt.clone());
    if run.validity != Validity::Valid {
        told.push(format!("run is {}", run.validity));
    }
    let mut shapes = Vec::new();
    if let (Some([low, high]), false) = (figure.interval(run), look.is_dim()) {
        let (low, high) = (panel.y.at(low), panel.y.at(high));
        shapes.push(Shape::Line(vec![(x, low), (x, high)], 1.2));
        shapes.extend([low, high].map(|end| Shape::Line(vec![(x - 3.5, end), (x + 3.5, end)], 1.2)));
    }
    shapes.extend(look.marker((x, y), doubt.is_some()));
    if above.is_some() {
        shapes.extend(arrow_up((x, y)));
    }
    seen.doubt |= doubt.is_some();
    seen.invalid |= invalid;
    seen.above |= above.is_some();
    let sign = if invalid { cross((x, y)) } else { Vec::new() };
    scene.add_parts(told.join(" · "), vec![(look.ink(), shapes), ("bad".to_owned(), sign)]);
}

/// Legend and notes.
fn close(scene: &mut Scene, top: f64, words: &mut Words, group: &Comparison<'_>, seen: Seen) {
    let mut entries = series_entries(group);
    if seen.doubt {
        entries.push((Sample::Hollow, "hollow: not supported, or not comparable".to_owned()));
    }
    if seen.invalid {
        entries.push((Sample::Cross, "the run is invalid".to_owned()));
    }
    if seen.above {
        words.notes.push("An arrow up: the true value is higher, as a limit of the client cut requests.".to_owned());
    }
    let repeats = group
        .series
        .iter()
        .any(|series| series.points.chunk_by(|a, b| a.load.total_cmp(&b.load).is_eq()).any(|same| same.len() > 1));
    if repeats {
        words.notes.push("Lines run through the mean of repeats.".to_owned());
    }
    let below = legend(scene, top, &entries);
    finish(scene, below, &words.notes);
}

/// A legend entry per series, when there are several.
pub(super) fn series_entries(group: &Comparison<'_>) -> Vec<(Sample, String)> {
    if group.series.len() < 2 {
        return Vec::new();
    }
    let distinct = group.series.iter().filter(|series| !series.look.is_dim());
    let mut entries: Vec<_> = distinct.map(|series| (Sample::Series(series.look), series.label.clone())).collect();
    let rest = group.series.len() - entries.len();
    if rest > 0 {
        entries
            .push((Sample::Series(Look::DIM), format!("{rest} others, none with more throughput, named by tooltips")));
    }
    entries
}
