//! Faults below HTTP: connections that are reset, and a listener that goes away.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::rules::Faults;

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// How long to wait before a port that cannot be had is asked for again.
const AGAIN: Duration = Duration::from_millis(10);

/// A connection's handle for those who break it.
#[derive(Clone)]
pub(crate) struct Line {
    broken: Arc<Notify>,
    restarts: watch::Receiver<u64>,
}

impl Line {
    pub(super) fn new(restarts: watch::Receiver<u64>) -> Self {
        Self { broken: Arc::new(Notify::new()), restarts }
    }

    /// Resets the connection, which ends whatever answers on it.
    pub(super) fn cut(&self) {
        self.broken.notify_one();
    }
}

/// Done when the connection is to be reset; never without a handle.
pub(crate) async fn cut(line: Option<&mut Line>) {
    match line {
        None => pending().await,
        Some(line) => tokio::select! {
            () = line.broken.notified() => {}
            changed = line.restarts.changed() => if changed.is_err() { pending().await },
        },
    }
}

/// Closes a connection with a reset, dropping what was not sent.
pub(crate) fn reset(stream: TcpStream) {
    // where the option cannot be set the client sees an early end instead
    drop(stream.set_zero_linger());
    drop(stream);
}

/// A time in which nobody can connect.
pub(super) struct Outage {
    pub(super) span: Duration,
    /// Told when it has begun.
    pub(super) closed: oneshot::Sender<()>,
}

/// A listener that can go away and come back on the same port.
pub(crate) struct Door {
    state: State,
    address: SocketAddr,
    outages: Option<mpsc::UnboundedReceiver<Outage>>,
}

enum State {
    Open(TcpListener),
    /// Until then connections are refused. A socket that does not listen keeps the port from others.
    Away(Instant, Option<TcpSocket>),
}

impl Door {
    /// The door that the server's faults close.
    pub(crate) fn new(listener: TcpListener, faults: &Faults) -> io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self { state: State::Open(listener), address, outages: faults.door() })
    }

    /// The next connection. Nothing is lost when the future is dropped.
    pub(crate) async fn accept(&mut self) -> io::Result<TcpStream> {
        loop {
            let next = match &mut self.state {
                State::Open(listener) => {
                    let outage = async {
                        match &mut self.outages {
                            Some(outages) => outages.recv().await,
                            None => None,
                        }
                    };
                    tokio::select! {
                        accepted = listener.accept() => return accepted.map(|(stream, _)| stream),
                        Some(outage) = outage => Some(outage),
                    }
                }
                State::Away(until, _) => {
                    sleep_until(*until).await;
                    None
                }
            };
            match next {
                Some(outage) => self.close(outage),
                None => {
                    if let Some(listener) = self.reopened() {
                        self.state = State::Open(listener);
                    } else {
                        sleep(AGAIN).await;
                    }
                }
            }
        }
    }

    fn close(&mut self, outage: Outage) {
        // the listener goes before the port is taken again
        self.state = State::Away(Instant::now() + outage.span, None);
        let held = bound(self.address).ok();
        if let State::Away(_, socket) = &mut self.state {
            *socket = held;
        }
        // the one who asked may have gone
        outage.closed.send(()).ok();
    }

    fn reopened(&mut self) -> Option<TcpListener> {
        let held = match &mut self.state {
            State::Away(_, socket) => socket.take(),
            State::Open(_) => None,
        };
        held.map_or_else(|| bound(self.address), Ok).and_then(|socket| socket.listen(BACKLOG)).ok()
    }
}

/// A socket on the address that does not listen.
fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // connections of the time before may still hold the port
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
