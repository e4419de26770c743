//! `SseTransport`: the transport of old servers: events come over one request, messages go with others.

use std::collections::HashMap;
use std::io;

use futures::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Client;
use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use url::Url;

use super::clean::causes;
use super::error::McpError;
use super::http::{Events, events, is_event_stream};

/// The transport of a server that speaks HTTP with server-sent events, as servers did before 2025-03-26.
pub(super) struct SseTransport {
    client: Client,
    headers: HeaderMap,
    /// Where messages go; an address of the same server.
    endpoint: Url,
    events: Option<Events>,
}

impl SseTransport {
    /// Asks for the events; the first one says where messages go.
    pub(super) async fn open(
        client: Client,
        url: &Url,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Self, McpError> {
        let headers: HeaderMap = headers.into_iter().collect();
        let failed = |problem: String| McpError::Connect(problem);
        let request = client.get(url.clone()).headers(headers.clone()).header(ACCEPT, "text/event-stream");
        let response = request.send().await.map_err(|error| failed(causes(&error)))?;
        if !response.status().is_success() || !is_event_stream(&response) {
            return Err(failed(format!("HTTP {} without events", response.status())));
        }
        let mut events = events(response);
        let first = loop {
            match events.next().await {
                Some(Ok(event)) if event.event.as_deref() == Some("endpoint") => break event.data,
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(failed(causes(&error))),
                None => return Err(failed("the events ended before the first one".into())),
            }
        };
        let endpoint =
            url.join(first.unwrap_or_default().trim()).map_err(|error| failed(error.to_string()))?;
        if endpoint.origin() != url.origin() {
            return Err(failed("the server sends messages to another address".into()));
        }
        Ok(Self { client, headers, endpoint, events: Some(events) })
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        async move {
            let body = serde_json::to_vec(&message)?;
            let sent = request.header(CONTENT_TYPE, "application/json").body(body).send().await;
            sent.and_then(reqwest::Response::error_for_status).map(drop).map_err(io::Error::other)
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            // An error of the stream ends the connection like its end does.
            let event = self.events.as_mut()?.next().await?.ok()?;
            let message: Option<ServerJsonRpcMessage> =
                event.data.and_then(|data| serde_json::from_str(&data).ok());
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.events = None;
        Ok(())
    }
}
