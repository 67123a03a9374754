//! The faults that the simulator can commit: one table for scenarios, plans, flags and the simulator.

use serde::{Deserialize, Serialize};

/// Calls the named macro with every fault: what it is, variant, name, family, and its share of the requests in
/// the chaos mix.
macro_rules! each_fault {
    ($with:ident) => {
        $with! {
            /// The listener goes away for a modelled second once the request that drew this is answered (its connection is closed with the reply): whoever connects then is refused.
            Refused refused Connection 0.0002;
            /// The connection is reset before a byte of the reply.
            Reset reset Connection 0.004;
            /// The connection is reset after half of the reply's body.
            ResetInBody reset_in_body Connection 0.004;
            /// No reply ever comes.
            Stall stall Connection 0.001;
            /// The reply's body comes at one byte per modelled second.
            Drip drip Connection 0.001;
            /// The server restarts: every connection is reset, jobs are forgotten, connections are refused for a modelled second and everything, `/health` too, answers 503 for another.
            Restart restart Connection 0.0001;
            /// Half of the announced body comes, then the connection is closed.
            TruncatedBody truncated_body Body 0.004;
            /// The reply announces a body of 1 TiB and goes on with blanks, which exceeds any `max_reply`.
            OverlongBody overlong_body Body 0.002;
            /// A chunked body that goes on with blanks for ever.
            NeverEnding never_ending Body 0.001;
            /// Status 200 with a page of HTML.
            WrongType wrong_type Body 0.004;
            /// Status 200 and nothing in it: an empty list of pictures, a video of 0 bytes, an empty object about a job.
            EmptyData empty_data Body 0.004;
            /// A reply that breaks the grammar of JSON.
            MalformedJson malformed_json Json 0.004;
            /// A JSON reply with bytes that are no UTF-8 in a text.
            InvalidUtf8 invalid_utf8 Json 0.004;
            /// A JSON reply with lists nested 100,000 deep.
            DeepNesting deep_nesting Json 0.004;
            /// A JSON reply with a number beyond what a 64-bit float holds.
            HugeNumber huge_number Json 0.004;
            /// 400 as `{"error":{"message":…}}`, 422 as `{"detail":[…]}`, 401 as `{"error":"…"}`, in turn.
            ClientError client_error Status 0.006;
            /// 500 as `{"error":{"message":…}}`, 502 as `{"detail":"…"}`, 503 as `{"error":"…"}`, in turn.
            ServerError server_error Status 0.006;
            /// 429 with `Retry-After`.
            RateLimited rate_limited Status 0.004;
            /// 307 to another origin.
            Redirect redirect Status 0.002;
            /// The job stays in a state that nobody knows.
            JobUnknownState job_unknown_state Job 0.002;
            /// The job is no longer known when it is asked for.
            JobLost job_lost Job 0.004;
            /// The job fails: its state is answered with status 500 and the job as body.
            JobFailed job_failed Job 0.004;
            /// The content of the finished job is 404 once.
            ContentMissing content_missing Job 0.004;
            /// Pictures and videos of half the width that was asked for.
            WrongSize wrong_size Media 0.006;
            /// Pictures and videos with the same bytes for everyone who asks for the same size.
            Duplicate duplicate Media 0.006;
        }
    };
}
pub(crate) use each_fault;

/// Where in an exchange a fault sits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultFamily {
    /// The connection under the exchange.
    Connection,
    /// The reply's body, whatever it holds.
    Body,
    /// The JSON of a reply.
    Json,
    /// The reply's status.
    Status,
    /// The life of a video job.
    Job,
    /// The pictures and videos themselves.
    Media,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:ident $family:ident $chaos:literal;)+) => {
        /// A fault that the simulator can commit.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum FaultKind { $($(#[doc = $doc])+ $variant),+ }

        impl FaultKind {
            /// Every fault, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name)),+ }
            }

            /// What it does.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii()),+ }
            }

            /// Where in an exchange it sits.
            pub const fn family(self) -> FaultFamily {
                match self { $(Self::$variant => FaultFamily::$family),+ }
            }

            /// The share of requests that draw it in the chaos mix.
            pub const fn chaos_rate(self) -> f64 {
                match self { $(Self::$variant => $chaos),+ }
            }
        }
    };
}
each_fault!(kinds);

impl FaultKind {
    /// The fault of this name, `-` and `_` alike.
    pub fn named(name: &str) -> Option<Self> {
        let plain = name.replace('-', "_");
        Self::ALL.iter().copied().find(|kind| kind.name() == plain)
    }
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Which requests draw a fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// The fault.
    pub kind: FaultKind,
    /// The share of requests that draw it, 0 to 1.
    pub rate: f64,
    /// Requests that draw it in any case, by their number since the server's start, from 0. Only calls that ask for
    /// media count: polls and fetches belong to the call that created their job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<u64>,
}

impl FaultRule {
    /// A fault that this share of requests draws.
    pub const fn rate(kind: FaultKind, rate: f64) -> Self {
        Self { kind, rate, at: Vec::new() }
    }

    /// The chaos mix at `scale` times its rates, where `given` has no rule of its own, and then `given`.
    pub fn mix(scale: Option<f64>, given: Vec<Self>) -> Vec<Self> {
        let open = |kind: FaultKind| given.iter().all(|rule| rule.kind != kind);
        let chaos = scale.into_iter().flat_map(|scale| {
            let kinds = FaultKind::ALL.iter().copied().filter(|kind| open(*kind));
            kinds.map(move |kind| Self::rate(kind, kind.chaos_rate() * scale)).collect::<Vec<_>>()
        });
        chaos.collect::<Vec<_>>().into_iter().chain(given).collect()
    }

    /// Says what makes a set of rules impossible, and which fault it concerns.
    ///
    /// # Errors
    /// A rate outside 0 to 1, or rates that together exceed 1.
    pub fn check(rules: &[Self]) -> Result<(), (FaultKind, String)> {
        let mut sum = 0.0;
        for rule in rules {
            if !(0.0..=1.0).contains(&rule.rate) {
                return Err((rule.kind, format!("a rate is a number from 0 to 1, not `{}`", rule.rate)));
            }
            sum += rule.rate;
            // sums of decimals are a little off
            if sum > 1.0 + 1e-9 {
                let text =
                    format!("the rates of all faults up to `{}` add up to {sum}, which is more than 1", rule.kind);
                return Err((rule.kind, text));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_files_are_the_names_on_the_command_line() {
        for kind in FaultKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(FaultKind::named(&kind.name().replace('_', "-")), Some(*kind));
        }
    }

    #[test]
    fn the_chaos_mix_harms_less_than_a_tenth_of_the_requests_and_gives_way_to_rules_of_its_user() {
        let mix = FaultRule::mix(Some(1.0), vec![FaultRule::rate(FaultKind::Stall, 0.5)]);
        assert_eq!(mix.len(), FaultKind::ALL.len());
        assert_eq!(mix.iter().find(|rule| rule.kind == FaultKind::Stall).map(|rule| rule.rate), Some(0.5));
        let all: f64 = FaultKind::ALL.iter().map(|kind| kind.chaos_rate()).sum();
        assert!(all < 0.1 && FaultKind::ALL.iter().all(|kind| kind.chaos_rate() > 0.0), "{all}");
        assert_eq!(FaultRule::check(&mix), Ok(()));
    }

    #[test]
    fn impossible_rates_are_told_with_their_fault() {
        let refused = |rates: &[f64]| {
            let rules: Vec<_> =
                rates.iter().zip(FaultKind::ALL).map(|(rate, kind)| FaultRule::rate(*kind, *rate)).collect();
            FaultRule::check(&rules).map_err(|(kind, _)| kind)
        };
        assert_eq!(refused(&[0.5, 0.5]), Ok(()));
        assert_eq!(refused(&[0.5, 0.6]), Err(FaultKind::Reset));
        assert_eq!(refused(&[-0.1]), Err(FaultKind::Refused));
        assert_eq!(refused(&[0.1, f64::NAN]), Err(FaultKind::Reset));
    }
}
