//! What surrounds the data: heading, axes, legend and notes.

use super::look::Sample;
use super::scale::Scale;
use super::scene::{Anchor, LINE, Scene, Shape, TEXT, fitted, width_of, wrapped};

/// Distance from the picture's sides.
const EDGE: f64 = 12.0;

/// The words of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Words {
    /// What is compared.
    pub(super) title: String,
    /// Where it comes from: model, dataset, what is the same for everything in the chart.
    pub(super) subtitle: String,
    /// `simulated (20× speed), not a measurement`.
    pub(super) simulated: Option<String>,
    /// What one must know to read it.
    pub(super) notes: Vec<String>,
}

impl Words {
    /// Title, subtitle and simulation label in one line.
    pub(super) fn whole(&self) -> String {
        let parts = [Some(&self.title), Some(&self.subtitle), self.simulated.as_ref()];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" · ")
    }
}

/// Draws the heading; the pixel below it.
pub(super) fn heading(scene: &mut Scene, words: &Words) -> f64 {
    let room = scene.width - 2.0 * EDGE;
    let mut y = EDGE + 8.0;
    let mut lines = |class: &str, lines: Vec<String>, height: f64| {
        let shapes = lines.into_iter().map(|line| {
            let shape = Shape::Text((EDGE, y), line, Anchor::Start);
            y += height;
            shape
        });
        let shapes = shapes.collect();
        scene.add(class, shapes);
    };
    lines("ink title", wrapped(&words.title, room, 16.0, 2), 20.0);
    lines("muted", wrapped(&words.subtitle, room, TEXT, 3), LINE);
    lines("warn strong", wrapped(words.simulated.as_deref().unwrap_or(""), room, 13.0, 2), LINE);
    y + 2.0
}

/// Draws a legend from this pixel on; the pixel below it.
pub(super) fn legend(scene: &mut Scene, top: f64, entries: &[(Sample, String)]) -> f64 {
    let right = scene.width - EDGE;
    let (mut x, mut y) = (EDGE, top + LINE / 2.0);
    for (sample, text) in entries {
        let text = fitted(text, (right - EDGE) * 0.8, TEXT);
        let width = Sample::WIDTH + 6.0 + width_of(&text, TEXT) + 18.0;
        if x > EDGE && x + width > right + 18.0 {
            x = EDGE;
            y += LINE + 2.0;
        }
        sample.draw(scene, (x, y));
        scene.add("ink", vec![Shape::Text((x + Sample::WIDTH + 6.0, y), text, Anchor::Start)]);
        x += width;
    }
    if entries.is_empty() { top } else { y + LINE / 2.0 + 4.0 }
}

/// Draws notes from this pixel on and ends the picture below them.
pub(super) fn finish(scene: &mut Scene, top: f64, notes: &[String]) {
    let room = scene.width - 2.0 * EDGE;
    let mut y = top + LINE / 2.0;
    let mut shapes = Vec::new();
    for line in notes.iter().flat_map(|note| wrapped(note, room, 10.5, 3)) {
        shapes.push(Shape::Text((EDGE, y), line, Anchor::Start));
        y += LINE - 1.0;
    }
    scene.add("muted small", shapes);
    scene.height = y + EDGE - LINE / 2.0;
}

/// A field with axes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panel {
    pub(super) x: Scale,
    pub(super) y: Scale,
}

/// The words of a panel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PanelWords<'a> {
    /// Above the field.
    pub(super) title: &'a str,
    /// Below the horizontal axis, with the unit.
    pub(super) x: &'a str,
    /// Beside the vertical axis, with the unit; its ticks are named only with it.
    pub(super) y: Option<&'a str>,
}

/// Pixels that ticks and name of a horizontal axis take below a panel.
pub(super) const BELOW: f64 = 50.0;

impl Panel {
    /// Draws grid, ticks and names.
    pub(super) fn draw(&self, scene: &mut Scene, words: PanelWords<'_>) {
        let ([left, right], [bottom, top]) = (self.x.ends(), self.y.ends());
        let across = self.y.ticks.iter().map(|(value, _)| self.y.at(*value));
        let down = self.x.ticks.iter().map(|(value, _)| self.x.at(*value));
        let mut grid: Vec<Shape> = across.map(|y| Shape::Line(vec![(left, y), (right, y)], 1.0)).collect();
        grid.extend(down.map(|x| Shape::Line(vec![(x, top), (x, bottom)], 1.0)));
        scene.add("grid", grid);
        scene.add("muted", vec![Shape::Line(vec![(left, bottom), (right, bottom)], 1.2)]);
        let mut labels = self.x_labels(bottom);
        let middle = f64::midpoint(left, right);
        labels.push(Shape::Text((middle, bottom + 34.0), fitted(words.x, right - left + 40.0, TEXT), Anchor::Middle));
        if let Some(name) = words.y {
            labels.extend(
                self.y
                    .ticks
                    .iter()
                    .map(|(value, text)| Shape::Text((left - 7.0, self.y.at(*value)), text.clone(), Anchor::End)),
            );
            let name = fitted(name, bottom - top + 60.0, TEXT);
            labels.push(Shape::Upright((EDGE + 4.0, f64::midpoint(top, bottom)), name));
        }
        scene.add("muted", labels);
        if !words.title.is_empty() {
            scene.add("ink strong", vec![Shape::Text((left, top - 19.0), words.title.to_owned(), Anchor::Start)]);
        }
    }

    /// Labels of the horizontal axis that do not touch each other.
    fn x_labels(&self, bottom: f64) -> Vec<Shape> {
        let mut free_from = f64::NEG_INFINITY;
        let mut labels = Vec::new();
        for (value, text) in &self.x.ticks {
            let (x, half) = (self.x.at(*value), width_of(text, TEXT) / 2.0);
            if x - half >= free_from {
                labels.push(Shape::Text((x, bottom + 14.0), text.clone(), Anchor::Middle));
                free_from = x + half + 6.0;
            }
        }
        labels
    }
}
