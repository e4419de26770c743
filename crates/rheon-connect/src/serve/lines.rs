//! `serve_lines`: a service on lines of text, as a program has them on its standard input and output.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_server};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::handler::ServiceHandler;
use super::service::McpService;

/// Answers the messages of `input`, one per line, until it ends. What runs then is given up.
pub async fn serve_lines(
    service: Arc<dyn McpService>,
    input: mpsc::Receiver<String>,
    output: mpsc::UnboundedSender<String>,
) {
    let transport = LineTransport { input, output, has_request: false };
    // A connection that ends before its first request needs no answer.
    if let Ok(running) = serve_server(ServiceHandler::new(service), transport).await {
        drop(running.waiting().await);
    }
}

struct LineTransport {
    input: mpsc::Receiver<String>,
    output: mpsc::UnboundedSender<String>,
    /// Before the first request there is nothing to notify about.
    has_request: bool,
}

impl LineTransport {
    /// The message of a line. What is none is answered here.
    fn message(&mut self, line: &str) -> Option<ClientJsonRpcMessage> {
        if line.trim().is_empty() {
            return None;
        }
        let Ok(mut message) = serde_json::from_str::<Value>(line) else {
            self.refuse(ErrorCode::PARSE_ERROR, "this is not JSON");
            return None;
        };
        complete(&mut message);
        let parsed = serde_json::from_value(message);
        let Ok(message) = parsed else {
            self.refuse(ErrorCode::INVALID_REQUEST, "this is not a message of the protocol");
            return None;
        };
        self.has_request |= matches!(message, ClientJsonRpcMessage::Request(_));
        self.has_request.then_some(message)
    }

    fn refuse(&self, code: ErrorCode, text: &'static str) {
        let error = json!({ "jsonrpc": "2.0", "id": null, "error": ErrorData::new(code, text, None) });
        // Without a writer there is no reader.
        drop(self.output.send(error.to_string()));
    }
}

/// Some programs do not say who they are.
fn complete(message: &mut Value) {
    if message.get("method").and_then(Value::as_str) == Some("initialize")
        && let Some(params) = message.get_mut("params").and_then(Value::as_object_mut)
    {
        params.entry("clientInfo").or_insert_with(|| json!({ "name": "unknown", "version": "0" }));
        params.entry("capabilities").or_insert_with(|| json!({}));
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = line(&message)
            .and_then(|line| self.output.send(line).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe)));
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = self.input.recv().await?;
            if let Some(message) = self.message(&line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.input.close();
        Ok(())
    }
}

fn line(message: &ServerJsonRpcMessage) -> io::Result<String> {
    serde_json::to_string(message).map_err(io::Error::other)
}
