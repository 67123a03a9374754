//! The calls that faults can meet, and which fault can meet which.

use http::Method;

use crate::catalog::{FaultFamily as Family, FaultKind as Kind};

/// One call, as far as faults care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call<'a> {
    /// It asks for media.
    Ask(Asks),
    /// A later call about the job of this id.
    Job(Stage, &'a str),
}

/// What a call that asks for media is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// Pictures inside JSON.
    Pictures,
    /// A video.
    Video,
    /// A job.
    Job,
}

/// Where a fault meets its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// At the reply with the media.
    Reply,
    /// At the reply that names the job.
    Created,
    /// At every reply about the job's state.
    State,
    /// At every reply with the job's video.
    Content,
}

impl<'a> Call<'a> {
    /// The call; `None` for one that no fault meets.
    pub(super) fn of(method: &Method, path: &'a str) -> Option<Self> {
        match (method, path) {
            (&Method::POST, "/v1/chat/completions" | "/v1/images/generations" | "/v1/images/edits") => {
                Some(Self::Ask(Asks::Pictures))
            }
            (&Method::POST, "/v1/videos/sync") => Some(Self::Ask(Asks::Video)),
            (&Method::POST, "/v1/videos") => Some(Self::Ask(Asks::Job)),
            (&Method::GET, path) => {
                let id = path.strip_prefix("/v1/videos/")?;
                Some(match id.strip_suffix("/content") {
                    Some(id) => Self::Job(Stage::Content, id),
                    None => Self::Job(Stage::State, id),
                })
            }
            _ => None,
        }
    }
}

/// Where a fault can meet a request of this kind.
pub(super) const fn stages(kind: Kind, asks: Asks) -> &'static [Stage] {
    match (asks, kind.family(), kind) {
        (Asks::Pictures | Asks::Video, Family::Job, _) | (Asks::Video, Family::Json, _) => &[],
        (Asks::Pictures | Asks::Video, _, _) => &[Stage::Reply],
        (Asks::Job, _, Kind::Refused | Kind::Restart) => &[Stage::Created],
        (Asks::Job, Family::Connection | Family::Body | Family::Status, _) => {
            &[Stage::Created, Stage::State, Stage::Content]
        }
        (Asks::Job, Family::Json, _) => &[Stage::Created, Stage::State],
        (Asks::Job, Family::Job, Kind::ContentMissing) | (Asks::Job, Family::Media, _) => &[Stage::Content],
        (Asks::Job, Family::Job, _) => &[Stage::State],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_ask_for_media_or_belong_to_a_job_meet_faults() {
        let of = |method: Method, path| Call::of(&method, path);
        assert_eq!(of(Method::POST, "/v1/images/edits"), Some(Call::Ask(Asks::Pictures)));
        assert_eq!(of(Method::POST, "/v1/videos"), Some(Call::Ask(Asks::Job)));
        assert_eq!(of(Method::GET, "/v1/videos/a"), Some(Call::Job(Stage::State, "a")));
        assert_eq!(of(Method::GET, "/v1/videos/a/content"), Some(Call::Job(Stage::Content, "a")));
        assert_eq!(
            [of(Method::GET, "/health"), of(Method::GET, "/v1/videos"), of(Method::DELETE, "/v1/videos/a")],
            [None, None, None]
        );
    }

    #[test]
    fn every_fault_can_meet_some_request() {
        for kind in Kind::ALL {
            let met = [Asks::Pictures, Asks::Video, Asks::Job].map(|asks| stages(*kind, asks).len());
            assert!(met.iter().sum::<usize>() > 0, "{kind}");
        }
    }
}
