//! Fetches from a server that a command of the session started, in the session's own network.

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::header::{HOST, USER_AGENT};
use hyper_util::rt::TokioIo;
use reqwest::{Body, Response};
use rheon_sandbox::Sandbox;
use rheon_types::ToolError;
use url::Url;

/// Sends a request on a connection of its own, which is closed with the response.
pub(super) async fn get(session: &Sandbox, url: &Url) -> Result<Response, ToolError> {
    if url.scheme() != "http" {
        return Err(ToolError::InvalidArgs(format!(
            "servers of this session are reached without TLS; use http:// instead of {}://",
            url.scheme()
        )));
    }
    let port = url.port_or_known_default().unwrap_or(80);
    let failed = |problem: &dyn std::fmt::Display| {
        ToolError::Failed(format!(
            "cannot fetch from port {port} of this session: {problem}; start the server with bash in the background first"
        ))
    };
    let stream = session.connect(port).await.map_err(|error| failed(&error))?;
    let connection = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = connection.map_err(|error| failed(&error))?;
    // It ends with the response, or with an error that the response has too.
    let connection = tokio::spawn(async move { drop(connection.await) });
    let host = url.host_str().unwrap_or_default();
    let path = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let request = hyper::Request::get(path)
        .header(HOST, format!("{host}:{port}"))
        .header(USER_AGENT, concat!("rheon/", env!("CARGO_PKG_VERSION")))
        .body(Empty::<Bytes>::new())
        .map_err(|error| failed(&error))?;
    match sender.send_request(request).await {
        Ok(response) => Ok(Response::from(response.map(Body::wrap))),
        Err(error) => {
            connection.abort();
            Err(failed(&error))
        }
    }
}
