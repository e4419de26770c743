//! `serve_http`: a service over streamable HTTP on this machine.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::handler::ServiceHandler;
use super::service::McpService;

/// The path of the service.
const PATH: &str = "/mcp";

/// The longest message.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// The most connections at the same time; further ones wait.
const CONNECTIONS_MAX: usize = 256;

/// Pages of these origins may call the service; pages of others may not.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// How a service is reached over HTTP.
pub struct HttpService {
    /// Its address is that of this machine.
    pub listener: TcpListener,
    /// What other programs must send as bearer token. Without one, every program of this machine is answered.
    pub token: Option<SecretString>,
    /// Ends the service.
    pub stop: CancellationToken,
}

type Sdk = StreamableHttpService<ServiceHandler, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Answers requests at `/mcp` until it is stopped. Requests under a name other than this machine's own are refused, so that a
/// page in a browser cannot reach it.
pub async fn serve_http(service: Arc<dyn McpService>, http: HttpService) -> io::Result<()> {
    let HttpService { listener, token, stop } = http;
    let handler = ServiceHandler::new(service);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(ORIGINS)
        .with_max_request_body_bytes(MESSAGE_BYTES_MAX)
        .with_cancellation_token(stop.child_token());
    let sdk = Sdk::new(move || Ok(handler.clone()), Arc::default(), config);
    let door = Arc::new(Door { sdk, token });
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place.map_err(io::Error::other)?,
            () = stop.cancelled() => return Ok(()),
        };
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            () = stop.cancelled() => return Ok(()),
        };
        let (door, stop) = (Arc::clone(&door), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = door.serve(stream) => {}
                () = stop.cancelled() => {}
            }
            drop(place);
        });
    }
}

/// Lets in requests with the token.
struct Door {
    sdk: Sdk,
    token: Option<SecretString>,
}

impl Door {
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let answer = service_fn(|request: Request<Incoming>| {
            let door = Arc::clone(&self);
            async move { Ok::<_, Infallible>(door.answer(request).await) }
        });
        let connection =
            http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
        // The other side may hang up at any time.
        drop(connection.await);
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the service is at /mcp");
        }
        if !self.admits(&request) {
            let mut refused = plain(StatusCode::UNAUTHORIZED, "a bearer token is needed");
            refused.headers_mut().insert(WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
            return refused;
        }
        self.sdk.handle(request).await
    }

    fn admits(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.token else { return true };
        let given = request.headers().get(AUTHORIZATION).map(http::HeaderValue::as_bytes).unwrap_or_default();
        let given = given.strip_prefix(b"Bearer ").unwrap_or_default();
        is_same(given, token.expose_secret().as_bytes())
    }
}

/// Takes as long for a wrong token as for the right one.
fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let differences =
        given.iter().zip(wanted).fold(0, |differences, (one, other)| differences | (one ^ other));
    given.len() == wanted.len() && differences == 0
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
