//! `Doorway`: where a model would be. It notes when the first request arrives and how long it is, and answers nothing.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long an agent may take to ask.
const PATIENCE: Duration = Duration::from_secs(60);
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A door that agents knock at.
#[derive(Debug)]
pub(super) struct Doorway {
    listener: TcpListener,
    pub(super) url: String,
}

/// The first request to a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knock {
    /// When its first byte was there.
    pub(super) at: Instant,
    /// How long its body is.
    pub(super) body_bytes: u64,
}

impl Doorway {
    pub(super) fn open() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen on 127.0.0.1")?;
        let url = format!("http://{}", listener.local_addr()?);
        Ok(Self { listener, url })
    }

    /// Waits for the first request to a model. What else is asked for before is not found.
    pub(super) fn wait(&self) -> Result<Knock> {
        self.listener.set_nonblocking(true)?;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // Short beside what is measured.
                    std::thread::sleep(Duration::from_micros(50));
                    continue;
                }
                Err(error) => return Err(error).context("cannot take a connection"),
            };
            if let Some(knock) = look(stream)? {
                return Ok(knock);
            }
        }
        bail!("no request to the model within {} s", PATIENCE.as_secs())
    }
}

/// The request, if it goes to a model.
fn look(mut stream: TcpStream) -> Result<Option<Knock>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut head = Vec::new();
    let mut at = None;
    let mut piece = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") && head.len() < HEAD_BYTES_MAX {
        let read = match stream.read(&mut piece) {
            // A connection that is opened ahead of time and not used.
            Ok(0) | Err(_) => return Ok(None),
            Ok(read) => read,
        };
        at.get_or_insert_with(Instant::now);
        head.extend_from_slice(piece.get(..read).unwrap_or_default());
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    match (head.starts_with("post "), length, at) {
        (true, Some(body_bytes), Some(at)) => Ok(Some(Knock { at, body_bytes })),
        _ => {
            stream
                .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .ok();
            Ok(None)
        }
    }
}

#[cfg(test)]
#[path = "doorway_tests.rs"]
mod tests;
