//! A minimal server on a separate thread. It does not allocate once it is running, so that it does not affect the
//! counts.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How the response is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As fast as the client reads it.
    Free,
    /// One chunk per call of [`Server::go_on`].
    InStep,
}

/// Answers every request with the same chunks.
pub(crate) struct Server {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    pieces: Vec<Vec<u8>>,
    pace: Pace,
    started: Instant,
    /// When the first byte of the last request arrived, in nanoseconds after `started`.
    arrived: AtomicU64,
    /// How many chunks may be sent.
    allowed: AtomicU64,
}

impl Server {
    /// A server whose responses consist of these chunks.
    pub(crate) fn start(pieces: Vec<Vec<u8>>, pace: Pace) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = format!("http://{}", listener.local_addr().expect("it has an address"));
        let shared = Arc::new(Shared {
            pieces: chunked(pieces),
            pace,
            started: Instant::now(),
            arrived: AtomicU64::new(0),
            allowed: AtomicU64::new(0),
        });
        let server = Self { address, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(connection));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> &str {
        &self.address
    }

    /// How long after `moment` the first byte of the last request arrived.
    pub(crate) fn arrived_after(&self, moment: Instant) -> Duration {
        let arrived = self.shared.started + Duration::from_nanos(self.shared.arrived.load(Ordering::Acquire));
        arrived.saturating_duration_since(moment)
    }

    /// Releases the next chunk.
    pub(crate) fn go_on(&self) {
        self.shared.allowed.fetch_add(1, Ordering::AcqRel);
    }

    /// Starts over: no chunk may be sent.
    pub(crate) fn hold(&self) {
        self.shared.allowed.store(0, Ordering::Release);
    }
}

impl Shared {
    /// Ends when the client disconnects.
    fn serve(&self, mut connection: TcpStream) {
        connection.set_nodelay(true).expect("a socket takes the option");
        let mut buffer = vec![0; 64 * 1024];
        while self.take_request(&mut connection, &mut buffer).is_some() {
            for (index, piece) in self.pieces.iter().enumerate() {
                while self.pace == Pace::InStep && self.allowed.load(Ordering::Acquire) < index as u64 {
                    thread::yield_now();
                }
                if connection.write_all(piece).is_err() {
                    return;
                }
            }
        }
    }

    /// Reads one request; `None` if the client has disconnected.
    fn take_request(&self, connection: &mut TcpStream, buffer: &mut [u8]) -> Option<()> {
        let mut filled = connection.read(buffer).ok().filter(|read| *read > 0)?;
        let arrived = self.started.elapsed().as_nanos();
        self.arrived.store(u64::try_from(arrived).unwrap_or(u64::MAX), Ordering::Release);
        let (head, length) = loop {
            let read = buffer.get(..filled)?;
            if let Some(end) = memchr::memmem::find(read, b"\r\n\r\n") {
                break (end + 4, content_length(read.get(..end)?)?);
            }
            filled += connection.read(buffer.get_mut(filled..)?).ok().filter(|read| *read > 0)?;
        };
        let mut missing = (head + length).saturating_sub(filled);
        while missing > 0 {
            missing = missing.saturating_sub(connection.read(buffer).ok().filter(|read| *read > 0)?);
        }
        Some(())
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find_map(|(name, value)| {
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    })
}

/// The head and the chunks of a response as sent over the network; the last chunk includes the end.
fn chunked(pieces: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut bodies: Vec<Vec<u8>> = pieces
        .into_iter()
        .map(|piece| [format!("{:x}\r\n", piece.len()).as_bytes(), &piece, b"\r\n"].concat())
        .collect();
    if let Some(first) = bodies.first_mut() {
        *first = [head.as_slice(), first].concat();
    }
    if let Some(last) = bodies.last_mut() {
        last.extend_from_slice(b"0\r\n\r\n");
    }
    bodies
}
