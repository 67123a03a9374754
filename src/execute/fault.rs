//! Why an exchange did not come to an end: errors of the client library in this tool's classes,
//! always with words.

use std::io;
use std::time::Duration;

use crate::catalog::{ErrorClass, limits};
use crate::record::{RequestError, Status};
use crate::units::Span;

use super::transport::WireError;

/// A request that ended without a judged reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Failed, censored or cancelled.
    pub(crate) status: Status,
    /// Why.
    pub(crate) error: RequestError,
}

impl Fault {
    /// The server's or the network's doing.
    pub(crate) fn failed(error: RequestError) -> Self {
        Self { status: Status::Failed, error }
    }

    /// A limit of this client ran out.
    pub(crate) fn censored(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { status: Status::Censored, error: RequestError::new(class, message) }
    }

    /// The user stopped the run.
    pub(crate) fn cancelled(message: impl Into<String>) -> Self {
        Self { status: Status::Cancelled, error: RequestError::new(ErrorClass::Cancelled, message) }
    }

    /// The reply had not even begun, or was not complete, when the limit ran out.
    pub(crate) fn timeout(limit: Option<Duration>, began: bool) -> Self {
        let what = if began { "the reply was not complete" } else { "no reply" };
        Self::censored(ErrorClass::Timeout, format!("{what} within {}", limit_text(limit)))
    }

    /// No reply head came.
    pub(crate) fn send(error: WireError) -> Self {
        let connect = error.is_connect();
        if error.is_timeout() {
            return Self::censored(
                ErrorClass::Timeout,
                if connect { "no connection within the connect limit" } else { "no reply in time" },
            );
        }
        if error.chain().any(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse_too_large))
        {
            return Self::failed(RequestError::new(ErrorClass::InvalidResponse, too_many_headers()));
        }
        let told = error.words();
        // the library's name of its own step says nothing to a user
        let told = ["client error (Connect): ", "client error (SendRequest): "]
            .iter()
            .find_map(|step| told.strip_prefix(step))
            .unwrap_or(&told);
        Self::failed(if connect {
            RequestError::new(ErrorClass::Connect, told)
        } else {
            RequestError::new(ErrorClass::Io, format!("the connection broke before the reply came: {told}"))
        })
    }

    /// The connection broke inside the reply.
    pub(crate) fn body(error: WireError, http_status: u16, received: u64, announced: Option<u64>) -> Self {
        let of = announced.map(|all| format!(" of {all}")).unwrap_or_default();
        let message = format!("the reply broke off after {received}{of} bytes: {}", error.words());
        Self::failed(RequestError::new(ErrorClass::Io, message).status(http_status))
    }
}

/// The library does not say which of its limits was reached.
fn too_many_headers() -> String {
    format!(
        "the reply has more than {} headers, or more than {} KiB of them (limits `max_headers`, `max_header`)",
        limits::MAX_HEADERS,
        limits::MAX_HEADER_BYTES >> 10,
    )
}

/// A limit in words.
pub(crate) fn limit_text(limit: Option<Duration>) -> String {
    limit
        .and_then(|limit| u64::try_from(limit.as_millis()).ok())
        .map_or_else(|| "the limit".into(), |ms| Span::millis(ms).to_string())
}

/// Whether the connection was gone before a byte of the reply came, as a kept-alive one that the
/// server has closed in the meantime is.
pub(crate) fn is_stale(error: &WireError) -> bool {
    !error.is_connect()
        && !error.is_timeout()
        && error.chain().any(|cause| {
            cause
                .downcast_ref::<hyper::Error>()
                .is_some_and(|e| e.is_incomplete_message() || e.is_canceled() || e.is_closed())
                || cause.downcast_ref::<io::Error>().is_some_and(|e| {
                    matches!(
                        e.kind(),
                        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe
                    )
                })
        })
}
