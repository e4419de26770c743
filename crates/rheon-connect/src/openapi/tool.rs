//! `OpenApiTool`: an operation as a tool of an agent.

use std::sync::Arc;
use std::time::Duration;

use rheon_types::{BoxFuture, Effect, Tool, ToolContext, ToolError, ToolResult};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use url::Url;

use super::auth::{OpenApiAuth, TokenCache};
use super::document::Document;
use super::operation::Operation;
use super::request::{PreparedRequest, prepare};

/// What the tools of one document share.
pub(super) struct Service {
    pub(super) document: Document,
    pub(super) base: Url,
    pub(super) client: reqwest::Client,
    pub(super) auth: OpenApiAuth,
    pub(super) tokens: TokenCache,
    pub(super) headers: http::HeaderMap,
    pub(super) response_bytes_max: usize,
    pub(super) timeout: Duration,
}

/// An operation as a tool.
pub(super) struct OpenApiTool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) operation: Operation,
    pub(super) service: Arc<Service>,
}

/// Separates the parts of a body; checked not to occur in them.
const BOUNDARY: &str = "rheon-6f1d2c7a94e84b0fb3a5";

impl OpenApiTool {
    async fn call(&self, arguments: &Value, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let prepared = prepare(&self.service.base, &self.operation, &arguments, BOUNDARY);
        let prepared = prepared.map_err(ToolError::InvalidArgs)?;
        let sent = tokio::time::timeout(self.service.timeout, self.service.send(prepared));
        let answered = tokio::select! {
            answered = sent => answered,
            () = context.cancel.cancelled() => return Err(ToolError::Cancelled("canceled".into())),
        };
        match answered {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(problem)) => Err(ToolError::Failed(problem)),
            Err(_) => {
                let seconds = self.service.timeout.as_secs();
                Err(ToolError::TimedOut(format!("no answer within {seconds} seconds")))
            }
        }
    }
}

impl Service {
    async fn send(&self, prepared: PreparedRequest) -> Result<ToolResult, String> {
        let PreparedRequest { method, url, headers, body } = prepared;
        // What is shown has no keys in it.
        let shown = url.clone();
        let mut url = url;
        if let OpenApiAuth::QueryKey { name, value } = &self.auth {
            url.query_pairs_mut().append_pair(name, value.expose_secret());
        }
        let mut request = self.client.request(method.clone(), url).headers(self.headers.clone());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some((kind, bytes)) = body {
            request = request.header(http::header::CONTENT_TYPE, kind).body(bytes);
        }
        let request = self.auth.apply(request, &self.client, &self.tokens).await?;
        let failed = |error: reqwest::Error| {
            format!("{method} {shown}: {}", crate::mcp::error_causes(&error.without_url()))
        };
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status();
        let mut body = Vec::new();
        let mut is_cut = false;
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            let free = self.response_bytes_max.saturating_sub(body.len());
            body.extend(chunk.iter().take(free));
            if chunk.len() > free {
                is_cut = true;
                break;
            }
        }
        let text = text_of(&body, is_cut);
        let result = format!("{method} {shown} → {}\n\n{text}", status.as_u16());
        Ok(ToolResult::text(result).with_details(json!({ "status": status.as_u16(), "truncated": is_cut })))
    }
}

/// The text of a body, cut between characters; bytes that are no text are only counted.
fn text_of(body: &[u8], is_cut: bool) -> String {
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(error) if is_cut && error.error_len().is_none() => {
            std::str::from_utf8(body.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
        }
        Err(_) => return format!("[{} bytes that are not text]", body.len()),
    };
    if is_cut { format!("{text}\n[the rest is left out]") } else { text.to_owned() }
}

impl Tool for OpenApiTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters_schema(&self) -> Value {
        self.operation.schema(&self.service.document)
    }

    fn effect(&self) -> Effect {
        if self.operation.is_read_only() { Effect::Pure } else { Effect::Unsafe }
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.call(&arguments, &context).await })
    }
}
