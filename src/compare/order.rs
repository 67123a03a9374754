//! In which order the arms were run, as recorded: whether a drift of the machine can pass for a difference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arm::Point;

/// How two arms were interleaved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunOrder {
    /// The runs of both arms by their start, `A` for the baseline; empty when a start is not known.
    pub sequence: String,
    /// Whether the k-th repeats of both arms were run next to each other, for every k.
    pub paired: bool,
    /// The same in words.
    pub text: String,
}

/// The order of the runs of two points.
pub(super) fn order(a: &Point, b: &Point) -> RunOrder {
    let of = |point: &Point, arm: char| {
        point.repeats.iter().map(move |repeat| Some((repeat.started_us?, arm, repeat.number))).collect::<Vec<_>>()
    };
    let starts: Option<Vec<_>> = of(a, 'A').into_iter().chain(of(b, 'B')).collect();
    let Some(mut starts) = starts else {
        let text = "the order of the runs is not known: a drift of the machine may pass for a difference".to_owned();
        return RunOrder { sequence: String::new(), paired: false, text };
    };
    starts.sort_unstable();
    let sequence: String = starts.iter().map(|(_, arm, _)| *arm).collect();
    let is_pair = |pair: &[(i64, char, u32)]| match pair {
        [(_, first, k), (_, second, l)] => first != second && k == l,
        _ => false,
    };
    let paired = starts.chunks(2).all(is_pair);
    let changes = starts.windows(2).filter(|pair| matches!(pair, [a, b] if a.1 != b.1)).count();
    let text = if paired && starts.len() > 2 {
        format!("the arms took turns ({sequence}): a slow drift of the machine falls on both alike")
    } else if paired {
        format!("one run of each, one after the other ({sequence})")
    } else if changes <= 1 {
        format!("one arm was run after the other ({sequence}): a drift of the machine may pass for a difference")
    } else {
        format!("the arms were mixed ({sequence}), but repeats of a number not side by side")
    };
    RunOrder { sequence, paired, text }
}
