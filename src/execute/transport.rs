//! How a call gets to the server: straight over TCP where that is all it takes, as with most model servers,
//! and through reqwest where TLS, a proxy or HTTP/2 stand between. Both are the same HTTP library below; what
//! reqwest does on top (redirects, retries, cookies of proxies) is not wanted here, and a good part of what a
//! small request costs (`benches/README.md`).

use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use reqwest::{redirect, retry};
use tower_service::Service;
use url::Url;

use crate::catalog::limits::{MAX_HEADER_BYTES, MAX_HEADERS};
use crate::endpoint::Body;

use super::client::Connect;
use super::trust::authorities;

/// Servers close idle connections after five seconds; closing first avoids sending into a closed one.
const IDLE: Duration = Duration::from_secs(4);
/// Probes of a connection on which nothing moves, as reqwest sends them: when the first, how often, how many.
const KEEPALIVE: (Duration, u32) = (Duration::from_secs(15), 3);
/// How long sent bytes may go unacknowledged, as reqwest has it.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);
const AGENT: &str = concat!("omni-bench/", env!("CARGO_PKG_VERSION"));
const JSON: &str = "application/json";

type BoxError = Box<dyn Error + Send + Sync>;

/// An address in the two forms in which it is needed.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) url: Url,
    uri: Uri,
}

impl Address {
    pub(super) fn new(url: Url) -> Result<Self, String> {
        let uri = url.as_str().parse().map_err(|error: http::uri::InvalidUri| error.to_string())?;
        Ok(Self { url, uri })
    }
}

/// The way to the server.
#[derive(Clone)]
pub(super) enum Transport {
    Direct(Arc<Direct>),
    Full(reqwest::Client),
}

/// Plain HTTP/1.1.
pub(super) struct Direct {
    http: legacy::Client<Limited, Segments>,
    headers: HeaderMap,
}

impl Transport {
    /// The way to a server whose addresses begin with `http:` or not, with connections for `cap` requests at once;
    /// one may take `limit` to be there.
    pub(super) fn new(
        connect: Connect<'_>,
        is_plain: bool,
        headers: HeaderMap,
        limit: Option<Duration>,
        cap: Option<usize>,
    ) -> Result<Self, String> {
        let idle = cap.unwrap_or(usize::MAX);
        if is_plain && connect.proxy.is_none() && !connect.http2 {
            return Ok(Self::Direct(Arc::new(Direct::new(headers, limit, idle))));
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(AGENT)
            .default_headers(headers)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .tcp_nodelay(true)
            .http1_max_headers(MAX_HEADERS)
            .http2_max_header_list_size(u32::try_from(MAX_HEADER_BYTES).unwrap_or(u32::MAX))
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(idle);
        if let Some(limit) = limit {
            builder = builder.connect_timeout(limit);
        }
        builder = match connect.proxy {
            Some(proxy) => builder.proxy(
                reqwest::Proxy::all(proxy)
                    .map_err(|error| format!("the proxy's address is not one: {}", error.without_url()))?,
            ),
            None => builder.no_proxy(),
        };
        if let Some(file) = connect.ca_file {
            builder = builder.tls_certs_only(authorities(file)?);
        }
        builder = if connect.http2 { builder.http2_prior_knowledge() } else { builder.http1_only() };
        Ok(Self::Full(builder.build().map_err(|error| format!("no HTTP client: {}", error.without_url()))?))
    }

    /// Sends a request, and returns when the head of its reply is there.
    pub(super) async fn execute(
        &self,
        method: &Method,
        address: &Address,
        body: Option<&Body>,
    ) -> Result<Response, WireError> {
        // most bodies are JSON, whose header value need not be made again and again
        let kind = body.and_then(|body| match body.content_type.as_str() {
            JSON => Some(HeaderValue::from_static(JSON)),
            other => HeaderValue::from_str(other).ok(),
        });
        match self {
            Self::Direct(direct) => {
                let mut request = http::Request::new(Segments::new(body));
                *request.method_mut() = method.clone();
                *request.uri_mut() = address.uri.clone();
                *request.headers_mut() = direct.headers.clone();
                request.headers_mut().extend(kind.map(|kind| (CONTENT_TYPE, kind)));
                let (head, body) = direct.http.request(request).await.map_err(WireError::Request)?.into_parts();
                Ok(Response { status: head.status, headers: head.headers, rest: Rest::Direct(body) })
            }
            Self::Full(http) => {
                let mut request = reqwest::Request::new(method.clone(), address.url.clone());
                request.headers_mut().extend(kind.map(|kind| (CONTENT_TYPE, kind)));
                if body.is_some() {
                    *request.body_mut() = Some(reqwest::Body::wrap(Segments::new(body)));
                }
                let mut response = http.execute(request).await.map_err(WireError::Library)?;
                let headers = std::mem::take(response.headers_mut());
                Ok(Response { status: response.status(), headers, rest: Rest::Full(response) })
            }
        }
    }
}

impl Direct {
    fn new(more: HeaderMap, limit: Option<Duration>, idle: usize) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.extend(more);
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        let (every, most) = KEEPALIVE;
        tcp.set_keepalive(Some(every));
        tcp.set_keepalive_interval(Some(every));
        tcp.set_keepalive_retries(Some(most));
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(idle)
            .http1_max_headers(MAX_HEADERS)
            .build(Limited { tcp, limit });
        Self { http, headers }
    }
}

/// Connections that must be there within a limit, the look-up of the name included.
#[derive(Clone)]
struct Limited {
    tcp: HttpConnector,
    limit: Option<Duration>,
}

impl Service<Uri> for Limited {
    type Response = <HttpConnector as Service<Uri>>::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, limit) = (self.tcp.call(uri), self.limit);
        Box::pin(async move {
            let connected = match limit {
                None => connecting.await,
                Some(limit) => tokio::time::timeout(limit, connecting)
                    .await
                    .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time"))?,
            };
            connected.map_err(Into::into)
        })
    }
}

/// The head of a reply, and the way to its body.
pub(crate) struct Response {
    status: StatusCode,
    headers: HeaderMap,
    rest: Rest,
}

enum Rest {
    Direct(Incoming),
    Full(reqwest::Response),
}

impl Response {
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The next bytes of the body; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, WireError> {
        let body = match &mut self.rest {
            Rest::Full(response) => return response.chunk().await.map_err(WireError::Library),
            Rest::Direct(body) => body,
        };
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
            // trailers say nothing here
            if let Ok(bytes) = frame.map_err(WireError::Body)?.into_data() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

/// Why there is no reply, or not all of it.
#[derive(Debug)]
pub(crate) enum WireError {
    Library(reqwest::Error),
    Request(legacy::Error),
    Body(hyper::Error),
}

impl WireError {
    /// Whether there was no connection.
    pub(super) fn is_connect(&self) -> bool {
        match self {
            Self::Library(error) => error.is_connect() || error.is_builder(),
            Self::Request(error) => error.is_connect(),
            Self::Body(_) => false,
        }
    }

    pub(super) fn is_timeout(&self) -> bool {
        match self {
            Self::Library(error) => error.is_timeout(),
            Self::Request(_) | Self::Body(_) => self.chain().any(|cause| {
                cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
            }),
        }
    }

    /// The error and its causes, from the outside in.
    pub(super) fn chain(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        let outermost: &(dyn Error + 'static) = match self {
            Self::Library(error) => error,
            Self::Request(error) => error,
            Self::Body(error) => error,
        };
        std::iter::successors(Some(outermost), |&error| error.source())
    }

    /// The causes in words, without the address (it may hold credentials) and without a library's own outermost
    /// words when there is a cause.
    pub(super) fn words(self) -> String {
        let (error, is_wrapped) = match self {
            Self::Library(error) => (Self::Library(error.without_url()), true),
            Self::Request(_) => (self, true),
            Self::Body(_) => (self, false),
        };
        let mut parts: Vec<String> =
            error.chain().map(ToString::to_string).filter(|text| !text.trim().is_empty()).collect();
        if is_wrapped && parts.len() > 1 {
            parts.remove(0);
        }
        parts.dedup();
        if parts.is_empty() { "the connection failed without a reason".into() } else { parts.join(": ") }
    }
}

/// A request body in segments whose total length is known, so that it is never sent chunked.
pub(super) struct Segments {
    rest: std::vec::IntoIter<Bytes>,
    left: u64,
}

impl Segments {
    fn new(body: Option<&Body>) -> Self {
        let segments = body.into_iter().flat_map(|body| &body.segments).filter(|segment| !segment.is_empty());
        Self { rest: segments.cloned().collect::<Vec<Bytes>>().into_iter(), left: body.map_or(0, Body::len) }
    }
}

impl hyper::body::Body for Segments {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.rest.next();
        self.left -= next.as_ref().map_or(0, |segment| segment.len() as u64);
        Poll::Ready(next.map(|segment| Ok(Frame::data(segment))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpSocket;

    use super::*;
    use crate::catalog::ErrorClass;
    use crate::execute::fault::Fault;
    use crate::record::Status;

    #[tokio::test]
    async fn a_connection_that_does_not_come_is_cut_at_the_connect_limit() {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        // room for one connection that nobody accepts; the system answers no other
        let listener = socket.listen(0).unwrap();
        let at = listener.local_addr().unwrap();
        let _waiting = std::net::TcpStream::connect(at).unwrap();
        let address = Address::new(format!("http://{at}/v1").parse().unwrap()).unwrap();
        let direct = Direct::new(HeaderMap::new(), Some(Duration::from_millis(50)), 1);
        let ended = Transport::Direct(Arc::new(direct)).execute(&Method::GET, &address, None).await;
        let error = ended.err().unwrap();
        assert!(error.is_connect() && error.is_timeout(), "{error:?}");
        let fault = Fault::send(error);
        assert_eq!((fault.status, fault.error.class), (Status::Censored, ErrorClass::Timeout));
        assert_eq!(fault.error.message, "no connection within the connect limit");
    }
}
