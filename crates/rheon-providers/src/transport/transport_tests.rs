//! The client against real sockets.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, header};
use rheon_types::{ProviderError, ProviderErrorKind};
use url::Url;

use super::{HttpRequest, HttpResponse, Transport, TransportConfig};
use crate::test_server::{Server, Step, answer, chunked, events, head, transport, transport_with};

fn post(url: &str) -> HttpRequest {
    HttpRequest {
        method: Method::POST,
        url: Url::parse(url).unwrap(),
        headers: HeaderMap::from_iter([(header::AUTHORIZATION, "Bearer hush".parse().unwrap())]),
        body: Bytes::from_static(b"{}"),
    }
}

async fn send(transport: &Transport, url: &str) -> Result<HttpResponse, ProviderError> {
    transport.send(&post(url)).await
}

async fn whole(transport: &Transport, url: &str) -> Result<Bytes, ProviderError> {
    Ok(send(transport, url).await?.read_to_end(Bytes::new(), 1024).await?.bytes)
}

fn error_of<T>(result: Result<T, ProviderError>, server: &str) -> (ProviderErrorKind, String) {
    let error = result.err().unwrap();
    (error.kind, error.message.replace(server, "SERVER"))
}

#[tokio::test]
async fn connection_is_reused() {
    let server = Server::start([answer("200 OK", &[], "one"), answer("500 Oops", &[], "two")]).await;
    let client = transport();
    assert_eq!(whole(&client, &server.url).await.unwrap(), "one");
    assert_eq!(whole(&client.clone(), &server.url).await.unwrap(), "two");
    assert_eq!((server.connections(), server.requests().len()), (1, 2));
}

#[tokio::test]
async fn redirect_within_the_origin_repeats_the_whole_request() {
    let server = Server::start([
        answer("307 Temporary Redirect", &[("location", "/b?x=1")], ""),
        answer("200 OK", &[], "ok"),
    ])
    .await;
    assert_eq!(whole(&transport(), &format!("{}/a", server.url)).await.unwrap(), "ok");
    let requests = server.requests();
    assert!(requests[1].starts_with("POST /b?x=1 HTTP/1.1\r\n"), "{}", requests[1]);
    assert!(requests[1].contains("authorization: Bearer hush\r\n") && requests[1].ends_with("\r\n\r\n{}"));
}

#[tokio::test]
async fn redirect_to_another_origin_is_refused_before_sending() {
    let other = Server::start([answer("200 OK", &[], "stolen")]).await;
    let location = format!("{}/steal", other.url);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = Server::start([answer(status, &[("location", &location)], "")]).await;
        let refused = send(&transport(), &format!("{}/a?key=hush", server.url)).await;
        assert_eq!(
            error_of(refused, &server.url),
            (
                ProviderErrorKind::Api,
                format!(
                    "SERVER redirects to another origin, {}; credentials were not sent there. If that is correct, set it as the base URL",
                    other.url
                )
            )
        );
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn redirect_loop_ends() {
    let around = || answer("308 Permanent Redirect", &[("location", "/again")], "");
    let server = Server::start([around(), around(), around(), around(), around()]).await;
    assert_eq!(
        error_of(send(&transport(), &server.url).await, &server.url),
        (ProviderErrorKind::Api, "SERVER redirects more than 3 times; check the base URL".into())
    );
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn broken_body_is_a_network_error() {
    let mut cut = events(&["data: a\n\n"]);
    cut.push(Step::Close);
    let mut short = vec![Step::Send(head("200 OK", &[("content-length", "10")]))];
    short.extend([Step::Send(b"abc".to_vec()), Step::Close]);
    let server = Server::start([cut, short]).await;
    for _ in 0..2 {
        let (kind, message) = error_of(whole(&transport(), &server.url).await, &server.url);
        assert_eq!(kind, ProviderErrorKind::Network);
        assert!(message.starts_with("the response from SERVER was cut off: "), "{message}");
    }
}

#[tokio::test]
async fn unreachable_server_is_a_network_error_without_the_query() {
    let server = Server::start([vec![Step::Close]]).await;
    let (kind, message) =
        error_of(send(&transport(), &format!("{}/?key=hush", server.url)).await, &server.url);
    assert_eq!(kind, ProviderErrorKind::Network);
    assert!(message.starts_with("the connection to SERVER failed before a response: "), "{message}");
    let (kind, message) = error_of(send(&transport(), "http://127.0.0.1:1/x?key=hush").await, "-");
    assert_eq!(kind, ProviderErrorKind::Network);
    assert!(message.starts_with("cannot connect to http://127.0.0.1:1: "), "{message}");
    assert!(!message.contains("hush"), "{message}");
}

#[tokio::test]
async fn non_http_url_is_an_invalid_request() {
    let (kind, message) = error_of(send(&transport(), "ftp://127.0.0.1/x?key=hush").await, "SERVER");
    assert_eq!(kind, ProviderErrorKind::InvalidRequest, "{message}");
    assert!(!message.contains("hush"), "{message}");
}

#[tokio::test]
async fn missing_head_times_out() {
    let mut server = Server::start([vec![Step::Hang]]).await;
    let (client, url) = (transport().with_first_byte_timeout(Duration::from_secs(900)), server.url.clone());
    let sending = tokio::spawn(async move { send(&client, &url).await });
    server.wait_for_request().await;
    tokio::time::pause();
    assert_eq!(
        error_of(sending.await.unwrap(), &server.url),
        (ProviderErrorKind::Timeout, "SERVER did not respond within 900 s".into())
    );
    server.wait_for_close().await;
}

#[tokio::test]
async fn silent_body_times_out() {
    let mut stalled = events(&["data: a\n\n"]);
    stalled.push(Step::Hang);
    let mut server = Server::start([stalled]).await;
    let mut response = send(&transport(), &server.url).await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "data: a\n\n");
    tokio::time::pause();
    assert_eq!(
        error_of(response.chunk().await, &server.url),
        (ProviderErrorKind::Timeout, "SERVER sent nothing for 300 s in the middle of its response".into())
    );
    drop(response);
    server.wait_for_close().await;
}

#[tokio::test]
async fn endless_body_ends_at_the_limit() {
    let mut endless = events(&[]);
    endless.push(Step::Repeat(chunked(&[b'x'; 8_000])));
    let server = Server::start([endless]).await;
    let config = TransportConfig { response_bytes_max: 100_000, ..TransportConfig::default() };
    let mut response = send(&transport_with(config), &server.url).await.unwrap();
    let mut read = 0;
    let error = loop {
        match response.chunk().await {
            Ok(bytes) => read += bytes.unwrap().len(),
            Err(error) => break error,
        }
    };
    assert_eq!(error, ProviderError::new(ProviderErrorKind::Api, "the response is larger than 100000 bytes"));
    assert!(read <= 100_000);
}

/// 16 MiB of zeros in 16 kB. A deflate stream of zeros repeats itself, so a bomb is a few repeated bytes.
fn gzip_bomb() -> Vec<u8> {
    include_bytes!("testdata/zeros.gz").to_vec()
}

#[tokio::test]
async fn compression_bomb_ends_at_the_limit() {
    let bomb = gzip_bomb();
    assert!(bomb.len() < 20_000);
    let server = Server::start([answer("200 OK", &[("content-encoding", "gzip")], bomb)]).await;
    let config = TransportConfig { response_bytes_max: 1_000_000, ..TransportConfig::default() };
    let mut response = send(&transport_with(config), &server.url).await.unwrap();
    let (mut read, mut largest) = (0, 0);
    let error = loop {
        match response.chunk().await {
            Ok(bytes) => {
                let bytes = bytes.unwrap();
                read += bytes.len();
                largest = largest.max(bytes.len());
            }
            Err(error) => break error,
        }
    };
    assert_eq!(error.message, "the response is larger than 1000000 bytes");
    assert!(read <= 1_000_000 && largest <= 65_536, "{read} {largest}");
}

#[tokio::test]
async fn body_beyond_the_limit_is_not_read() {
    let mut endless = events(&["abcdef"]);
    endless.push(Step::Repeat(chunked(b"x")));
    let server = Server::start([endless.clone(), endless]).await;
    let mut response = send(&transport(), &server.url).await.unwrap();
    let head = response.read_to_end(Bytes::from_static(b"01"), 5).await.unwrap();
    assert_eq!((&*head.bytes, head.is_truncated), (&b"01abc"[..], true));
    let mut response = send(&transport(), &server.url).await.unwrap();
    assert_eq!(response.read_available(4).await, "abcd");
}

#[test]
fn invalid_certificate_is_an_error() {
    let bad = TransportConfig {
        extra_roots: vec![b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec()],
        ..TransportConfig::default()
    };
    let error = Transport::new(bad).err().unwrap();
    assert!(error.message.starts_with("cannot set up the HTTP client: "), "{}", error.message);
}
