//! The closed sets in which outcomes are told: error classes, flags, warnings, validity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! closed_set {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident => $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every member, in order of declaration.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

closed_set! {
    /// Why a request did not succeed.
    ErrorClass {
        /// No connection could be made.
        Connect => "connect",
        /// A limit of the client ran out before the reply was complete.
        Timeout => "timeout",
        /// The server answered with an error status, or told one inside a stream of events.
        HttpStatus => "http_status",
        /// The status was fine but the reply holds no usable medium.
        InvalidResponse => "invalid_response",
        /// The server says that the job failed.
        JobFailed => "job_failed",
        /// The job was not finished at the job limit.
        JobTimeout => "job_timeout",
        /// The server no longer knows the job.
        JobLost => "job_lost",
        /// The job's state could not be read.
        PollError => "poll_error",
        /// The finished job's video could not be fetched.
        Content => "content",
        /// The run was stopped before the request ended.
        Cancelled => "cancelled",
        /// The connection broke while the reply was read, or a local file failed.
        Io => "io",
    }
}

closed_set! {
    /// Something worth knowing about a request that is not a failure.
    Flag {
        /// The picture's size is not the one asked for.
        SizeMismatch => "size_mismatch",
        /// The number of frames is not the one asked for.
        FramesMismatch => "frames_mismatch",
        /// The frame rate is not the one asked for.
        FpsMismatch => "fps_mismatch",
        /// Fewer outputs came back than were asked for.
        FewerOutputs => "fewer_outputs",
        /// The medium is truncated (found by full validation).
        Truncated => "truncated",
        /// The picture has a single colour (found by full validation).
        Blank => "blank",
        /// The same bytes came back for another request.
        Duplicate => "duplicate",
        /// RTF rests on `inference_time_s`, which includes queueing in the engine.
        RtfFromInferenceTime => "rtf_from_inference_time",
        /// RTF rests on end-to-end latency.
        RtfFromLatency => "rtf_from_latency",
        /// Duration or frames come from the request, neither container nor reply told them.
        DurationFromRequest => "duration_from_request",
        /// A stale connection was replaced and the request sent again once.
        Retried => "retried",
        /// The job could not be deleted after the request.
        CleanupFailed => "cleanup_failed",
        /// The reply was redirected within its origin.
        Redirected => "redirected",
    }
}

closed_set! {
    /// Doubt about a run, as data.
    WarningKind {
        /// Too few requests for a steady state at this concurrency.
        FewRequests => "few_requests",
        /// In-flight requests stayed below the cap for most of the run.
        BelowCap => "below_cap",
        /// The client itself may have been the bottleneck.
        ClientBound => "client_bound",
        /// Requests were sent later than due.
        Late => "late",
        /// Fewer requests per second were achieved than offered.
        BelowOffered => "below_offered",
        /// Polls are coarse against the job time.
        CoarsePolls => "coarse_polls",
        /// Latency grows with concurrency at flat throughput.
        Serialised => "serialised",
        /// The warm-up had other shapes or another concurrency than the load.
        UnmatchedWarmup => "unmatched_warmup",
        /// Several requests returned the same bytes.
        DuplicateOutputs => "duplicate_outputs",
        /// Requests were cut by a limit of the client.
        Censoring => "censoring",
        /// Requests failed.
        Failures => "failures",
        /// Requests succeeded with something to remark.
        Flagged => "flagged",
        /// The run ended before every request was sent.
        Interrupted => "interrupted",
        /// Lines of the run's journals are torn or corrupt and were left out.
        UnreadableRecords => "unreadable_records",
        /// Something else was at work on the GPUs before the server started.
        BackgroundLoad => "background_load",
        /// A variant it is compared with was measured on another node.
        AcrossNodes => "across_nodes",
        /// The simulator committed faults on purpose.
        FaultsInjected => "faults_injected",
    }
}

closed_set! {
    /// Whether a run's numbers may be believed.
    Validity {
        /// Nothing speaks against them.
        Valid => "valid",
        /// They are measured, with doubt that the warnings name.
        Suspect => "suspect",
        /// They must not be used; the warnings say why.
        Invalid => "invalid",
    }
}
