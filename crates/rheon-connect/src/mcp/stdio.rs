//! `StdioTransport`: messages as lines of a server's standard input and output.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::child::{Child, StartedChild};
use super::lines::{Line, LineReader};

/// The longest message.
pub(super) const MESSAGE_BYTES_MAX: usize = 8 << 20;

/// The transport of a server that is a child process.
pub(super) struct StdioTransport {
    lines: LineReader<ChildStdout>,
    input: Arc<Mutex<Option<ChildStdin>>>,
    child: Child,
    ignored: Arc<AtomicU64>,
}

impl StdioTransport {
    /// `ignored` counts the lines that are not messages.
    pub(super) fn new(started: StartedChild, ignored: Arc<AtomicU64>) -> Self {
        Self {
            lines: LineReader::new(started.output, MESSAGE_BYTES_MAX),
            input: Arc::new(Mutex::new(Some(started.input))),
            child: started.child,
            ignored,
        }
    }

    fn message(&self, line: &Line) -> Option<ServerJsonRpcMessage> {
        let message = match line {
            Line::Whole(line) if line.is_empty() => return None,
            Line::Whole(line) => serde_json::from_slice(line).ok(),
            Line::TooLong(long) => long.answers().map(|id| ServerJsonRpcMessage::error(too_long(), Some(id))),
        };
        if message.is_none() {
            self.ignored.fetch_add(1, Ordering::Relaxed);
        }
        message
    }
}

/// The error that stands for an answer that is too long.
pub(super) fn too_long() -> ErrorData {
    let text = format!("the server's answer is longer than {} MiB", MESSAGE_BYTES_MAX >> 20);
    ErrorData::internal_error(text, None)
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = Arc::clone(&self.input);
        async move {
            let line = line(&message)?;
            match input.lock().await.as_mut() {
                Some(input) => {
                    input.write_all(&line).await?;
                    input.flush().await
                }
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            // An error of the pipe ends the connection like its end does.
            let line = self.lines.next().await.ok().flatten()?;
            if let Some(message) = self.message(&line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A server that does not read may hold the lock; ending it closes the pipe as well.
        if let Ok(mut input) = self.input.try_lock() {
            drop(input.take());
        }
        self.child.end().await;
        Ok(())
    }
}

fn line(message: &ClientJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
