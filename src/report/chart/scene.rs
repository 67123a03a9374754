//! What a chart is made of before it is drawn: groups of shapes in pixels, each group of one ink and
//! with one tooltip.

/// A place in pixels from the upper left corner.
pub(super) type Place = (f64, f64);

/// Which point of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A thing to draw.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A line through these places, so wide.
    Line(Vec<Place>, f64),
    /// A filled polygon.
    Area(Vec<Place>),
    /// A filled rectangle: left and right, top and bottom.
    Bar([f64; 2], [f64; 2]),
    /// A filled circle and its radius.
    Disc(Place, f64),
    /// A circle's line and its radius.
    Ring(Place, f64),
    /// A text whose middle line runs through the place.
    Text(Place, String, Anchor),
    /// The same, read from below.
    Upright(Place, String),
}

/// Shapes of one look: classes of the style sheet, the ink first.
pub(super) type Part = (String, Vec<Shape>);

/// What means one thing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    /// What a pointer that rests here is told.
    pub(super) tooltip: Option<String>,
    pub(super) parts: Vec<Part>,
}

/// A picture in the making.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) groups: Vec<Group>,
}

impl Scene {
    /// An empty picture, so wide.
    pub(super) fn new(width: f64) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds shapes of one class.
    pub(super) fn add(&mut self, class: &str, shapes: Vec<Shape>) {
        if !shapes.is_empty() {
            self.groups.push(Group { tooltip: None, parts: vec![(class.to_owned(), shapes)] });
        }
    }

    /// Adds shapes of one class that tell something.
    pub(super) fn add_told(&mut self, class: &str, tooltip: impl Into<String>, shapes: Vec<Shape>) {
        self.add_parts(tooltip, vec![(class.to_owned(), shapes)]);
    }

    /// Adds shapes of several classes that tell one thing.
    pub(super) fn add_parts(&mut self, tooltip: impl Into<String>, parts: Vec<Part>) {
        let parts: Vec<Part> = parts.into_iter().filter(|(_, shapes)| !shapes.is_empty()).collect();
        if !parts.is_empty() {
            self.groups.push(Group { tooltip: Some(tooltip.into()), parts });
        }
    }
}

/// Height of a line of text.
pub(super) const LINE: f64 = 16.0;
/// Size of ordinary text, as the style sheet has it.
pub(super) const TEXT: f64 = 12.0;

/// How wide a text of this size probably is: no font is at hand, so letters count by their kind.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    let em = |letter: char| match letter {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | '(' | ')' | '/' | '-' => {
            0.36
        }
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' | '…' => 0.92,
        'A'..='Z' | '&' | '→' | '×' | '=' | '+' => 0.74,
        letter if letter.is_ascii() => 0.62,
        // most scripts that are wider than Latin have letters as wide as high
        letter if u32::from(letter) >= 0x2e80 => 1.05,
        _ => 0.66,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// The text, or as much of it as fits with a sign that something is missing.
pub(super) fn fitted(text: &str, width: f64, size: f64) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let room = width - width_of("…", size);
    let mut used = 0.0;
    let kept = text.chars().take_while(|letter| {
        used += width_of(letter.encode_utf8(&mut [0; 4]), size);
        used <= room
    });
    format!("{}…", kept.collect::<String>().trim_end())
}

/// The text in lines that fit; the last of `most` lines is cut when there is more.
pub(super) fn wrapped(text: &str, width: f64, size: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line, size) + width_of(" ", size) + width_of(word, size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| fitted(line, width, size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_does_not_fit_ends_with_a_sign() {
        assert_eq!(fitted("short", 200.0, TEXT), "short");
        let cut = fitted(&"variant ".repeat(30), 100.0, TEXT);
        assert!(cut.ends_with('…') && width_of(&cut, TEXT) <= 100.0, "{cut}");
    }

    #[test]
    fn lines_break_between_words_and_the_last_one_is_cut() {
        let text = "one two three four five six seven eight nine ten";
        let lines = wrapped(text, 80.0, TEXT, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width_of(line, TEXT) <= 80.0) && lines[1].ends_with('…'), "{lines:?}");
        assert_eq!(wrapped(text, 2000.0, TEXT, 2), [text]);
        assert!(wrapped("", 80.0, TEXT, 2).is_empty());
    }
}
