//! How long the server's stages take, as it tells: a bar per stage and run.

use super::frame::{BELOW, Panel, PanelWords, Words, finish, heading, legend};
use super::group::Comparison;
use super::look::{LOOKS, Look, Sample};
use super::scale::{Scale, real, short};
use super::scene::{Anchor, Scene, Shape, TEXT, fitted, width_of};
use crate::plan::Plan;
use crate::report::text::inline;
use crate::summarize::{Results, StageTime, Summary};

const WIDTH: f64 = 760.0;
/// Height of one bar with its distance to the next.
const BAR: f64 = 13.0;
/// Distance between runs.
const GAP: f64 = 12.0;
/// Bars in one chart.
const MOST_BARS: usize = 120;

/// Mean stage times with a line from p50 to p99. Stages may hold each other, so nothing is stacked.
pub(super) fn stages(plan: &Plan, results: &Results, group: &Comparison<'_>) -> Option<(Words, Scene)> {
    let runs: Vec<&Summary> = group.points().map(|point| point.run).filter(|run| !run.stage_ms.is_empty()).collect();
    let names = names(&runs);
    let shown: Vec<&Summary> = runs.iter().copied().take((MOST_BARS / names.len().max(1)).max(1)).collect();
    if shown.is_empty() {
        return None;
    }
    let mut words = group.words(plan, results, "Stage times by run");
    let mut scene = Scene::new(WIDTH);
    let top = heading(&mut scene, &words) + 14.0;
    let label_width = shown.iter().map(|run| width_of(&run.id, TEXT)).fold(60.0, f64::max).min(230.0);
    let stages = |run: &Summary| -> Vec<(usize, String, StageTime)> {
        let place = |name: &String| names.iter().position(|other| other == name).unwrap_or(LOOKS);
        let mut stages: Vec<_> = run.stage_ms.iter().map(|(name, stage)| (place(name), name.clone(), *stage)).collect();
        stages.sort_by_key(|(place, ..)| *place);
        stages.truncate(MOST_BARS);
        stages
    };
    let height: f64 = shown.iter().map(|run| real(stages(run).len()) * BAR + GAP).sum();
    let most = shown.iter().flat_map(|run| run.stage_ms.values()).map(|stage| stage.p99.max(stage.mean));
    let most = most.fold(0.0, f64::max);
    let unit = if most < 10_000.0 { Unit { ms: 1.0, name: "ms" } } else { Unit { ms: 1_000.0, name: "s" } };
    let panel = Panel {
        x: Scale::from_zero(most / unit.ms, [label_width + 24.0, WIDTH - 30.0]),
        y: Scale::empty([top + height, top]),
    };
    panel.draw(&mut scene, PanelWords { title: "", x: &format!("Time ({})", unit.name), y: None });
    let mut y = top + GAP / 2.0;
    for run in &shown {
        let stages = stages(run);
        let middle = y + real(stages.len()) * BAR / 2.0;
        let name = fitted(&run.id, label_width, TEXT);
        scene.add("ink", vec![Shape::Text((label_width + 16.0, middle), name, Anchor::End)]);
        for (place, name, stage) in stages {
            draw_stage(&mut scene, &panel, y, unit, (run, place, &name, stage));
            y += BAR;
        }
        y += GAP;
    }
    words
        .notes
        .push("Bars: mean. Lines: p50 to p99. Stages may hold each other, so their times do not add up.".to_owned());
    if shown.len() < runs.len() {
        words.notes.push(format!("The first {} of {} runs are drawn.", shown.len(), runs.len()));
    }
    let below = legend(&mut scene, top + height + BELOW, &entries(&names));
    finish(&mut scene, below, &words.notes);
    Some((words, scene))
}

fn entries(names: &[String]) -> Vec<(Sample, String)> {
    let shown = names.iter().take(LOOKS).enumerate();
    let others =
        (names.len() > LOOKS).then(|| (Sample::Patch(Look::DIM.ink()), "others, named by their tooltips".to_owned()));
    shown.map(|(place, name)| (Sample::Patch(Look::of(place).ink()), inline(name))).chain(others).collect()
}

/// Stage names, the longest stages first.
fn names(runs: &[&Summary]) -> Vec<String> {
    let mut longest: indexmap::IndexMap<&String, f64> = indexmap::IndexMap::new();
    for (name, stage) in runs.iter().flat_map(|run| &run.stage_ms) {
        let known = longest.entry(name).or_insert(0.0);
        *known = known.max(stage.mean);
    }
    let mut names: Vec<(&String, f64)> = longest.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    names.into_iter().map(|(name, _)| name.clone()).collect()
}

/// What times are shown in.
#[derive(Debug, Clone, Copy)]
struct Unit {
    ms: f64,
    name: &'static str,
}

type Stage<'a> = (&'a Summary, usize, &'a str, StageTime);

fn draw_stage(scene: &mut Scene, panel: &Panel, y: f64, unit: Unit, (run, place, name, stage): Stage<'_>) {
    let in_unit = |ms: f64| ms / unit.ms;
    let told = |ms: f64| format!("{} {}", short(in_unit(ms)), unit.name);
    let told = format!(
        "{} · {name} · mean {} · p50 {} · p99 {} · n = {}",
        run.id,
        told(stage.mean),
        told(stage.p50),
        told(stage.p99),
        stage.n
    );
    let (start, middle) = (panel.x.at(0.0), y + BAR / 2.0);
    let bar = Shape::Bar([start, panel.x.at(in_unit(stage.mean)).max(start + 0.5)], [y + 1.5, y + BAR - 1.5]);
    let (low, high) = (panel.x.at(in_unit(stage.p50)), panel.x.at(in_unit(stage.p99)));
    let mut spread = vec![Shape::Line(vec![(low, middle), (high, middle)], 1.2)];
    spread.extend([low, high].map(|end| Shape::Line(vec![(end, middle - 2.5), (end, middle + 2.5)], 1.2)));
    scene.add_parts(told, vec![(Look::of(place).ink(), vec![bar]), ("ink".to_owned(), spread)]);
}
