//! Test server on loopback that reads requests and sends scripted bytes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::transport::{ProxyChoice, Transport, TransportConfig};

/// One action of the server.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Sends these bytes repeatedly until the client closes the connection.
    Repeat(Vec<u8>),
    /// Sends these bytes repeatedly, once per second of tokio's time.
    Drip(Vec<u8>),
    Close,
    /// Sends nothing more and reports when the client closes the connection.
    Hang,
}

pub(crate) struct Server {
    /// The base URL, without a trailing slash.
    pub(crate) url: String,
    log: Arc<Mutex<RequestLog>>,
    requested: mpsc::UnboundedReceiver<()>,
    closed: mpsc::UnboundedReceiver<()>,
}

/// State shared by the connections.
#[derive(Clone)]
struct Shared {
    answers: Arc<Mutex<VecDeque<Vec<Step>>>>,
    log: Arc<Mutex<RequestLog>>,
    requested: mpsc::UnboundedSender<()>,
    closed: mpsc::UnboundedSender<()>,
}

#[derive(Default)]
struct RequestLog {
    requests: Vec<String>,
    connections: usize,
}

impl Server {
    /// Answers requests in order with these steps.
    pub(crate) async fn start<const N: usize>(answers: [Vec<Step>; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(RequestLog::default()));
        let (report_request, requested) = mpsc::unbounded_channel();
        let (report_close, closed) = mpsc::unbounded_channel();
        let shared = Shared {
            answers: Arc::new(Mutex::new(VecDeque::from(answers))),
            log: Arc::clone(&log),
            requested: report_request,
            closed: report_close,
        };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                shared.log.lock().unwrap().connections += 1;
                tokio::spawn(converse(socket, shared.clone()));
            }
        });
        Self { url, log, requested, closed }
    }

    /// The requests so far: head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().requests.clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.log.lock().unwrap().connections
    }

    /// Waits for a request.
    pub(crate) async fn wait_for_request(&mut self) {
        self.requested.recv().await.unwrap();
    }

    /// Waits until a client closes a hanging or repeating connection.
    pub(crate) async fn wait_for_close(&mut self) {
        self.closed.recv().await.unwrap();
    }
}

/// A complete response with a content length.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<Step> {
    let length = body.as_ref().len().to_string();
    let mut all = headers.to_vec();
    all.push(("content-length", &length));
    let mut bytes = head(status, &all);
    bytes.extend_from_slice(body.as_ref());
    vec![Step::Send(bytes)]
}

/// The head of a response.
pub(crate) fn head(status: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{lines}\r\n").into_bytes()
}

/// The head of an event stream and its pieces, one chunk each.
pub(crate) fn events(pieces: &[&str]) -> Vec<Step> {
    let headers = [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")];
    let mut steps = vec![Step::Send(head("200 OK", &headers))];
    steps.extend(pieces.iter().map(|piece| Step::Send(chunked(piece.as_bytes()))));
    steps
}

/// One chunk of a chunked body; an empty one ends it.
pub(crate) fn chunked(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// A transport without a proxy.
pub(crate) fn transport() -> Transport {
    transport_with(TransportConfig::default())
}

/// The same with other settings.
pub(crate) fn transport_with(config: TransportConfig) -> Transport {
    Transport::new(TransportConfig { proxy: ProxyChoice::Direct, ..config }).unwrap()
}

async fn converse(mut socket: TcpStream, shared: Shared) {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut socket, &mut buffer).await {
        shared.log.lock().unwrap().requests.push(request);
        shared.requested.send(()).unwrap_or_default();
        let Some(steps) = shared.answers.lock().unwrap().pop_front() else { return };
        for step in steps {
            match step {
                Step::Send(bytes) => drop(socket.write_all(&bytes).await),
                Step::Repeat(bytes) => {
                    while socket.write_all(&bytes).await.is_ok() {}
                    shared.closed.send(()).unwrap_or_default();
                }
                Step::Drip(bytes) => {
                    while socket.write_all(&bytes).await.is_ok() {
                        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                    }
                }
                Step::Close => return,
                Step::Hang => {
                    while socket.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
                    shared.closed.send(()).unwrap_or_default();
                    return;
                }
            }
        }
    }
}

async fn read_request(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<String> {
    loop {
        let text = String::from_utf8_lossy(buffer).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if body.len() >= length {
                buffer.clear();
                return Some(text);
            }
        }
        let read = socket.read_buf(buffer).await.ok()?;
        if read == 0 {
            return None;
        }
    }
}
