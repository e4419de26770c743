//! Tests of the requests to the proxy.

use super::{HostRequest, Protocol, parse_http, read_request};

fn request(host: &str, port: u16, protocol: Protocol) -> HostRequest {
    HostRequest { host: host.into(), port, token: None, protocol, forward: Vec::new() }
}

#[test]
fn a_connect_names_its_host_and_its_call() {
    let head = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nProxy-Authorization: Basic cmhlb246YWJj\r\n\r\n";
    let expected =
        HostRequest { token: Some("abc".into()), ..request("example.com", 443, Protocol::Connect) };
    assert_eq!(parse_http(head, b""), Some(expected));
}

#[test]
fn a_plain_request_is_rewritten_for_its_host_and_asks_for_one_answer() {
    let head = "POST http://example.com:8080/a?b HTTP/1.1\r\nHost: other.test\r\nProxy-Connection: keep-alive\r\nAccept: */*\r\n\r\n";
    let found = parse_http(head, b"body").unwrap();
    assert_eq!((found.host.as_str(), found.port, found.protocol), ("example.com", 8080, Protocol::PlainHttp));
    assert_eq!(
        String::from_utf8(found.forward).unwrap(),
        "POST /a?b HTTP/1.1\r\nHost: example.com:8080\r\nConnection: close\r\nAccept: */*\r\n\r\nbody"
    );
}

#[test]
fn what_is_not_a_request_to_a_proxy_is_none() {
    for head in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET https://example.com/ HTTP/1.1\r\n\r\n",
        "CONNECT example.com HTTP/1.1\r\n\r\n",
        "CONNECT user@example.com:443 HTTP/1.1\r\n\r\n",
        "CONNECT example.com:99999 HTTP/1.1\r\n\r\n",
        "GET http://a@b/ HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\n",
        "nonsense\r\n\r\n",
        "\r\n\r\n",
    ] {
        assert_eq!(parse_http(head, b""), None, "{head:?}");
    }
}

#[tokio::test]
async fn socks_names_its_host_with_and_without_a_password() {
    let with_password =
        [&[2, 0, 2, 1, 5][..], b"rheon\x03abc", &[5, 1, 0, 3, 4], b"host", &[1, 187]].concat();
    let without = [&[1, 0, 5, 1, 0, 1, 10, 0, 0, 1, 0, 80][..]].concat();
    let mut found = Vec::new();
    for sent in [with_password, without] {
        let (mut client, mut proxy) = tokio::io::duplex(1_024);
        tokio::io::AsyncWriteExt::write_all(&mut client, &[&[5][..], &sent].concat()).await.unwrap();
        found.push(read_request(&mut proxy).await.unwrap().unwrap());
    }
    let expected = [
        HostRequest { token: Some("abc".into()), ..request("host", 443, Protocol::Socks5) },
        request("10.0.0.1", 80, Protocol::Socks5),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn garbage_of_any_length_ends_without_a_request() {
    for sent in [vec![b'x'; 100_000], vec![4; 100], vec![0; 40_000]] {
        let (mut client, mut proxy) = tokio::io::duplex(200_000);
        tokio::io::AsyncWriteExt::write_all(&mut client, &sent).await.unwrap();
        assert_eq!(read_request(&mut proxy).await.unwrap(), None);
    }
}
