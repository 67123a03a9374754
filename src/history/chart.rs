//! A trend as SVG: time across, the metric up, a line per series with its intervals. The same trend
//! gives the same bytes. Readable on light and dark ground, alone or inside a page.

use std::fmt::Display;
use std::ops::Range;

use jiff::Timestamp;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Point, Series, Trend, symbol};
use crate::catalog::Validity;

/// Why a trend cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the trend of `{metric}` cannot be drawn: {message}")]
pub struct ChartError {
    metric: String,
    message: String,
}

const WIDTH: u32 = 960;
const PLOT_HEIGHT: u32 = 400;
const HEAD_HEIGHT: u32 = 44;
const LINE_HEIGHT: u32 = 20;
/// Line widths that plotters draws text of a legend in; beyond it, text leaves the picture.
const LEGEND_CHARS: usize = 118;

/// Ink and grid on light ground; the style sheet exchanges them on dark ground.
const INK: RGBColor = RGBColor(0x24, 0x29, 0x2F);
const GRID: RGBColor = RGBColor(0xD8, 0xDE, 0xE4);
const STYLE: &str = "<style>\
.omni-bench-trend{font-family:sans-serif}\
@media (prefers-color-scheme:dark){\
.omni-bench-trend [fill=\"#24292F\"]{fill:#E6EDF3}.omni-bench-trend [stroke=\"#24292F\"]{stroke:#E6EDF3}\
.omni-bench-trend [stroke=\"#D8DEE4\"]{stroke:#3D444D}}\
</style>\n";

/// Middle tones that stand out from white and from black, and from one another for most eyes.
const COLORS: [RGBColor; 8] = [
    RGBColor(0x1F, 0x7F, 0xC4),
    RGBColor(0xD9, 0x6C, 0x00),
    RGBColor(0x1A, 0x9E, 0x77),
    RGBColor(0xC9, 0x4F, 0x9B),
    RGBColor(0x8C, 0x6B, 0xD8),
    RGBColor(0xA6, 0x8A, 0x00),
    RGBColor(0xD1, 0x49, 0x49),
    RGBColor(0x70, 0x80, 0x90),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// What hovering over a place tells.
struct Tip {
    at: (i32, i32),
    text: String,
}

/// The trend as one `<svg>` element, to be kept as a file or put into a page. Filled circles are valid
/// runs, hollow ones suspect, crosses invalid; the line leaves invalid ones out. Hovering over a point
/// tells it. An error when there is no number to draw.
pub fn trend_svg(trend: &Trend) -> Result<String, ChartError> {
    let wrong = |message: &dyn Display| ChartError { metric: trend.metric.clone(), message: message.to_string() };
    let drawn: Vec<&Series> = trend.series.iter().filter(|series| numbers(series).next().is_some()).collect();
    let (Some(times), Some(values)) = (times(&drawn), values(&drawn)) else {
        return Err(wrong(&"no entry has this number"));
    };
    let lines = drawn.len() + usize::from(is_doubted(&drawn));
    let legend = u32::try_from(lines).unwrap_or(u32::MAX).saturating_mul(LINE_HEIGHT);
    let mut svg = String::new();
    let tips = draw(&mut svg, trend, &drawn, (times, values), legend).map_err(|error| wrong(&error))?;
    Ok(dressed(&svg, trend, &tips))
}

/// The numbers of a series with their times.
fn numbers(series: &Series) -> impl Iterator<Item = (&Point, f64)> {
    series.points.iter().filter_map(|point| Some((point, point.value.filter(|value| value.is_finite())?)))
}

fn times(series: &[&Series]) -> Option<Range<f64>> {
    let times = series.iter().flat_map(|series| numbers(series)).map(|(point, _)| point.unix_s);
    padded(times, 0.03, 30.0)
}

fn values(series: &[&Series]) -> Option<Range<f64>> {
    let numbers = || series.iter().flat_map(|series| numbers(series));
    let ends = numbers().flat_map(|(point, value)| point.interval.into_iter().flatten().chain([value]));
    let range = padded(ends.filter(|end| end.is_finite()), 0.08, 1e-12)?;
    // no room below zero for what is never negative
    let positive = numbers().all(|(_, value)| value >= 0.0);
    Some(if positive { range.start.max(0.0)..range.end } else { range })
}

/// From the smallest to the largest, with room on both sides.
fn padded(numbers: impl Iterator<Item = f64>, share: f64, least: f64) -> Option<Range<f64>> {
    let widest = |(low, high): (f64, f64), (number, _): (f64, f64)| (low.min(number), high.max(number));
    let (low, high) = numbers.map(|number| (number, number)).reduce(widest)?;
    let alone = if high > low { 0.0 } else { high.abs() * 0.1 };
    let room = ((high - low) * share).max(alone).max(least);
    Some(low - room..high + room)
}

/// Draws and gives the places of the points with what they tell.
fn draw(
    svg: &mut String,
    trend: &Trend,
    series: &[&Series],
    (times, values): (Range<f64>, Range<f64>),
    legend: u32,
) -> Result<Vec<Tip>, String> {
    let told = |error: &dyn Display| error.to_string();
    let root = SVGBackend::with_string(svg, (WIDTH, HEAD_HEIGHT + PLOT_HEIGHT + legend)).into_drawing_area();
    let (head, rest) = root.split_vertically(HEAD_HEIGHT);
    let (body, foot) = rest.split_vertically(PLOT_HEIGHT);
    let text = |size: u32| ("sans-serif", size).into_font().color(&INK);
    head.draw(&Text::new(title(trend), (12, 12), text(18))).map_err(|error| told(&error))?;
    let unit = time_unit(times.end - times.start);
    let times = times.start / unit..times.end / unit;
    let mut chart = ChartBuilder::on(&body)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(84)
        .build_cartesian_2d(times, values)
        .map_err(|error| told(&error))?;
    chart
        .configure_mesh()
        .x_desc("start of the run (UTC)")
        .y_desc(heading(trend))
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(text(13))
        .axis_desc_style(text(14))
        .x_labels(7)
        .y_labels(8)
        .x_label_formatter(&|units| moment(*units * unit, unit))
        .y_label_formatter(&|value| significant(*value))
        .draw()
        .map_err(|error| told(&error))?;
    let mut tips = Vec::new();
    for (series, color) in series.iter().zip(COLORS.iter().cycle()) {
        line(&mut chart, series, unit, *color)?;
        tips.extend(numbers(series).map(|(point, value)| {
            let at = chart.backend_coord(&(point.unix_s / unit, value));
            Tip { at, text: tip(trend, series, point, value) }
        }));
    }
    key(&foot, series)?;
    root.present().map_err(|error| told(&error))?;
    drop(chart);
    Ok(tips)
}

/// One series: its line, its intervals, its points.
fn line(chart: &mut Plot<'_, '_>, series: &Series, unit: f64, color: RGBColor) -> Result<(), String> {
    let told = |error: &dyn Display| error.to_string();
    let believed = numbers(series).filter(|(point, _)| point.validity != Validity::Invalid);
    let path = believed.map(|(point, value)| (point.unix_s / unit, value));
    chart.draw_series(LineSeries::new(path, color.stroke_width(2))).map_err(|error| told(&error))?;
    let intervals = numbers(series).filter_map(|(point, _)| Some((point.unix_s / unit, point.interval?)));
    let bars = intervals.map(|(at, [low, high])| PathElement::new([(at, low), (at, high)], color.mix(0.6)));
    chart.draw_series(bars).map_err(|error| told(&error))?;
    for (point, value) in numbers(series) {
        let at = (point.unix_s / unit, value);
        match point.validity {
            Validity::Valid => chart.draw_series([Circle::new(at, 4, color.filled())]).map(drop),
            Validity::Suspect => chart.draw_series([Circle::new(at, 4, color.stroke_width(2))]).map(drop),
            Validity::Invalid => chart.draw_series([Cross::new(at, 4, color.stroke_width(2))]).map(drop),
        }
        .map_err(|error| told(&error))?;
    }
    Ok(())
}

/// Whether a point does not stand for a valid run.
fn is_doubted(series: &[&Series]) -> bool {
    series.iter().flat_map(|series| numbers(series)).any(|(point, _)| point.validity != Validity::Valid)
}

/// A line per series below the plot, then what the points mean when they are not all the same.
fn key(foot: &Area<'_>, series: &[&Series]) -> Result<(), String> {
    let style = ("sans-serif", 13).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    let middle = i32::try_from(LINE_HEIGHT / 2).unwrap_or_default();
    let rows = (0..).step_by(usize::try_from(LINE_HEIGHT).unwrap_or(1)).map(|top: i32| top + middle);
    for ((series, color), row) in series.iter().zip(COLORS.iter().cycle()).zip(rows) {
        let mut name: String = plain(&described(series)).chars().take(LEGEND_CHARS).collect();
        if name.chars().count() == LEGEND_CHARS {
            name.push('…');
        }
        foot.draw(&Circle::new((90, row), 5, color.filled())).map_err(|error| error.to_string())?;
        foot.draw(&Text::new(name, (104, row), style.clone())).map_err(|error| error.to_string())?;
    }
    if is_doubted(series) {
        let row = i32::try_from(series.len()).unwrap_or_default() * (2 * middle) + middle;
        let words = "hollow: suspect; cross: invalid, left out of the line";
        foot.draw(&Text::new(words, (104, row), style)).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn described(series: &Series) -> String {
    let short: String = series.key.chars().take(8).collect();
    let simulated = if series.simulated { ", not a measurement" } else { "" };
    format!("{} {} on {}{simulated} [{short}]", series.scenario, series.name, series.hardware)
}

fn title(trend: &Trend) -> String {
    let simulated = trend.series.iter().any(|series| series.simulated);
    let note = if simulated { ", with simulated figures, which are not measurements" } else { "" };
    format!("{} over time{note}", plain(&trend.label))
}

fn heading(trend: &Trend) -> String {
    match trend.unit.and_then(symbol) {
        Some(unit) => format!("{} ({unit})", plain(&trend.label)),
        None => plain(&trend.label),
    }
}

/// What hovering over a point tells.
fn tip(trend: &Trend, series: &Series, point: &Point, value: f64) -> String {
    let unit = trend.unit.and_then(symbol).map(|unit| format!(" {unit}")).unwrap_or_default();
    let interval = point.interval.map(|[low, high]| format!(" [{} to {}]", significant(low), significant(high)));
    let n = point.n.map(|n| format!(", n = {n}")).unwrap_or_default();
    format!(
        "{}: {}{unit}{}{n}, {}\n{}\n{}",
        point.time,
        significant(value),
        interval.unwrap_or_default(),
        point.validity.name(),
        described(series),
        point.results,
    )
}

/// Seconds of the unit in which the axis counts, so that its marks fall on whole days, hours or minutes.
const fn time_unit(span_s: f64) -> f64 {
    match span_s {
        ..300.0 => 1.0,
        ..18_000.0 => 60.0,
        ..432_000.0 => 3_600.0,
        _ => 86_400.0,
    }
}

/// A moment in words as long as the axis needs.
#[expect(clippy::cast_possible_truncation, reason = "seconds of a time that jiff gave")]
fn moment(unix_s: f64, unit: f64) -> String {
    let Ok(time) = Timestamp::from_second(unix_s.round() as i64) else { return String::new() };
    let form = match unit {
        ..60.0 => "%H:%M:%S",
        ..86_400.0 => "%m-%d %H:%M",
        _ if unix_s % unit == 0.0 => "%Y-%m-%d",
        _ => "%Y-%m-%d %H:%M",
    };
    time.strftime(form).to_string()
}

/// Five significant digits, without zeros at the end.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs().log10().floor();
    if !(-6.0..9.0).contains(&size) {
        return format!("{value:.4e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 10")]
    let places = (4.0 - size).clamp(0.0, 10.0) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Text without what XML cannot hold.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{FFFE}' | '\u{FFFF}')).collect()
}

fn escaped(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(plain).collect();
    lines.join("\n").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The drawing with its style sheet, a name for screen readers, and what its points tell.
fn dressed(svg: &str, trend: &Trend, tips: &[Tip]) -> String {
    let name = format!("<title>{}</title>\n", escaped(&title(trend)));
    let tips = tips.iter().map(|Tip { at: (x, y), text }| {
        format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"8\" fill-opacity=\"0\"><title>{}</title></circle>\n", escaped(text))
    });
    let tips = tips.collect::<Vec<_>>().concat();
    let svg = svg.replacen("<svg ", "<svg class=\"omni-bench-trend\" role=\"img\" ", 1);
    let (open, rest) = svg.split_once('\n').unwrap_or((&svg, ""));
    let body = rest.trim_end().trim_end_matches("</svg>");
    format!("{open}\n{name}{STYLE}{body}{tips}</svg>\n")
}
