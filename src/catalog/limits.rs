//! What is read, followed and held at most, whatever others send. Each limit has the name under which
//! `plan.json` states it, and errors name it by that.

/// Headers of one reply (`max_headers`).
pub const MAX_HEADERS: usize = 100;
/// Bytes of all headers of one reply, names and values (`max_header`).
pub const MAX_HEADER_BYTES: usize = 64 << 10;
/// Bytes of a reply about a job (`max_job_reply`).
pub const MAX_JOB_REPLY: usize = 1 << 20;
/// Redirects followed in one exchange, all within the origin (`redirects`).
pub const MOST_REDIRECTS: u32 = 3;
/// Looks at a job that may fail one after the other (`poll_errors`).
pub const MOST_POLL_ERRORS: u32 = 5;
/// Bytes of a scenario file (`scenario_bytes`).
pub const SCENARIO_BYTES: usize = 1 << 20;
/// Levels of a scenario (`nesting.scenario`).
pub const SCENARIO_LEVELS: usize = 64;
/// Levels of a reply with media (`nesting.reply`).
pub const REPLY_LEVELS: usize = 64;
/// Levels of a value in a `Request(…)` line (`nesting.trace`).
pub const TRACE_LEVELS: usize = 32;
/// Levels of any other JSON: lines of datasets and journals, replies about jobs (`nesting.json`). The
/// JSON reader's own.
pub const JSON_LEVELS: usize = 127;
/// Bytes of a line of a dataset (`line_length.dataset`); one may hold a picture as data URL.
pub const DATASET_LINE: usize = 64 << 20;
/// Bytes of a line of a journal (`line_length.journal`); a record with a hundred thousand polls stays below.
pub const JOURNAL_LINE: usize = 16 << 20;
/// Bytes of all files of a dataset (`dataset_bytes`).
pub const DATASET_BYTES: u64 = 1 << 30;
/// Bytes of a JSON file of a results folder (`json_bytes`); the plan of a hundred thousand runs has a tenth of it.
pub const JSON_BYTES: u64 = 1 << 30;
/// Runs of a plan (`runs`).
pub const MOST_RUNS: u128 = 100_000;
/// Bytes of one part of a reply that is held until it is whole, such as the index of a video. With what
/// is kept of a document and of its headers it makes the `memory_per_request`.
pub const HELD_BYTES: u64 = 64 << 20;

/// Steps of a template (`template_steps`): of a page, a word of a server's command, a batch script.
pub const TEMPLATE_STEPS: u64 = 1_000_000;
/// Bytes that a template writes (`template_output`).
pub const TEMPLATE_OUTPUT: usize = 16 << 20;
/// Bytes of a word of a server's command, written and filled in (`word_bytes`).
pub const WORD_BYTES: usize = 64 << 10;

/// An error of the JSON reader in words; one about nesting names the limit.
pub fn json_words(error: &serde_json::Error) -> String {
    let words = error.to_string();
    if words.starts_with("recursion limit exceeded") {
        return format!("nested deeper than {JSON_LEVELS} levels (limit `nesting.json`)");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_readers_own_limit_is_the_one_that_is_stated() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(serde_json::from_str::<serde_json::Value>(&nested(JSON_LEVELS)).is_ok());
        let error = serde_json::from_str::<serde_json::Value>(&nested(JSON_LEVELS + 1)).unwrap_err();
        assert_eq!(json_words(&error), "nested deeper than 127 levels (limit `nesting.json`)");
    }
}
