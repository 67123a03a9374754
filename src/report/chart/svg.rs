//! Draws a scene with plotters' SVG backend.
//!
//! The backend knows neither groups nor tooltips nor style sheets, so each group is a drawing of its
//! own whose elements go into one document: `<g class="ink"><title>…</title>…</g>`. Everything is
//! drawn in black, which the document calls `currentColor`, and the style sheet gives the inks their
//! colours for light and dark. Places are kept to a tenth of a pixel.

use plotters::prelude::{
    BLACK, Circle, FontTransform, IntoDrawingArea as _, IntoFont as _, PathElement, Polygon, Rectangle, SVGBackend,
    ShapeStyle, Text, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::scene::{Anchor, Group, Part, Place, Scene, Shape, TEXT};

/// A chart that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("a chart cannot be drawn: {0}")]
pub struct ChartError(String);

/// The style sheet of every chart, as an element.
pub(crate) fn style() -> String {
    format!("<style>{}</style>", include_str!("chart.css"))
}

/// Parts of a pixel that the backend's whole numbers count.
const PARTS: f64 = 10.0;
/// What the backend writes for the one colour that is used.
const DRAWN_INK: &str = "\"#000000\"";
/// What the backend divides text sizes by.
const TEXT_SCALE: f64 = 1.24;
/// Size of text as the backend gets it.
const LETTERS: f64 = TEXT * PARTS * TEXT_SCALE;

/// The scene as a document whose name for people who do not see it is `label`.
pub(super) fn draw(scene: &Scene, label: &str) -> Result<String, ChartError> {
    let (width, height) = (parts(scene.width), parts(scene.height));
    let mut document = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ob-chart\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{}\" role=\"img\" \
         aria-label=\"{}\">\n{}\n",
        scene.width.round(),
        scene.height.round(),
        parts(TEXT),
        escaped(label),
        style()
    );
    for group in &scene.groups {
        document.push_str(&draw_group(group, (width, height))?);
    }
    document.push_str("</svg>\n");
    Ok(document)
}

fn draw_group(group: &Group, size: (i32, i32)) -> Result<String, ChartError> {
    let title = group.tooltip.as_ref().map(|text| format!("<title>{}</title>", escaped(text))).unwrap_or_default();
    let drawn = |(class, shapes): &Part, title: &str| {
        Ok(format!("<g class=\"{}\">{title}\n{}</g>\n", escaped(class), draw_shapes(shapes, size)?))
    };
    if let [part] = group.parts.as_slice() {
        return drawn(part, &title);
    }
    let parts: Result<Vec<String>, ChartError> = group.parts.iter().map(|part| drawn(part, "")).collect();
    Ok(format!("<g>{title}\n{}</g>\n", parts?.concat()))
}

fn draw_shapes(shapes: &[Shape], (width, height): (i32, i32)) -> Result<String, ChartError> {
    let mut drawing = String::new();
    {
        let size = (width.unsigned_abs(), height.unsigned_abs());
        let area = SVGBackend::with_string(&mut drawing, size).into_drawing_area();
        for shape in shapes {
            draw_shape(&area, shape).map_err(ChartError)?;
        }
        area.present().map_err(|error| ChartError(error.to_string()))?;
    }
    let elements = drawing.split_once(">\n").map_or("", |(_, elements)| elements);
    let elements = elements.strip_suffix("</svg>\n").unwrap_or(elements);
    // what every element has alike says nothing; the document gives all text its font and size
    let lettering = format!(" font-family=\"sans-serif\" font-size=\"{}\"", LETTERS / TEXT_SCALE);
    Ok([" opacity=\"1\"", " stroke=\"none\"", &lettering]
        .iter()
        .fold(elements.replace(DRAWN_INK, "\"currentColor\""), |text, attribute| text.replace(attribute, "")))
}

type Area<'a> = plotters::drawing::DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw_shape(area: &Area<'_>, shape: &Shape) -> Result<(), String> {
    let filled = ShapeStyle::from(&BLACK).filled();
    let line = |width: f64| ShapeStyle::from(&BLACK).stroke_width(parts(width).unsigned_abs());
    let drawn = match shape {
        Shape::Line(places, width) => area.draw(&PathElement::new(all(places), line(*width))),
        Shape::Area(places) => area.draw(&Polygon::new(all(places), filled)),
        Shape::Bar([left, right], [top, bottom]) => {
            area.draw(&Rectangle::new([at((*left, *top)), at((*right, *bottom))], filled))
        }
        Shape::Disc(place, radius) => area.draw(&Circle::new(at(*place), parts(*radius), filled)),
        Shape::Ring(place, radius) => area.draw(&Circle::new(at(*place), parts(*radius), line(1.5))),
        Shape::Text(place, text, anchor) => {
            area.draw(&Text::new(printable(text), at(*place), lettering(*anchor, FontTransform::None)))
        }
        Shape::Upright(place, text) => {
            area.draw(&Text::new(printable(text), at(*place), lettering(Anchor::Middle, FontTransform::Rotate270)))
        }
    };
    drawn.map_err(|error| error.to_string())
}

fn lettering(anchor: Anchor, turn: FontTransform) -> TextStyle<'static> {
    let side = match anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let font = ("sans-serif", LETTERS).into_font().transform(turn);
    TextStyle::from(font).pos(Pos::new(side, VPos::Center))
}

fn at((x, y): Place) -> (i32, i32) {
    (parts(x), parts(y))
}

fn all(places: &[Place]) -> Vec<(i32, i32)> {
    places.iter().copied().map(at).collect()
}

/// Pixels as the backend counts them; what lies far outside of any picture stays at its side of it.
#[expect(clippy::cast_possible_truncation, reason = "clamped to what fits; NaN becomes 0")]
fn parts(pixels: f64) -> i32 {
    (pixels * PARTS).round().clamp(-1e6, 1e6) as i32
}

/// The text without characters that no XML document may hold.
fn printable(text: &str) -> String {
    let fits = |c: char| !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    text.chars().map(|c| if fits(c) || c == '\n' { c } else { '\u{fffd}' }).collect()
}

/// The text for an element or a quoted attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_its_class_its_tooltip_and_no_fixed_colour() {
        let mut scene = Scene { width: 100.0, height: 50.0, groups: Vec::new() };
        scene.add_told("s1 d1", "a <b> & \u{1b}\"c\"", vec![Shape::Line(vec![(1.0, 2.0), (3.26, 4.0)], 1.5)]);
        scene.add("ink", vec![Shape::Text((5.0, 6.0), "x < y".to_owned(), Anchor::End)]);
        let svg = draw(&scene, "one & two").unwrap();
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ob-chart\" width=\"100\""), "{svg}");
        assert!(svg.contains("aria-label=\"one &amp; two\""), "{svg}");
        assert!(
            svg.contains(
                "<g class=\"s1 d1\"><title>a &lt;b&gt; &amp; \u{fffd}&quot;c&quot;</title>\n\
                 <polyline fill=\"none\" stroke=\"currentColor\" stroke-width=\"15\" points=\"10,20 33,40 \"/>\n</g>"
            ),
            "{svg}"
        );
        assert!(svg.contains("x &lt; y") && svg.contains("text-anchor=\"end\""), "{svg}");
        assert_eq!((svg.matches("<svg").count(), svg.matches("</svg>").count()), (1, 1));
        assert!(!svg.contains("#000000"));
    }

    #[test]
    fn a_place_that_is_no_number_or_far_away_is_still_drawn_somewhere() {
        assert_eq!(parts(f64::NAN), 0);
        assert_eq!(parts(f64::INFINITY), 1_000_000);
        assert_eq!(parts(1.26), 13);
    }
}
