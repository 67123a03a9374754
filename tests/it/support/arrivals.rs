//! A server on loopback that answers everything at once and knows when requests arrived: the moments
//! are the kernel's receive time stamps, so that how late this server itself wakes up is no part of them.

use std::io::{ErrorKind, IoSliceMut, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};

/// What is answered to everything that is not a question about the server.
type Reply = Arc<dyn Fn(&str) -> (u16, String) + Send + Sync>;

/// A request and when its last byte was received, as time since the epoch.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) path: String,
    pub(crate) at: Duration,
}

/// The running server; it takes no more connections once dropped.
pub(crate) struct Arrivals {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Arrival>>>,
    ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
    address: std::net::SocketAddr,
}

impl Arrivals {
    pub(crate) fn start(reply: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // connections inherit it, so that their first bytes are stamped too
        setsockopt(&listener, sockopt::ReceiveTimestampns, &true).unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, ended, reply): (Arc<Mutex<Vec<Arrival>>>, Arc<AtomicBool>, Reply) =
            (Arc::default(), Arc::default(), Arc::new(reply));
        let (log, over) = (Arc::clone(&seen), Arc::clone(&ended));
        let accepting = thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (log, reply) = (Arc::clone(&log), Arc::clone(&reply));
                // ends with its connection, which the client closes
                thread::spawn(move || serve(stream, &log, &reply));
            }
        });
        Self { url: format!("http://{address}"), seen, ended, accepting: Some(accepting), address }
    }

    /// Requests so far whose path starts like this, in order of arrival.
    pub(crate) fn calls(&self, path: &str) -> Vec<Arrival> {
        let mut calls: Vec<Arrival> =
            self.seen.lock().unwrap().iter().filter(|arrival| arrival.path.starts_with(path)).cloned().collect();
        calls.sort_by_key(|arrival| arrival.at);
        calls
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address)); // wakes the thread that accepts
        self.accepting.take().unwrap().join().unwrap();
    }
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<Arrival>>, reply: &Reply) {
    stream.set_nodelay(true).unwrap();
    let (mut buffer, mut at) = (Vec::new(), Duration::ZERO);
    loop {
        while let Some((path, length)) = whole_request(&buffer) {
            buffer.drain(..length);
            let (status, body) = reply(&path);
            log.lock().unwrap().push(Arrival { path, at });
            let head = format!(
                "HTTP/1.1 {status} Answer\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            if stream.write_all((head + &body).as_bytes()).is_err() {
                return;
            }
        }
        match receive(&stream, &mut buffer) {
            Some(stamp) => at = stamp,
            None => return,
        }
    }
}

/// The path and the length of the first request when all of it is there.
fn whole_request(buffer: &[u8]) -> Option<(String, usize)> {
    let head_end = buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&buffer[..head_end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
    let path = head.split(' ').nth(1).unwrap().to_owned();
    (buffer.len() >= head_end + length).then_some((path, head_end + length))
}

/// Receives some bytes, and when the last of them came; `None` at the end of the connection.
fn receive(stream: &TcpStream, buffer: &mut Vec<u8>) -> Option<Duration> {
    let mut chunk = [0; 16 << 10];
    let mut space = nix::cmsg_space!(nix::sys::time::TimeSpec);
    loop {
        let mut into = [IoSliceMut::new(&mut chunk)];
        let message = match recvmsg::<()>(stream.as_raw_fd(), &mut into, Some(&mut space), MsgFlags::empty()) {
            Ok(message) => message,
            Err(error) if std::io::Error::from(error).kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        let stamp = message.cmsgs().unwrap().find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
            _ => None,
        });
        let received = message.bytes;
        if received == 0 {
            return None;
        }
        buffer.extend_from_slice(&chunk[..received]);
        return Some(stamp.expect("received bytes carry a time stamp"));
    }
}
