//! Points × repeats → runs: traffic, warm-up, keys and estimates, with what a dataset holds.

use std::collections::HashMap;
use std::rc::Rc;

use super::axes::{AxisValue, MatrixPoint};
use super::build::PlanInput;
use super::draft::{Draft, gaps};
use super::traffic::warmup;
use super::types::{Arrivals, Axis, Point, RunPlan, SloPlan, SloTarget, TrafficPlan, VariantPlan, WarmupPlan};
use super::{ids, keys};
use crate::catalog::Task;
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::model::OnShort;
use crate::units::Rate;
use crate::workload::{Class, Dataset, Fields, LARGEST_IMAGE_SIDE, Selection, Tally};

/// A run with what the order of steps needs to know about it.
pub(super) struct Made {
    pub(super) run: RunPlan,
    pub(super) variant: usize,
    /// The point without its variant.
    pub(super) cell: usize,
}

/// Dataset, requests, seed, shape axes, and which gaps: what a tally depends on.
type TallyKey = (usize, u64, u64, [(u8, u64); 3], usize);

/// Makes the runs of a plan.
pub(super) struct Maker<'a> {
    input: &'a PlanInput<'a>,
    draft: &'a Draft,
    slo: Option<SloPlan>,
    varying: &'a [Axis],
    /// Gaps of each variant, by position among the different ones.
    gap_of: Vec<usize>,
    gaps: Vec<Fields>,
    tallies: HashMap<TallyKey, Rc<Tally>>,
    bases: HashMap<(usize, usize), String>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(input: &'a PlanInput<'a>, draft: &'a Draft, slo: Option<SloPlan>, varying: &'a [Axis]) -> Self {
        let mut all: Vec<Fields> = Vec::new();
        let mut gap_of = Vec::new();
        for variant in &draft.variants {
            let own = gaps(&variant.endpoint);
            let position = all.iter().position(|known| *known == own).unwrap_or_else(|| {
                all.push(own);
                all.len() - 1
            });
            gap_of.push(position);
        }
        Self { input, draft, slo, varying, gap_of, gaps: all, tallies: HashMap::new(), bases: HashMap::new() }
    }

    /// Every run, in canonical order.
    pub(super) fn runs(mut self, problems: &mut Vec<Problem>) -> Vec<Made> {
        let mut made = Vec::new();
        let mut cells = HashMap::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (number, point) in self.draft.points.iter().enumerate() {
            let mut without = *point;
            without.set(Axis::Variant, AxisValue::Default);
            let next = cells.len();
            let cell = *cells.entry(without.key()).or_insert(next);
            let Some(run) = self.run(point, problems) else { continue };
            if let Some(earlier) = seen.insert(run.id.clone(), number) {
                let message =
                    format!("points {} and {} of the matrix are the same run `{}`", earlier + 1, number + 1, run.id);
                add(Problem::value("matrix", message), problems);
                continue;
            }
            let variant = point.position(Axis::Variant);
            made.extend((1..=self.draft.rules.repeats).map(|repeat| {
                let run = RunPlan { id: ids::run_id(&run.id, repeat), repeat, ..run.clone() };
                Made { run, variant, cell }
            }));
        }
        made
    }

    fn run(&mut self, point: &MatrixPoint, problems: &mut Vec<Problem>) -> Option<RunPlan> {
        let (variant_at, dataset_at) = (point.position(Axis::Variant), point.position(Axis::Dataset));
        let draft = self.draft;
        let variant = draft.variants.get(variant_at)?;
        let (name, _) = self.input.scenario.datasets.get_index(dataset_at)?;
        let dataset = self.input.data.dataset(name)?;
        let (traffic, asked) = self.traffic(point, dataset, problems)?;
        let shape = Point {
            size: point.size(),
            num_inference_steps: point.small(Axis::NumInferenceSteps),
            num_frames: point.small(Axis::NumFrames),
        };
        let gap = self.gap_of.get(variant_at).copied().unwrap_or_default();
        let axes = [Axis::Size, Axis::NumInferenceSteps, Axis::NumFrames].map(|axis| point.get(axis).key());
        let key = (dataset_at, traffic.requests, traffic.seed, axes, gap);
        let tally = if let Some(known) = self.tallies.get(&key) {
            Rc::clone(known)
        } else {
            let selection = selection(draft.task, &traffic, shape);
            let gaps = self.gaps.get(gap)?;
            self.check_shapes(dataset, &selection, gaps, problems);
            let tally = Rc::new(self.input.data.tally(name, &selection, gaps));
            self.tallies.insert(key, Rc::clone(&tally));
            tally
        };
        let warmup = warmup(&self.input.scenario.warmup, &traffic, tally.classes.len());
        let base = self
            .bases
            .entry((variant_at, dataset_at))
            .or_insert_with(|| keys::request_base(&draft.model, draft.task, &variant.endpoint, &dataset.facts.hash));
        let workload_key = keys::workload_key(base, &traffic, shape, &warmup);
        Some(RunPlan {
            id: ids::point_id(&variant.name, name, point, asked, self.varying),
            key: keys::run_key(&workload_key, &variant.config_key),
            workload_key,
            config_key: variant.config_key.clone(),
            variant: variant.name.clone(),
            dataset: name.clone(),
            estimate_s: self.estimate(variant, dataset, &tally, &traffic, &warmup),
            traffic,
            point: shape,
            warmup,
            repeat: 1,
            gpus: variant.gpus,
        })
    }

    /// The traffic of a point and the number of requests it asks for, which a short trace may cut.
    fn traffic(
        &self,
        point: &MatrixPoint,
        dataset: &Dataset,
        problems: &mut Vec<Problem>,
    ) -> Option<(TrafficPlan, u64)> {
        let rules = &self.draft.rules;
        let (cap, request_rate) = (point.small(Axis::MaxConcurrency), point.rate());
        let arrivals = rules.arrivals(request_rate);
        let Some(asked) = point.get(Axis::Requests).number().or_else(|| rules.requests(cap)) else {
            let message = "`per_concurrency` needs a `max_concurrency`, which this open loop does not have";
            add(Problem::value("traffic.requests", message), problems);
            return None;
        };
        let requests = available(dataset, asked, arrivals, problems)?;
        let seed = point.get(Axis::Seed).number()?;
        Some((TrafficPlan { requests, max_concurrency: cap, request_rate, arrivals, seed }, asked))
    }

    /// What the shapes of a selection rule out.
    fn check_shapes(&self, dataset: &Dataset, selection: &Selection, gaps: &Fields, problems: &mut Vec<Problem>) {
        let at = KeyPath::root().key("datasets").key(&dataset.name);
        let largest = self.input.data.largest_image(&dataset.name, selection, gaps);
        if let Some((width, height)) = largest.filter(|(w, h)| (*w).max(*h) > LARGEST_IMAGE_SIDE) {
            let message = format!("reference images of {width}x{height} are too large to make");
            let hint = format!("give `images` a width and height of up to {LARGEST_IMAGE_SIDE}");
            add(Problem::value(at.clone(), message).hint(hint), problems);
        }
        if let Some(message) = self.input.data.unmakeable_video(&dataset.name, selection, gaps) {
            let hint = "give `videos` a width, height, num_frames and fps of their own";
            add(Problem::value(at.clone(), message).hint(hint), problems);
        }
        for row in self.input.data.rows(&dataset.name) {
            let resolution = row.other.contains_key("resolution") || gaps.other.contains_key("resolution");
            let sized = selection.size.is_some() || row.shape.width.is_some() || gaps.shape.width.is_some();
            if resolution && sized {
                let message = format!("requests of dataset `{}` have both a size and a `resolution`", dataset.name);
                add(Problem::value(at, message).hint("servers take one of the two"), problems);
                break;
            }
        }
    }

    /// Seconds of warm-up, calibration and measured requests, as if the server answered one after the
    /// other; in open loop at least as long as the arrivals last.
    fn estimate(
        &self,
        variant: &VariantPlan,
        dataset: &Dataset,
        tally: &Tally,
        traffic: &TrafficPlan,
        warmup: &WarmupPlan,
    ) -> Option<f64> {
        let one = self.input.estimate?;
        let cost = |class: &Class| one(variant, dataset, class);
        let mut measured = 0.0;
        let mut before = 0.0;
        for (number, count) in tally.classes.iter().enumerate() {
            let alone = cost(&count.class)?;
            measured += to_f64(count.requests) * alone;
            let mut warm = count.class;
            warm.shape.num_inference_steps = warmup.num_inference_steps.or(warm.shape.num_inference_steps);
            warm.shape.num_frames = warmup.num_frames.or(warm.shape.num_frames);
            let rounds = turns(warmup.requests as usize, tally.classes.len(), number);
            before += to_f64(rounds as u64) * cost(&warm)?;
            if let Some(SloPlan { target: SloTarget::Scale { calibration, .. }, .. }) = self.slo
                && count.untargeted
            {
                before += f64::from(calibration) * alone;
            }
        }
        Some(before + measured.max(self.arrivals_last(dataset, traffic)))
    }

    fn arrivals_last(&self, dataset: &Dataset, traffic: &TrafficPlan) -> f64 {
        match (traffic.arrivals, traffic.request_rate) {
            (Arrivals::Closed, _) => 0.0,
            (Arrivals::Trace { speed }, _) => {
                let count = usize::try_from(traffic.requests).unwrap_or(usize::MAX);
                let stamps = self.input.data.rows(&dataset.name).take(count).filter_map(|row| row.timestamp_s);
                let (first, last) = stamps.fold((f64::NAN, f64::NAN), |(first, _), stamp| {
                    (if first.is_nan() { stamp } else { first }, stamp)
                });
                let span = (last - first) / speed;
                if span.is_nan() { 0.0 } else { span }
            }
            (_, Rate::PerSecond(rate)) => to_f64(traffic.requests.saturating_sub(1)) / rate,
            (_, Rate::Infinite) => 0.0,
        }
    }
}

/// The requests of a run.
pub(super) const fn selection(task: Task, traffic: &TrafficPlan, point: Point) -> Selection {
    Selection {
        task,
        requests: traffic.requests,
        seed: traffic.seed,
        size: point.size,
        num_inference_steps: point.num_inference_steps,
        num_frames: point.num_frames,
    }
}

/// How often position `at` comes up when `count` turns go round `len` positions.
fn turns(count: usize, len: usize, at: usize) -> usize {
    count / len + usize::from(at < count % len)
}

/// How many of the asked requests a dataset has.
fn available(dataset: &Dataset, asked: u64, arrivals: Arrivals, problems: &mut Vec<Problem>) -> Option<u64> {
    let (Some(on_short), Some(rows)) = (dataset.origin.on_short(), dataset.facts.rows) else {
        return Some(asked);
    };
    if asked <= rows {
        return Some(asked);
    }
    let at = KeyPath::root().key("datasets").key(&dataset.name).key("on_short");
    match on_short {
        OnShort::Truncate => return Some(rows),
        OnShort::Cycle if !matches!(arrivals, Arrivals::Trace { .. }) => return Some(asked),
        OnShort::Cycle => {
            let message = format!("the time stamps of {rows} rows cannot be replayed for {asked} requests");
            add(Problem::value(at, message).hint("write `on_short = \"truncate\"`"), problems);
        }
        OnShort::Error => {
            let message = format!("dataset `{}` has {rows} rows, and {asked} requests are asked for", dataset.name);
            add(Problem::value(at, message).hint("ask for fewer, or write `on_short = \"cycle\"`"), problems);
        }
    }
    None
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

/// Adds a problem that several runs or variants may have in common, once.
pub(super) fn add(problem: Problem, problems: &mut Vec<Problem>) {
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}
