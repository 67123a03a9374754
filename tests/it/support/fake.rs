//! A scripted HTTP server on loopback: a closure answers each request, and what arrived is kept.
//! Replies can be late, torn, dribbled, never given, or replaced by a reset.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// When its last byte was there.
    pub(crate) at: Instant,
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Number of the connection it came over, from 0.
    pub(crate) connection: usize,
    /// Requests with this method and path so far, this one included.
    pub(crate) nth: usize,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is(&self, method: &str, path: &str) -> bool {
        self.method == method && self.path == path
    }
}

/// What the script wants to happen.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    at: Option<Instant>,
    /// Milliseconds after the head, and how much of the body is sent by then.
    pace: Vec<(u64, usize)>,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Whole,
    Torn(usize),
    Unannounced,
    Reset,
    Hang,
}

impl Answer {
    pub(crate) fn json(status: u16, text: impl Into<String>) -> Self {
        Self::bytes(status, "application/json", text.into().into_bytes())
    }

    pub(crate) fn bytes(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".into(), content_type.into())];
        Self { status, headers, body: body.into(), at: None, pace: Vec::new(), end: End::Whole }
    }

    /// Closes the connection instead of answering.
    pub(crate) fn reset() -> Self {
        Self { end: End::Reset, ..Self::json(500, "") }
    }

    /// Never answers.
    pub(crate) fn hang() -> Self {
        Self { end: End::Hang, ..Self::json(500, "") }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Holds the reply back.
    pub(crate) fn after(self, ms: u64) -> Self {
        self.at(Instant::now() + Duration::from_millis(ms))
    }

    /// Holds the reply back until then.
    pub(crate) fn at(mut self, at: Instant) -> Self {
        self.at = Some(at);
        self
    }

    /// Sends the body up to these places at these milliseconds after the head.
    pub(crate) fn paced(mut self, pace: &[(u64, usize)]) -> Self {
        self.pace = pace.to_vec();
        self
    }

    /// Does not say how long the body is; the connection ends behind it.
    pub(crate) fn unannounced(mut self) -> Self {
        self.end = End::Unannounced;
        self
    }

    /// Announces the whole body and closes the connection after this many bytes of it.
    pub(crate) fn torn(mut self, after: usize) -> Self {
        self.end = End::Torn(after);
        self
    }
}

type Script = Arc<dyn Fn(&Seen) -> Answer + Send + Sync>;

#[derive(Default)]
struct Log {
    seen: Mutex<Vec<Seen>>,
    now: AtomicUsize,
    peak: AtomicUsize,
    gone: AtomicUsize,
    connections: AtomicUsize,
}

/// The running server; it ends when dropped.
pub(crate) struct Fake {
    pub(crate) url: String,
    log: Arc<Log>,
    _tasks: JoinSet<()>,
}

impl Fake {
    pub(crate) async fn start(script: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (log, script): (Arc<Log>, Script) = (Arc::default(), Arc::new(script));
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&log);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (log, script) = (Arc::clone(&shared), Arc::clone(&script));
                connections.spawn(async move { drop(serve(stream, &log, &script).await) });
                while connections.try_join_next().is_some() {}
            }
        });
        Self { url, log, _tasks: tasks }
    }

    /// Every request so far, in order of arrival.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.log.seen.lock().unwrap().clone()
    }

    /// Requests so far with this method and a path that starts like this.
    pub(crate) fn calls(&self, method: &str, path: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.method == method && seen.path.starts_with(path)).collect()
    }

    /// Most requests that were in hand at once.
    pub(crate) fn peak(&self) -> usize {
        self.log.peak.load(Ordering::SeqCst)
    }

    /// Clients that went away before their answer.
    pub(crate) fn gone(&self) -> usize {
        self.log.gone.load(Ordering::SeqCst)
    }

    pub(crate) fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }
}

async fn serve(mut stream: TcpStream, log: &Log, script: &Script) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let connection = log.connections.fetch_add(1, Ordering::SeqCst);
    let mut buffer = Vec::new();
    while let Some(mut seen) = read_request(&mut stream, &mut buffer, connection).await? {
        {
            let mut all = log.seen.lock().unwrap();
            seen.nth = all.iter().filter(|other| other.is(&seen.method, &seen.path)).count() + 1;
            all.push(seen.clone());
        }
        // a look at the metrics is no request of the load
        let is_load = seen.path != "/metrics";
        if is_load {
            let now = log.now.fetch_add(1, Ordering::SeqCst) + 1;
            log.peak.fetch_max(now, Ordering::SeqCst);
        }
        let answer = script(&seen);
        let waited = tokio::select! {
            () = hold(&answer) => true,
            _ = stream.read_u8() => false,
        };
        if is_load {
            log.now.fetch_sub(1, Ordering::SeqCst);
        }
        if !waited {
            log.gone.fetch_add(1, Ordering::SeqCst);
            return Ok(());
        }
        if !write_answer(&mut stream, &answer).await? {
            return Ok(());
        }
    }
    Ok(())
}

async fn hold(answer: &Answer) {
    if answer.end == End::Hang {
        std::future::pending::<()>().await;
    }
    if let Some(at) = answer.at {
        tokio::time::sleep_until(at.into()).await;
    }
}

async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    connection: usize,
) -> std::io::Result<Option<Seen>> {
    let head_end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    while buffer.len() < head_end + length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = buffer[head_end..head_end + length].to_vec();
    buffer.drain(..head_end + length);
    Ok(Some(Seen { at: Instant::now(), method, path, headers, body, connection, nth: 0 }))
}

/// Writes the answer; whether the connection goes on.
async fn write_answer(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<bool> {
    if answer.end == End::Reset {
        return Ok(false);
    }
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", answer.status);
    if answer.end != End::Unannounced {
        head.extend(["content-length: ", &answer.body.len().to_string(), "\r\n"]);
    }
    for (name, value) in &answer.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    let sent = match answer.end {
        End::Torn(after) => &answer.body[..after.min(answer.body.len())],
        End::Whole | End::Unannounced | End::Reset | End::Hang => &answer.body[..],
    };
    let (begun, mut from) = (Instant::now(), 0);
    for (ms, to) in &answer.pace {
        stream.flush().await?;
        tokio::time::sleep_until((begun + Duration::from_millis(*ms)).into()).await;
        stream.write_all(&sent[from..*to]).await?;
        from = *to;
    }
    stream.write_all(&sent[from..]).await?;
    stream.flush().await?;
    Ok(answer.end == End::Whole)
}
