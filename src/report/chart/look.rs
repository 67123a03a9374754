//! How series are told apart: by colour, by dash and by marker at once, so that none of the three has
//! to be seen.

use super::scene::{Place, Scene, Shape};

/// Series with a look of their own; the ones after them share a dim one.
pub(super) const LOOKS: usize = 8;

/// The look of a series by its place; `None` is the dim one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look(Option<usize>);

impl Look {
    /// The look of the series at that place.
    pub(super) fn of(place: usize) -> Self {
        Self((place < LOOKS).then_some(place))
    }

    /// The look of what stays in the background.
    pub(super) const DIM: Self = Self(None);

    /// Whether it shares the dim look.
    pub(super) fn is_dim(self) -> bool {
        self.0.is_none()
    }

    /// Its place among the distinct looks.
    pub(super) fn place(self) -> Option<usize> {
        self.0
    }

    /// The class of its ink.
    pub(super) fn ink(self) -> String {
        self.0.map_or_else(|| "dim".to_owned(), |place| format!("s{place}"))
    }

    /// The class of its lines: ink and dash.
    pub(super) fn line(self) -> String {
        self.0.map_or_else(|| "dim".to_owned(), |place| format!("s{place} d{place}"))
    }

    /// Its marker; hollow says that the figure has no support.
    pub(super) fn marker(self, (x, y): Place, hollow: bool) -> Vec<Shape> {
        let (corners, turned, radius) = match self.0 {
            None => return disc((x, y), 2.5, hollow),
            Some(0) => return disc((x, y), 4.0, hollow),
            Some(1) => (4.0, 0.5, 5.0),
            Some(2) => (3.0, 0.0, 5.0),
            Some(3) => (4.0, 0.0, 5.2),
            Some(4) => (3.0, 0.5, 5.0),
            Some(5) => (5.0, 0.0, 4.8),
            Some(6) => (6.0, 0.5, 4.6),
            Some(_) => (8.0, 0.5, 4.2),
        };
        let corner = |place: f64| {
            let angle = std::f64::consts::TAU * ((place + turned) / corners - 0.25);
            (x + radius * angle.cos(), y + radius * angle.sin())
        };
        let places = std::iter::successors(Some(0.0), |place| Some(place + 1.0)).take_while(|place| *place < corners);
        let mut outline: Vec<Place> = places.map(corner).collect();
        if hollow {
            outline.extend(outline.first().copied());
            vec![Shape::Line(outline, 1.6)]
        } else {
            vec![Shape::Area(outline)]
        }
    }
}

fn disc(place: Place, radius: f64, hollow: bool) -> Vec<Shape> {
    vec![if hollow { Shape::Ring(place, radius) } else { Shape::Disc(place, radius) }]
}

/// The sign on a figure that must not be used.
pub(super) fn cross((x, y): Place) -> Vec<Shape> {
    let arm = 4.5;
    vec![
        Shape::Line(vec![(x - arm, y - arm), (x + arm, y + arm)], 1.8),
        Shape::Line(vec![(x - arm, y + arm), (x + arm, y - arm)], 1.8),
    ]
}

/// The sign on a figure that is only known to lie higher.
pub(super) fn arrow_up((x, y): Place) -> Vec<Shape> {
    vec![
        Shape::Line(vec![(x, y), (x, y - 12.0)], 1.6),
        Shape::Line(vec![(x - 4.0, y - 7.0), (x, y - 12.0), (x + 4.0, y - 7.0)], 1.6),
    ]
}

/// How a legend shows what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sample {
    /// A line with markers.
    Series(Look),
    /// A filled patch of that class.
    Patch(String),
    /// A hollow marker.
    Hollow,
    /// A cross.
    Cross,
}

impl Sample {
    /// Width of the sample in pixels.
    pub(super) const WIDTH: f64 = 30.0;

    /// Draws the sample from this place on.
    pub(super) fn draw(&self, scene: &mut Scene, (x, y): Place) {
        let middle = (x + Self::WIDTH / 2.0, y);
        match self {
            Self::Series(look) => {
                scene.add(&look.line(), vec![Shape::Line(vec![(x, y), (x + Self::WIDTH, y)], 2.0)]);
                scene.add(&look.ink(), look.marker(middle, false));
            }
            Self::Patch(class) => {
                scene.add(class, vec![Shape::Bar([x + 6.0, x + Self::WIDTH - 6.0], [y - 5.0, y + 5.0])]);
            }
            Self::Hollow => scene.add("muted", vec![Shape::Ring(middle, 4.0)]),
            Self::Cross => scene.add("bad", cross(middle)),
        }
    }
}
