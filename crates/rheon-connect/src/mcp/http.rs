//! `HttpBackend`: the requests of streamable HTTP, with limits for what comes back.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{RequestBuilder, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::clean::short_line;
use super::stdio::MESSAGE_BYTES_MAX;

const SESSION_ID: &str = "mcp-session-id";
const LAST_EVENT_ID: &str = "last-event-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

type HttpError = StreamableHttpError<reqwest::Error>;
pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// Sends messages with HTTP.
#[derive(Clone)]
pub(super) struct HttpBackend(pub(super) reqwest::Client);

impl StreamableHttpClient for HttpBackend {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let body = serde_json::to_vec(&message)?;
        let request = self.0.post(&*uri).header(CONTENT_TYPE, JSON).body(body);
        let request = with_headers(request, auth_header, custom_headers);
        let request = with_session(request, session_id.as_deref());
        let response = challenge(request.send().await.map_err(HttpError::Client)?)?;
        let in_session = session_id.is_some();
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if in_session => Err(HttpError::SessionExpired),
            status if status.is_success() => read_answer(response, &message).await,
            _ => refused(response, &message, in_session).await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), HttpError> {
        let request = with_headers(self.0.delete(&*uri), auth_header, custom_headers);
        let response = with_session(request, Some(&session_id)).send().await.map_err(HttpError::Client)?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        response.error_for_status().map(drop).map_err(HttpError::Client)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, HttpError> {
        let mut request = with_headers(self.0.get(&*uri), auth_header, custom_headers);
        if let Some(id) = last_event_id {
            request = request.header(LAST_EVENT_ID, id);
        }
        let response =
            with_session(request, session_id.as_deref()).send().await.map_err(HttpError::Client)?;
        let response = challenge(response)?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(HttpError::ServerDoesNotSupportSse);
        }
        if let Some(error) = status_error(&response) {
            return Err(error.into());
        }
        let response = response.error_for_status().map_err(HttpError::Client)?;
        match content_type(&response) {
            Some(kind) if kind.starts_with(EVENTS) => Ok(events(response)),
            other => Err(HttpError::UnexpectedContentType(other)),
        }
    }
}

fn with_headers(request: RequestBuilder, bearer: Option<String>, headers: Headers) -> RequestBuilder {
    let request = request.header(ACCEPT, format!("{JSON}, {EVENTS}"));
    let request = match bearer {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
}

fn with_session(request: RequestBuilder, session_id: Option<&str>) -> RequestBuilder {
    match session_id {
        Some(id) => request.header(SESSION_ID, id),
        None => request,
    }
}

/// The response, unless the server wants a login.
fn challenge(response: Response) -> Result<Response, HttpError> {
    let header = response.headers().get(WWW_AUTHENTICATE);
    let challenge = header.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match (response.status(), challenge) {
        (StatusCode::UNAUTHORIZED, challenge) => {
            Err(HttpError::AuthRequired(AuthRequiredError::new(challenge.unwrap_or_default())))
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            Err(HttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)))
        }
        _ => Ok(response),
    }
}

/// The answer of a message that was accepted.
async fn read_answer(
    response: Response,
    message: &ClientJsonRpcMessage,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let session = response.headers().get(SESSION_ID).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let needs_answer = matches!(message, ClientJsonRpcMessage::Request(_));
    match content_type(&response) {
        Some(kind) if kind.starts_with(EVENTS) => {
            Ok(StreamableHttpPostResponse::Sse(events(response), session))
        }
        Some(kind) if kind.starts_with(JSON) => {
            let body = body(response).await?;
            match serde_json::from_slice(&body) {
                Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
                Err(_) if !needs_answer => Ok(StreamableHttpPostResponse::Accepted),
                Err(error) => Err(unexpected(format!("the answer is not a message: {error}"))),
            }
        }
        _ if !needs_answer => Ok(StreamableHttpPostResponse::Accepted),
        other => Err(HttpError::UnexpectedContentType(other.map(|kind| short_line(&kind)))),
    }
}

/// What a server says that refuses a message: an error of the protocol, or else the status.
async fn refused(
    response: Response,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let (status, broken) = (response.status(), status_error(&response));
    let is_json = content_type(&response).is_some_and(|kind| kind.starts_with(JSON));
    if let Some(error) = broken
        && (!is_json || status == StatusCode::TOO_MANY_REQUESTS)
    {
        return Err(error.into());
    }
    let body = body(response).await?;
    let answer: Option<ServerJsonRpcMessage> = serde_json::from_slice(&body).ok();
    let error = match answer {
        Some(ServerJsonRpcMessage::Error(error)) => Some(error),
        Some(_) | None => None,
    };
    // Older servers reject the first question of newer clients; the next one is in their language.
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && status != StatusCode::FORBIDDEN
        && !in_session
    {
        let error = error
            .map_or_else(|| ErrorData::invalid_request(format!("HTTP {status}"), None), |error| error.error);
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match error {
        Some(error) if status != StatusCode::FORBIDDEN => {
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), None))
        }
        Some(_) | None => {
            Err(unexpected(format!("HTTP {status}: {}", short_line(&String::from_utf8_lossy(&body)))))
        }
    }
}

fn status_error(response: &Response) -> Option<HttpStatusError> {
    let status = response.status();
    let counts = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    counts.then(|| HttpStatusError::new(status.as_u16(), None))
}

/// Whether the response is a stream of events.
pub(super) fn is_event_stream(response: &Response) -> bool {
    content_type(response).is_some_and(|kind| kind.starts_with(EVENTS))
}

fn content_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase())
}

fn unexpected(text: String) -> HttpError {
    HttpError::UnexpectedServerResponse(Cow::Owned(text))
}

fn too_long() -> io::Error {
    io::Error::other(format!("the server's answer is longer than {} MiB", MESSAGE_BYTES_MAX >> 20))
}

/// A body of bounded length.
async fn body(mut response: Response) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(HttpError::Client)? {
        if body.len() + chunk.len() > MESSAGE_BYTES_MAX {
            return Err(HttpError::Io(too_long()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Events of bounded length.
pub(super) fn events(response: Response) -> Events {
    let mut size = EventSize::default();
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        if size.grows_beyond(&chunk, MESSAGE_BYTES_MAX) { Err(too_long()) } else { Ok(chunk) }
    });
    SseStream::from_bytes_stream(bytes).boxed()
}

/// The length of the event that is being read.
#[derive(Default)]
struct EventSize {
    bytes: usize,
    /// Whether the line that is being read is empty so far.
    line_is_empty: bool,
}

impl EventSize {
    fn grows_beyond(&mut self, chunk: &[u8], bytes_max: usize) -> bool {
        for byte in chunk {
            self.bytes += 1;
            match byte {
                b'\n' if self.line_is_empty => self.bytes = 0,
                b'\n' => self.line_is_empty = true,
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
            if self.bytes > bytes_max {
                return true;
            }
        }
        false
    }
}
