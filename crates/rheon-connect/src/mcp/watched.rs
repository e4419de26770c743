//! `Watched`: a transport that passes on only answers that are waited for, and tells when it is gone.

use std::collections::HashSet;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A transport whose end cancels a token, whichever side closed it. Answers that belong to no open request are dropped: a
/// server may answer twice, under another id, or after the handshake went on without it.
pub(super) struct Watched<T> {
    transport: T,
    /// The requests without an answer. Our ids are numbers.
    open: HashSet<i64>,
    _end: DropGuard,
}

impl<T> Watched<T> {
    pub(super) fn new(transport: T, end: CancellationToken) -> Self {
        Self { transport, open: HashSet::new(), _end: end.drop_guard() }
    }

    fn note(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    // The question for the newest protocol was given up.
                    self.open.clear();
                }
                self.open.extend(number(&request.id));
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(canceled) = &notification.notification
                    && let Some(id) = canceled.params.request_id.as_ref().and_then(number)
                {
                    self.open.remove(&id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
    }

    /// Whether a caller waits for the message.
    fn is_expected(&mut self, message: &ServerJsonRpcMessage) -> bool {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => &response.id,
            ServerJsonRpcMessage::Error(error) => match &error.id {
                Some(id) => id,
                None => return true,
            },
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => return true,
        };
        number(id).is_some_and(|id| self.open.remove(&id))
    }
}

/// Some servers answer with the number as text.
fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(text) => text.parse().ok(),
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.note(&message);
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.transport.receive().await?;
            if self.is_expected(&message) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}
