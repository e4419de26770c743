//! `MessageExchange`: a server inside the program that drives the session, reached message by message.

use std::io;
use std::sync::Arc;

use rheon_types::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc;

/// How many answers may wait to be read.
const ANSWERS_MAX: usize = 64;

/// Carries JSON-RPC messages to a server and its answers back.
pub trait MessageExchange: Send + Sync {
    /// Delivers one message. The answer of a request; `None` for a notification. The error says why it could not be
    /// delivered.
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Option<Value>, String>>;
}

/// A transport over an exchange.
pub(super) struct ExchangeTransport {
    exchange: Arc<dyn MessageExchange>,
    answers: mpsc::Receiver<ServerJsonRpcMessage>,
    sender: Option<mpsc::Sender<ServerJsonRpcMessage>>,
}

impl ExchangeTransport {
    pub(super) fn new(exchange: Arc<dyn MessageExchange>) -> Self {
        let (sender, answers) = mpsc::channel(ANSWERS_MAX);
        Self { exchange, answers, sender: Some(sender) }
    }
}

impl Transport<RoleClient> for ExchangeTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (exchange, sender) = (Arc::clone(&self.exchange), self.sender.clone());
        async move {
            let sender = sender.ok_or(io::ErrorKind::NotConnected)?;
            let text = serde_json::to_value(&message)?;
            let TxJsonRpcMessage::<RoleClient>::Request(request) = message else {
                return exchange.exchange(text).await.map(drop).map_err(io::Error::other);
            };
            // The answer comes on its own, as on any other transport.
            tokio::spawn(async move {
                let answered = exchange.exchange(text).await;
                let answer = match answered {
                    Ok(Some(answer)) => serde_json::from_value(answer).map_err(|error| error.to_string()),
                    Ok(None) => Err("the program did not answer".to_owned()),
                    Err(problem) => Err(problem),
                };
                let answer = answer.unwrap_or_else(|problem| {
                    ServerJsonRpcMessage::error(ErrorData::internal_error(problem, None), Some(request.id))
                });
                // The connection is closed if there is no reader.
                drop(sender.send(answer).await);
            });
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.answers.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.sender = None;
        self.answers.close();
        Ok(())
    }
}
