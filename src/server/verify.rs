//! Checking that a server that is ready runs what its variant's flags promised.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::bytes;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::Probe;
use crate::plan::{Check, Wanted};
use crate::record::Verified;

/// How long a line may come after the server is ready: what it writes can be buffered.
const LOG_PATIENCE: Duration = Duration::from_secs(10);
/// How often the log is looked at.
const GLANCE: Duration = Duration::from_millis(100);
/// Bytes of the log that are read at once.
const PIECE: usize = 64 << 10;
/// Longest line that is kept whole.
const LONGEST_LINE: usize = 1 << 20;
/// Characters of an answer that are told.
const SHOWN: usize = 200;

/// Carries out checks one after the other, all of them, whatever the earlier ones came to. `log` is
/// the server's log; without one a check of it fails.
pub async fn verify(checks: &[Check], probe: &Probe, log: Option<&Path>) -> Vec<Verified> {
    let deadline = Instant::now() + LOG_PATIENCE;
    let mut verified = Vec::with_capacity(checks.len());
    for check in checks {
        verified.push(match check {
            Check::Log(pattern) => in_log(pattern, log, deadline).await,
            Check::Answer { path, json, wanted } => in_answer(probe, path, json, wanted).await,
        });
    }
    verified
}

async fn in_log(pattern: &str, log: Option<&Path>, deadline: Instant) -> Verified {
    let looked = match (bytes::Regex::new(pattern), log) {
        (Ok(pattern), Some(log)) => Tail::new(log).find(&pattern, deadline).await,
        (Err(error), _) => Err(format!("it is no regular expression: {error}")),
        (_, None) => Err("there is no log to look into".into()),
    };
    let ok = looked.is_ok();
    let (seen, why) = told(looked);
    Verified { at: "log".into(), expected: format!("a line that matches `{pattern}`"), seen, why, ok }
}

async fn in_answer(probe: &Probe, path: &str, json: &str, wanted: &Wanted) -> Verified {
    let looked = look(probe, path, json, wanted).await;
    let ok = looked.as_ref().is_ok_and(|(_, ok)| *ok);
    let (seen, why) = told(looked.map(|(seen, _)| seen));
    let expected = match wanted {
        Wanted::Equals(value) => format!("`{}`", words(value)),
        Wanted::Matches(pattern) => format!("what matches `{pattern}`"),
    };
    let at = if json.is_empty() { path.to_owned() } else { format!("{path} {json}") };
    Verified { at, expected, seen, why, ok }
}

/// What stands at the place, and whether it is what is wanted; the error is why nothing does.
async fn look(probe: &Probe, path: &str, json: &str, wanted: &Wanted) -> Result<(String, bool), String> {
    let answer = probe.get(path).await.map_err(|why| format!("it cannot be asked: {why}"))?;
    if !answer.is_success() {
        return Err(format!("it answered {}", answer.status));
    }
    // a text can be looked at without being JSON
    if let (Wanted::Matches(pattern), "") = (wanted, json) {
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let ok = matches(pattern, &text)?;
        return Ok((text, ok));
    }
    let document = answer.json().ok_or("its answer is not JSON")?;
    let value = document.pointer(json).ok_or("its answer has nothing there")?;
    let ok = match wanted {
        Wanted::Equals(wanted) => same(wanted, value),
        Wanted::Matches(pattern) => matches(pattern, &words(value))?,
    };
    Ok((words(value), ok))
}

fn matches(pattern: &str, text: &str) -> Result<bool, String> {
    let pattern = regex::Regex::new(pattern).map_err(|error| format!("it is no regular expression: {error}"))?;
    Ok(pattern.is_match(text))
}

/// A text bare, anything else as JSON.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Equality in which 8 and 8.0 are the same number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || (x.as_f64().is_some() && x.as_f64() == y.as_f64()),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| same(x, y)))
        }
        _ => a == b,
    }
}

fn told(looked: Result<String, String>) -> (Option<String>, Option<String>) {
    match looked {
        Ok(seen) => (Some(cut(&seen)), None),
        Err(why) => (None, Some(why)),
    }
}

fn cut(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        Some(_) => text.chars().take(SHOWN).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Reads a log line by line as it grows.
struct Tail {
    path: PathBuf,
    read: u64,
    /// The line that has not ended yet.
    open: Vec<u8>,
}

impl Tail {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), read: 0, open: Vec::new() }
    }

    /// The first line that matches, waited for until the deadline.
    async fn find(mut self, pattern: &bytes::Regex, deadline: Instant) -> Result<String, String> {
        loop {
            if let Some(line) = self.next(pattern).map_err(|error| error.to_string())? {
                return Ok(line);
            }
            if Instant::now() >= deadline {
                return Err(format!("no line of it does, {} s after the server was ready", LOG_PATIENCE.as_secs()));
            }
            sleep(GLANCE).await;
        }
    }

    /// Looks at what has been written since the last time.
    fn next(&mut self, pattern: &bytes::Regex) -> std::io::Result<Option<String>> {
        let mut file = fs_err::File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut piece = vec![0; PIECE];
        loop {
            let length = file.read(&mut piece)?;
            if length == 0 {
                // a line that has not ended may match already
                return Ok(matching(&self.open, pattern));
            }
            self.read += length as u64;
            for part in piece.get(..length).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
                self.open.extend(part.iter().take(LONGEST_LINE.saturating_sub(self.open.len())));
                if part.ends_with(b"\n") {
                    let found = matching(&self.open, pattern);
                    self.open.clear();
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
    }
}

fn matching(line: &[u8], pattern: &bytes::Regex) -> Option<String> {
    let line = line.trim_ascii_end();
    pattern.is_match(line).then(|| String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use http::HeaderMap;
    use serde_json::json;
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use super::*;
    use crate::server::probe::tests::endpoint;

    async fn answering(checks: &[Check]) -> Vec<Verified> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/models", get(|| async { r#"{"data":[{"id":"Qwen/Qwen-Image","max":8.0}]}"# }))
            .route("/metrics", get(|| async { format!("seqs 8\n{}", "x".repeat(500)) }));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await });
        let probe = Probe::new(&url, &endpoint(), HeaderMap::new(), Vec::new()).unwrap();
        let verified = verify(checks, &probe, None).await;
        tasks.abort_all();
        verified
    }

    fn answer(path: &str, json: &str, wanted: Wanted) -> Check {
        Check::Answer { path: path.into(), json: json.into(), wanted }
    }

    #[tokio::test]
    async fn answers_are_compared_and_what_differs_is_told() {
        let verified = answering(&[
            answer("/models", "/data/0/id", Wanted::Equals(json!("Qwen/Qwen-Image"))),
            answer("/models", "/data/0/max", Wanted::Equals(json!(8))),
            answer("/models", "/data/0/id", Wanted::Matches("^Qwen/".into())),
            answer("/metrics", "", Wanted::Matches(r"(?m)^seqs 8$".into())),
            answer("/models", "/data/0/id", Wanted::Equals(json!("Wan"))),
            answer("/models", "/data/1/id", Wanted::Equals(json!("Wan"))),
            answer("/metrics", "/a", Wanted::Equals(json!(1))),
            answer("/absent", "", Wanted::Matches("a".into())),
            Check::Log("x".into()),
        ])
        .await;
        assert_eq!(
            verified.iter().map(|check| check.ok).collect::<Vec<_>>(),
            [[true; 4].as_slice(), &[false; 5]].concat()
        );
        let told: Vec<String> = verified.iter().skip(4).map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "`/models /data/0/id` should be `Wan`, but is `Qwen/Qwen-Image`",
                "`/models /data/1/id` should be `Wan`, but its answer has nothing there",
                "`/metrics /a` should be `1`, but its answer is not JSON",
                "`/absent` should be what matches `a`, but it answered 404",
                "`log` should be a line that matches `x`, but there is no log to look into",
            ]
        );
        assert_eq!(verified[3].seen.as_ref().map(|seen| seen.chars().count()), Some(SHOWN + 1), "it is cut");
    }

    #[tokio::test]
    async fn a_line_of_the_log_is_waited_for_and_not_for_ever() {
        use std::io::Write as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        fs_err::write(&path, "first line\nmax_num_seqs").unwrap();
        let late = async {
            sleep(GLANCE * 2).await;
            let mut file = fs_err::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(b"=8 \xff\nlast").unwrap();
        };
        let deadline = Instant::now() + Duration::from_mins(1);
        let (found, ()) = tokio::join!(in_log("max_num_seqs=8 ", Some(&path), deadline), late);
        assert!(found.ok && found.seen.as_deref() == Some("max_num_seqs=8 \u{fffd}"), "{found:?}");
        assert!(in_log("^last$", Some(&path), deadline).await.ok, "a line that has not ended");
        let missing = in_log("max_num_seqs=16", Some(&path), Instant::now()).await;
        assert_eq!(missing.why.as_deref(), Some("no line of it does, 10 s after the server was ready"));
    }
}
