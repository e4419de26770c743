//! Tests of `web_fetch` against a server on loopback.

use std::sync::Arc;

use expect_test::{Expect, expect};
use rheon_types::Tool;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::builtin::testing::context;

/// A server that answers every request with `head` (status line and headers) and `body`.
async fn server(head: &str, body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let head = head.replace("{address}", &address.to_string());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4_096];
            if stream.read(&mut request).await.is_ok() {
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
                stream.write_all(head.as_bytes()).await.ok();
                stream.write_all(&body).await.ok();
            }
        }
    });
    address.to_string()
}

async fn run(rule: AddressRule, arguments: Value) -> String {
    let tool = WebFetchTool::new(rule);
    match tool.execute(Arc::new(arguments), context("web_fetch")).await {
        Ok(result) => result.as_text(),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

async fn check(head: &str, body: &str, expected: Expect) {
    let address = server(head, body.as_bytes().to_vec()).await;
    let output = run(AddressRule::Any, json!({ "url": format!("http://{address}/page") })).await;
    expected.assert_eq(&output.replace(&address, "SERVER"));
}

#[tokio::test]
async fn html_becomes_markdown_without_scripts() {
    let page = "<html><head><title>T</title><script>evil()</script></head><body><h1>Über</h1><p>A <a href='/b'>link</a>.</p>\
                <ul><li>one</li></ul></body></html>";
    check(
        "200 OK\r\ncontent-type: text/html; charset=utf-8",
        page,
        expect![[r#"
        T

        # Über

        A [link](/b).

        *   one"#]],
    )
    .await;
}

#[tokio::test]
async fn text_is_returned_and_other_types_are_rejected() {
    check("200 OK\r\ncontent-type: application/json", "{\"a\": 1}", expect![[r#"{"a": 1}"#]]).await;
    check(
        "200 OK\r\ncontent-type: image/png",
        "png",
        expect![[r#"failed: the page is "image/png", not text"#]],
    )
    .await;
    check(
        "404 Not Found\r\ncontent-type: text/plain",
        "gone",
        expect!["failed: http://SERVER/page returned status 404 Not Found"],
    )
    .await;
    check(
        "302 Found\r\nlocation: http://{address}/again",
        "",
        expect!["failed: more than 5 redirects; the last one is http://SERVER/again"],
    )
    .await;
}

#[tokio::test]
async fn a_long_page_is_returned_in_parts() {
    let address =
        server("200 OK\r\ncontent-type: text/plain", "ü".repeat(TEXT_CHARS_MAX + 5).into_bytes()).await;
    let url = format!("http://{address}/");
    let first = run(AddressRule::Any, json!({ "url": url })).await;
    assert!(
        first.ends_with("(characters 0 to 50000 of 50005; continue with offset 50000)"),
        "{}",
        first.len()
    );
    assert_eq!(run(AddressRule::Any, json!({ "url": url, "offset": 50_000 })).await, "üüüüü");
}

#[tokio::test]
async fn a_large_page_is_read_partially() {
    let address = server("200 OK\r\ncontent-type: text/plain", vec![b'x'; BODY_BYTES_MAX + 1]).await;
    let url = format!("http://{address}/");
    let end = run(AddressRule::Any, json!({ "url": url, "offset": BODY_BYTES_MAX - 1 })).await;
    assert_eq!(end, "x\n\n(the page is larger than 5242880 bytes; the rest was not read)");
}

#[tokio::test]
async fn private_addresses_are_denied_in_every_notation() {
    let mut output = Vec::new();
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost/",
        "file:///etc/passwd",
        "https://user:pw@example.com/",
        "nonsense",
    ] {
        output.push(run(AddressRule::Public, json!({ "url": url })).await);
    }
    expect![[r#"
        denied: 127.0.0.1 is not a public address
        denied: 127.0.0.1 is not a public address
        denied: 127.0.0.1 is not a public address
        denied: ::1 is not a public address
        denied: ::ffff:10.0.0.1 is not a public address
        denied: 169.254.169.254 is not a public address
        failed: cannot fetch from localhost: localhost has no allowed address
        invalidArgs: file:///etc/passwd is not a web address; it must start with https://
        invalidArgs: the address contains credentials; remove them
        invalidArgs: invalid address "nonsense": relative URL without a base"#]]
    .assert_eq(&output.join("\n"));
}

#[tokio::test]
async fn deep_and_mis_nested_pages_are_bounded() {
    let repeated = format!("<p><b><i><a href=x><em>{}", "<div>x</div>".repeat(50_000));
    for body in ["<div>".repeat(200_000), "<b><i>".repeat(20_000), "<table><tr><td>".repeat(50_000), repeated]
    {
        let address = server("200 OK\r\ncontent-type: text/html", body.into_bytes()).await;
        let output = run(AddressRule::Any, json!({ "url": format!("http://{address}/") })).await;
        assert!(output.len() < 100_000, "{output}");
    }
}

#[tokio::test]
async fn a_redirect_to_another_host_is_reported() {
    let other = server("200 OK\r\ncontent-type: text/plain", b"other".to_vec()).await;
    let port = other.rsplit(':').next().unwrap();
    for (target, expected) in [
        (
            format!("http://localhost:{port}/x"),
            "failed: http://SERVER/ redirects to another host; fetch http://localhost:PORT/x instead if you want it",
        ),
        (format!("//{other}/x"), "other"),
        (
            "file:///etc/passwd".to_owned(),
            "invalidArgs: file:///etc/passwd is not a web address; it must start with https://",
        ),
        ("http://u:p@127.0.0.1/".to_owned(), "invalidArgs: the address contains credentials; remove them"),
    ] {
        let address = server(&format!("302 Found\r\nlocation: {target}"), Vec::new()).await;
        let output = run(AddressRule::Any, json!({ "url": format!("http://{address}/") })).await;
        assert_eq!(output.replace(&address, "SERVER").replace(port, "PORT"), expected);
    }
}

#[tokio::test]
async fn an_offset_past_the_end_and_a_large_header_are_reported() {
    let address = server("200 OK\r\ncontent-type: text/plain; charset=iso-8859-1", b"\xfcx".to_vec()).await;
    let url = format!("http://{address}/");
    assert_eq!(run(AddressRule::Any, json!({ "url": url })).await, "üx");
    let past = run(AddressRule::Any, json!({ "url": url, "offset": usize::MAX })).await;
    assert_eq!(past, format!("(the page has 2 characters; offset {} is past the end)", usize::MAX));
    let large = format!("200 OK\r\ncontent-type: text/plain\r\nx: {}", "y".repeat(1024 * 1024));
    let address = server(&large, b"z".to_vec()).await;
    let output = run(AddressRule::Any, json!({ "url": format!("http://{address}/") })).await;
    assert_eq!(output, "failed: cannot fetch from 127.0.0.1: message head is too large");
}

#[tokio::test]
async fn a_compressed_body_is_read_partially() {
    // 64 MiB of spaces compress to 64 KiB and count as text.
    let packed = std::process::Command::new("sh")
        .args(["-c", "head -c 67108864 /dev/zero | tr '\\0' ' ' | gzip -9"])
        .output()
        .unwrap();
    if !packed.status.success() || packed.stdout.len() < 100 {
        return eprintln!("skipped: there is no gzip");
    }
    let head = "200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip";
    let address = server(head, packed.stdout).await;
    let url = format!("http://{address}/");
    let end = run(AddressRule::Any, json!({ "url": url, "offset": BODY_BYTES_MAX - 1 })).await;
    assert_eq!(end, " \n\n(the page is larger than 5242880 bytes; the rest was not read)");
}
