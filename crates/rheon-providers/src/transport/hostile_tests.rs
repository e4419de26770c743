//! The client against misbehaving servers.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use rheon_types::{ProviderError, ProviderErrorKind};
use url::Url;

use super::{HttpRequest, Transport, TransportConfig};
use crate::test_server::{Server, Step, answer, chunked, head, transport, transport_with};

async fn whole(transport: &Transport, url: &str) -> Result<Bytes, ProviderError> {
    let (method, url) = (Method::POST, Url::parse(url).unwrap());
    let request = HttpRequest { method, url, headers: HeaderMap::new(), body: Bytes::from_static(b"{}") };
    Ok(transport.send(&request).await?.read_to_end(Bytes::new(), 1024).await?.bytes)
}

async fn kind(transport: &Transport, server: &Server) -> ProviderErrorKind {
    let error = whole(transport, &server.url).await.err().unwrap();
    assert!(error.message.len() < 1_000, "{}", error.message.len());
    error.kind
}

#[tokio::test]
async fn server_that_only_sends_continue_times_out() {
    let mut server = Server::start([vec![Step::Repeat(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec())]]).await;
    let limit = Duration::from_millis(50);
    let client = transport_with(TransportConfig { first_byte_timeout: limit, ..TransportConfig::default() });
    assert_eq!(kind(&client, &server).await, ProviderErrorKind::Timeout);
    server.wait_for_close().await;
}

#[tokio::test]
async fn endless_head_times_out() {
    let begun = Step::Send(b"HTTP/1.1 200 OK\r\nx-long: ".to_vec());
    let server = Server::start([vec![begun, Step::Drip(b"x".to_vec())]]).await;
    let client = transport();
    // Connected in real time, so that only the response waits on tokio's clock.
    let asked = tokio::spawn(async move { (kind(&client, &server).await, server) });
    tokio::time::pause();
    assert_eq!(asked.await.unwrap().0, ProviderErrorKind::Timeout);
}

#[tokio::test]
async fn server_without_handshake_times_out() {
    let server = Server::start([]).await;
    let url = server.url.replace("http://", "https://");
    tokio::time::pause();
    let error = whole(&transport(), &url).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Timeout);
    assert!(error.message.starts_with(&format!("connecting to {url} timed out")), "{error}");
}

#[tokio::test]
async fn bytes_that_are_not_http_are_a_network_error() {
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "x".repeat(2 * 1024 * 1024));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(5_000));
    let gzip = [("content-encoding", "gzip"), ("content-length", "10")];
    let cut_gzip = [head("200 OK", &gzip), vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]].concat();
    let no_gzip = [head("200 OK", &gzip), b"0123456789".to_vec()].concat();
    let no_chunk = [head("200 OK", &[("transfer-encoding", "chunked")]), b"zz\r\nabc\r\n".to_vec()].concat();
    let answers =
        [long.into_bytes(), many.into_bytes(), b"SSH-2.0-x\r\n".to_vec(), cut_gzip, no_gzip, no_chunk];
    let server = Server::start(answers.map(|bytes| vec![Step::Send(bytes), Step::Close])).await;
    for number in 0..6 {
        assert_eq!(kind(&transport(), &server).await, ProviderErrorKind::Network, "{number}");
    }
}

#[tokio::test]
async fn connection_closed_by_the_server_does_not_fail_the_next_call() {
    let closing = || answer("200 OK", &[], "ok").into_iter().chain([Step::Close]).collect::<Vec<_>>();
    let server = Server::start([(); 50].map(|()| closing())).await;
    let client = transport();
    for number in 0..50 {
        match whole(&client, &server.url).await {
            Ok(body) => assert_eq!(body, "ok"),
            // Closed at the very moment the request was sent: the caller retries.
            Err(error) => assert!(error.is_retryable(), "{number}: {error}"),
        }
    }
}

#[tokio::test]
async fn connection_is_reused_after_an_error_but_not_after_a_broken_response() {
    let broken = [head("200 OK", &[("transfer-encoding", "chunked")]), chunked(b"half")].concat();
    let server = Server::start([
        answer("500 Oops", &[], "one"),
        vec![Step::Send(broken), Step::Close],
        answer("200 OK", &[], "three"),
    ])
    .await;
    let client = transport();
    assert_eq!(whole(&client, &server.url).await.unwrap(), "one");
    assert_eq!(kind(&client, &server).await, ProviderErrorKind::Network);
    assert_eq!(whole(&client, &server.url).await.unwrap(), "three");
    assert_eq!(server.connections(), 2);
}
