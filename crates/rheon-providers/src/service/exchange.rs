//! One request: encodes, authenticates and sends it, and classifies errors.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use rheon_types::{ProviderError, ProviderErrorKind, Request};
use url::Url;

use super::optional_fields::{OmittedFields, ReducedCall};
use super::refused::Refused;
use super::shared::Shared;
use crate::auth::Redactor;
use crate::error;
use crate::frame::Framing;
use crate::transport::{HttpRequest, HttpResponse};
use crate::wire::{WireKind, WireRequest};

/// How much of an error body is read.
pub(super) const ERROR_BYTES_MAX: usize = 64 * 1024;

impl Shared {
    /// The target as `vendor/model`.
    pub(super) fn origin(&self, request: &Request) -> Arc<str> {
        format!("{}/{}", self.endpoint.id, request.model).into()
    }

    /// The body of `request`, without the fields that its model refuses.
    pub(super) fn encode(&self, request: &Request) -> Result<Vec<u8>, ProviderError> {
        self.encode_without(request, &self.refused_fields.of(&request.model))
    }

    /// The body of `request` without `omitted`.
    pub(super) fn encode_without(
        &self,
        request: &Request,
        omitted: &OmittedFields,
    ) -> Result<Vec<u8>, ProviderError> {
        let (model, origin) = ((self.models)(&request.model), self.origin(request));
        let mut call = ReducedCall {
            request: Cow::Borrowed(request),
            model: Cow::Borrowed(&model),
            compat: Cow::Borrowed(&self.endpoint.compat),
        };
        for field in omitted {
            call.omit(*field);
        }
        let ReducedCall { request, model, compat } = &call;
        self.endpoint.wire.encode(&WireRequest { request, model, compat, origin: &origin })
    }

    /// A request to `url` with `body` and this `accept` header, not yet authenticated.
    pub(super) fn http_request(
        &self,
        url: &str,
        model: &str,
        body: Vec<u8>,
        accept: &'static str,
    ) -> Result<HttpRequest, ProviderError> {
        let mut headers = HeaderMap::with_capacity(8 + self.endpoint.headers.len());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        for (name, value) in self.endpoint.wire.headers() {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        for (name, value) in &self.endpoint.headers {
            headers.insert(name.clone(), value.clone());
        }
        Ok(HttpRequest { method: Method::POST, url: address(url, model)?, headers, body: Bytes::from(body) })
    }

    /// Authenticates and sends `request`. A status other than success becomes an error. If the service refuses the
    /// credentials and new ones may be available, the request is sent once more.
    pub(super) async fn exchange(&self, request: &HttpRequest) -> Result<HttpResponse, Refused> {
        match self.exchange_once(request).await {
            Err(refused) if refused.is_stale() && self.authorizer.forget() => {
                self.exchange_once(request).await
            }
            result => result,
        }
    }

    async fn exchange_once(&self, request: &HttpRequest) -> Result<HttpResponse, Refused> {
        let mut request = request.clone();
        self.authorizer.authorize(&mut request).await?;
        let mut response = self.transport.send(&request).await?;
        let status = response.status();
        // Gateways in front of AWS keep its headers, but not always its status.
        let is_error = !status.is_success() || response.headers().contains_key("x-amzn-errortype");
        if !is_error {
            return Ok(response);
        }
        let body = response.read_available(ERROR_BYTES_MAX).await;
        let error = self.classify(status, response.headers(), &body);
        let body = self.redactor().redact(&String::from_utf8_lossy(&body)).into_owned();
        Err(Refused { error, status: Some(status), body })
    }

    /// Classifies an error response. Secrets are redacted before it is truncated.
    pub(super) fn classify(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
        let text = String::from_utf8_lossy(body);
        let redactor = self.redactor();
        let body = redactor.redact(&text);
        error::from_response(status, headers, body.as_bytes(), self.clock.now())
    }

    /// Redacts the error message.
    pub(super) fn redacted(&self, mut error: ProviderError) -> ProviderError {
        error.message = self.redactor().redact(&error.message).into_owned();
        error
    }

    fn redactor(&self) -> Redactor {
        Redactor::of_request(&*self.authorizer, &self.endpoint.headers)
    }
}

/// The `accept` header for calls on `wire`.
pub(super) fn accept(wire: WireKind) -> &'static str {
    match wire.framing() {
        Framing::Sse => "text/event-stream",
        Framing::EventStream => "application/vnd.amazon.eventstream",
        Framing::Lines => "application/x-ndjson",
    }
}

/// Fills the model name into a URL template.
fn address(template: &str, model: &str) -> Result<Url, ProviderError> {
    let filled = template.replace("{model}", &encoded(model));
    Url::parse(&filled).map_err(|problem| {
        let shown = template.split('?').next().unwrap_or_default();
        let message = format!("invalid URL {shown}: {problem}; check the base URL");
        ProviderError::new(ProviderErrorKind::InvalidRequest, message)
    })
}

/// `text` as one path segment.
fn encoded(text: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}
