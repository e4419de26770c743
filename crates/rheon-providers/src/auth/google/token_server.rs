//! A token server on loopback with scripted responses.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Answers each request with the next response; the last one repeats.
pub(super) struct TokenServer {
    /// Host and port.
    pub(super) host: String,
    /// The requests it received, head and body.
    requests: Arc<Mutex<Vec<String>>>,
}

impl TokenServer {
    /// Starts a server with these statuses and bodies.
    pub(super) async fn start(answers: Vec<(u16, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let request =
                    answer(stream, |count| answers[count.min(answers.len() - 1)].clone(), &log).await;
                assert!(request.is_some(), "a request that is not HTTP");
            }
        });
        Self { host, requests }
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn answer(
    mut stream: TcpStream,
    answer: impl Fn(usize) -> (u16, String),
    requests: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut bytes = Vec::new();
    let request_text = loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok()?;
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8(bytes.clone()).ok()?;
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                break text;
            }
        }
        if count == 0 {
            return None;
        }
    };
    let count = {
        let mut requests = requests.lock().unwrap();
        requests.push(request_text);
        requests.len() - 1
    };
    let (status, body) = answer(count);
    let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // The client may close the connection first.
    let _sent = stream.write_all(format!("{head}{body}").as_bytes()).await;
    Some(())
}
