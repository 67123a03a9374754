//! The HTTP client of a run: pooled connections up to the cap, no redirects but our own, no retries
//! but our own, no time limits but the plan's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::header::LOCATION;
use reqwest::{Method, StatusCode};
use url::Url;

use crate::catalog::ErrorClass;
use crate::catalog::limits::{MAX_HEADER_BYTES, MOST_REDIRECTS};
use crate::endpoint::Body;
use crate::plan::EndpointPlan;
use crate::record::{Redactor, RequestError};
use crate::units::Limit;

use super::attempt::Times;
use super::clock::Clock;
use super::drive::Target;
use super::fault::{Fault, is_stale};
use super::transport::{Address, Response, Transport};

/// A simulated run divides its limits; a connection is real all the same and gets this long.
const CONNECT_AT_LEAST: Duration = Duration::from_secs(1);

/// Environment variable that makes every exchange wait for this many milliseconds with its thread
/// blocked. A hook for the tests of what is said about a slow client; it is no option of the tool.
const SLOW_CLIENT: &str = "OMNI_BENCH_TEST_SLOW_CLIENT_MS";

/// How connections are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connect<'a> {
    /// How long one may take to be there.
    pub(crate) limit: Limit,
    pub(crate) proxy: Option<&'a str>,
    /// PEM file of the authorities that are trusted instead of the system's.
    pub(crate) ca_file: Option<&'a str>,
    /// HTTP/2 with prior knowledge.
    pub(crate) http2: bool,
}

impl<'a> From<&'a EndpointPlan> for Connect<'a> {
    fn from(endpoint: &'a EndpointPlan) -> Self {
        let (proxy, ca_file) = (endpoint.proxy.as_deref(), endpoint.ca_file.as_deref());
        Self { limit: endpoint.timeout.connect, proxy, ca_file, http2: endpoint.http2 }
    }
}

/// A path and its address.
type Asked = (Box<str>, Arc<Address>);

/// A client for one endpoint.
#[derive(Clone)]
pub(crate) struct Client {
    http: Transport,
    base: Arc<str>,
    /// The address that was asked for last.
    last: Arc<Mutex<Option<Asked>>>,
    /// Whether some exchange has ended, so that a pooled connection can exist.
    used: Arc<AtomicBool>,
    redactor: Redactor,
    /// See [`SLOW_CLIENT`].
    slowed: Option<Duration>,
}

/// One call, before it is sent.
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    pub(crate) url: Arc<Address>,
    pub(crate) body: Option<&'a Body>,
}

impl Call<'_> {
    /// Whether sending it twice does what sending it once does.
    fn is_idempotent(&self) -> bool {
        self.method == Method::GET || self.method == Method::DELETE
    }
}

impl Client {
    /// A client with connections for `cap` requests at once (`None`: any number).
    pub(crate) fn new(connect: Connect<'_>, target: &Target, cap: Option<usize>) -> Result<Self, String> {
        let limit = connect.limit.duration().map(|limit| {
            let wall = Clock::start(target.speed).wall(limit);
            wall.max(CONNECT_AT_LEAST.min(limit))
        });
        let is_plain = target.url.starts_with("http://");
        let http = Transport::new(connect, is_plain, target.secrets.headers(), limit, cap)?;
        let base = target.url.trim_end_matches('/').into();
        let redactor = target.secrets.redactor().clone();
        let (last, used) = (Arc::default(), Arc::default());
        let client = Self { http, base, last, used, redactor, slowed: slowed() };
        client.url("/").map_err(|fault| fault.error.message)?;
        Ok(client)
    }

    /// The address of a path on the server.
    pub(crate) fn url(&self, path: &str) -> Result<Arc<Address>, Fault> {
        let wrong = |why: &dyn std::fmt::Display| {
            Fault::failed(RequestError::new(ErrorClass::Connect, format!("the server's address is not a URL: {why}")))
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, url)) = last.as_ref()
            && **known == *path
        {
            return Ok(Arc::clone(url));
        }
        let url = Url::parse(&format!("{}{path}", self.base)).map_err(|error| wrong(&error))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(&"it is not http or https"));
        }
        let address = Arc::new(Address::new(url).map_err(|error| wrong(&error))?);
        *last = Some((path.into(), Arc::clone(&address)));
        Ok(address)
    }

    /// The path of an address, for the log: a job's id is the server's word.
    pub(crate) fn shown(&self, address: &Address) -> String {
        self.redactor.text(address.url.path())
    }

    /// Sends a call, and returns when the head of the final reply is there.
    pub(crate) async fn send(&self, call: &Call<'_>, clock: &Clock, times: &mut Times) -> Result<Response, Fault> {
        let mut address = Arc::clone(&call.url);
        let mut followed = 0;
        loop {
            let response = self.attempt(call, &address, clock, times).await?;
            check_headers(&response)?;
            let Some(next) = redirect_target(call, &address.url, &response)? else { return Ok(response) };
            if followed == MOST_REDIRECTS {
                return Err(refused(&response, &format!("more than {MOST_REDIRECTS} redirects (limit `redirects`)")));
            }
            followed += 1;
            times.redirected = true;
            address = Arc::new(next);
        }
    }

    async fn attempt(
        &self,
        call: &Call<'_>,
        address: &Address,
        clock: &Clock,
        times: &mut Times,
    ) -> Result<Response, Fault> {
        loop {
            times.sent_us.get_or_insert_with(|| clock.now_us());
            if let Some(slowed) = self.slowed {
                std::thread::sleep(slowed);
            }
            match self.http.execute(&call.method, address, call.body).await {
                Ok(response) => {
                    self.used.store(true, Ordering::Relaxed);
                    return Ok(response);
                }
                Err(error) => {
                    let pooled = self.used.load(Ordering::Relaxed);
                    if times.attempts > 1 || !call.is_idempotent() || !pooled || !is_stale(&error) {
                        return Err(Fault::send(error));
                    }
                    times.attempts += 1;
                }
            }
        }
    }
}

/// The only reader of [`SLOW_CLIENT`].
fn slowed() -> Option<Duration> {
    std::env::var(SLOW_CLIENT).ok()?.parse().ok().map(Duration::from_millis)
}

/// Where a reply redirects to, when that is to be followed: only within the origin, and only when
/// the same call can be sent there.
fn redirect_target(call: &Call<'_>, from: &Url, response: &Response) -> Result<Option<Address>, Fault> {
    let follows = match response.status() {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => call.method == Method::GET,
        _ => false,
    };
    let Some(location) = response.headers().get(LOCATION).filter(|_| follows) else { return Ok(None) };
    let target = location.to_str().ok().and_then(|location| from.join(location).ok());
    let target = target.and_then(|target| Address::new(target).ok());
    let target = target.ok_or_else(|| refused(response, "the reply redirects to something that is no address"))?;
    if target.url.origin() == from.origin() {
        return Ok(Some(target));
    }
    let origin = target.url.origin().ascii_serialization();
    Err(refused(response, &format!("the reply redirects to another origin, `{origin}`, which is not followed")))
}

/// Headers are whole before they can be measured; the library's own buffer bounds what that takes.
fn check_headers(response: &Response) -> Result<(), Fault> {
    let sizes = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    let bytes: usize = sizes.sum();
    if bytes <= MAX_HEADER_BYTES {
        return Ok(());
    }
    let most = MAX_HEADER_BYTES >> 10;
    Err(Fault::failed(
        RequestError::new(
            ErrorClass::InvalidResponse,
            format!("the reply's headers have {bytes} bytes; the most that is read is {most} KiB (limit `max_header`)"),
        )
        .status(response.status().as_u16()),
    ))
}

fn refused(response: &Response, message: &str) -> Fault {
    Fault::failed(RequestError::new(ErrorClass::HttpStatus, message).status(response.status().as_u16()))
}
