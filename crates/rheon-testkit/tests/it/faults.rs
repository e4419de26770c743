//! Scripted faults really happen on the wire.

use rheon_providers::wire::WireKind;
use rheon_testkit::server::{
    FakeReply, FakeServer, Fault, ReplyEnd, Script, ServerProtocol, ServiceError, Tick,
};
use serde_json::Value;

use crate::support::{address, ask, broken, client, client_builder, hello, post};

async fn server(reply: FakeReply) -> FakeServer {
    FakeServer::start(Script::always(reply)).await.unwrap()
}

#[tokio::test]
async fn cut_at_any_byte_sends_exactly_that_many_bytes() {
    for wire in WireKind::ALL {
        let whole = ask(&server(FakeReply::text("ok")).await, wire, &hello(wire)).await.1;
        for byte in [0, 1, 17, whole.len() - 1, whole.len()] {
            let server = server(FakeReply::text("ok").with(Fault::CutAtByte(byte))).await;
            let client = client();
            match post(&client, &server, wire, &hello(wire)).send().await {
                Ok(answer) => {
                    assert_eq!(broken(answer).await, (whole[..byte].to_vec(), true), "{wire:?} {byte}")
                }
                Err(error) => panic!("{wire:?} {byte}: {error}"),
            }
            assert_eq!(server.wait_for_end(1).await, ReplyEnd::Cut);
        }
    }
}

#[tokio::test]
async fn cut_reaches_http_2_clients() {
    let server = server(FakeReply::text("hello there").with(Fault::CutAfterEvent(3))).await;
    let client = client_builder().http2_prior_knowledge().build().unwrap();
    let answer =
        post(&client, &server, WireKind::Anthropic, &hello(WireKind::Anthropic)).send().await.unwrap();
    assert_eq!(answer.version(), reqwest::Version::HTTP_2);
    let (bytes, is_broken) = broken(answer).await;
    assert!(is_broken);
    assert_eq!(String::from_utf8(bytes).unwrap().matches("event: ").count(), 3);
}

#[tokio::test]
async fn stall_lasts_until_released() {
    for fault in [Fault::StallBeforeHeaders, Fault::StallAfterEvent(2), Fault::StallAtByte(5)] {
        let server = server(FakeReply::text("ok").with(fault)).await;
        let body = hello(WireKind::Chat);
        let asking = ask(&server, WireKind::Chat, &body);
        let releasing = async {
            server.wait_for_stall(1).await;
            server.release();
        };
        let ((status, bytes), ()) = tokio::join!(asking, releasing);
        assert_eq!(status, 200);
        assert!(bytes.ends_with(b"data: [DONE]\n\n"));
        assert_eq!(server.wait_for_end(1).await, ReplyEnd::Sent);
    }
}

#[tokio::test]
async fn client_disconnect_is_detected_everywhere() {
    let faults = [
        Fault::NeverAnswer,
        Fault::StallBeforeHeaders,
        Fault::StallAfterEvent(2),
        Fault::Endless { event: 2 },
    ];
    for fault in faults {
        let server = server(FakeReply::text("ok").with(fault.clone())).await;
        let client = client();
        let request = post(&client, &server, WireKind::Anthropic, &hello(WireKind::Anthropic));
        let asking = tokio::spawn(async move { broken(request.send().await.unwrap()).await });
        if let Fault::Endless { .. } = fault {
            server.wait_for_progress(1, |progress| progress.bytes > 100_000).await;
        } else {
            server.wait_for_stall(1).await;
        }
        asking.abort();
        drop(client);
        assert_eq!(server.wait_for_end(1).await, ReplyEnd::Disconnected, "{fault:?}");
        server.wait_for_close(1).await;
    }
}

#[tokio::test]
async fn hangup_closes_the_connection_without_a_response() {
    let server = server(FakeReply::fault(Fault::Hangup)).await;
    let client = client();
    let result = post(&client, &server, WireKind::Chat, &hello(WireKind::Chat)).send().await;
    assert!(result.is_err());
    assert_eq!(server.wait_for_end(1).await, ReplyEnd::Cut);
}

#[tokio::test]
async fn status_has_the_services_body_and_the_scripts_headers() {
    let headers = vec![("Retry-After".to_owned(), "7".to_owned())];
    let server = server(FakeReply::fault(Fault::Status { code: 429, body: None, headers })).await;
    for wire in WireKind::ALL {
        let client = client();
        let answer = post(&client, &server, wire, &hello(wire)).send().await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].to_str().unwrap()), (429, "7"));
        let body: Value = answer.json().await.unwrap();
        let word = match wire {
            WireKind::Anthropic => "/error/type",
            WireKind::Chat | WireKind::Responses => "/error/code",
            WireKind::Gemini => "/error/status",
            WireKind::Bedrock => "/message",
        };
        assert!(body.pointer(word).is_some_and(Value::is_string), "{wire:?}: {body}");
    }
}

#[tokio::test]
async fn slow_bytes_arrive_one_per_tick() {
    let server = server(FakeReply::text("ok").with(Fault::Drip(Tick::ByTest))).await;
    let client = client();
    let mut answer = post(&client, &server, WireKind::Chat, &hello(WireKind::Chat)).send().await.unwrap();
    for expected in [&b"d"[..], b"a", b"t"] {
        server.tick(1);
        assert_eq!(answer.chunk().await.unwrap().unwrap(), expected);
    }
    server.tick(100_000);
    assert!(broken(answer).await.0.ends_with(b"[DONE]\n\n"));
}

#[tokio::test]
async fn pieces_have_the_configured_size() {
    let server = server(FakeReply::text("größer 🙂").with(Fault::Pieces(1))).await;
    let client = client();
    let mut answer = post(&client, &server, WireKind::Chat, &hello(WireKind::Chat)).send().await.unwrap();
    let mut text = Vec::new();
    while let Some(chunk) = answer.chunk().await.unwrap() {
        assert_eq!(chunk.len(), 1);
        text.extend_from_slice(&chunk);
    }
    assert!(String::from_utf8(text).unwrap().contains("größer "));
}

#[tokio::test]
async fn stream_errors_have_the_wires_format() {
    let fault = Fault::ErrorAfterEvent { event: 1, error: ServiceError::Overloaded };
    let server = server(FakeReply::text("ok").with(fault)).await;
    let expected = [
        (
            WireKind::Anthropic,
            "event: error\ndata: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}",
        ),
        (WireKind::Chat, "data: {\"error\":{\"code\":\"server_error\""),
        (WireKind::Responses, "event: response.failed\n"),
        (WireKind::Gemini, "\"status\":\"UNAVAILABLE\""),
        (WireKind::Bedrock, "serviceUnavailableException"),
    ];
    for (wire, text) in expected {
        let bytes = ask(&server, wire, &hello(wire)).await.1;
        assert!(
            String::from_utf8_lossy(&bytes).contains(text),
            "{wire:?}: {}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[tokio::test]
async fn other_faults_show_in_status_headers_and_bytes() {
    let wire = WireKind::Anthropic;
    let client = client_builder().redirect(reqwest::redirect::Policy::none()).no_gzip().build().unwrap();
    let get = async |fault: Fault| {
        let server = server(FakeReply::fault(fault)).await;
        let answer = post(&client, &server, wire, &hello(wire)).send().await.unwrap();
        let header =
            |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let head = (
            answer.status().as_u16(),
            header("content-type"),
            header("location") + &header("content-encoding"),
        );
        (head, answer.bytes().await.unwrap().to_vec())
    };
    let head = |status: u16, kind: &str, more: &str| (status, kind.to_owned(), more.to_owned());
    let sse = "text/event-stream; charset=utf-8";
    assert_eq!(
        get(Fault::Redirect("http://127.0.0.1:1/x".into())).await.0,
        head(307, "", "http://127.0.0.1:1/x")
    );
    assert_eq!(get(Fault::Html).await.0, head(200, "text/html; charset=utf-8", ""));
    let (error_head, error_body) = get(Fault::ErrorBody(ServiceError::Overloaded)).await;
    assert_eq!(error_head, head(200, "application/json", ""));
    assert!(error_body.starts_with(b"{\"error\""));
    assert_eq!(get(Fault::ContentType("text/plain".into())).await.0, head(200, "text/plain", ""));
    assert!(get(Fault::HugeEvent { event: 3, bytes: 5_000_000 }).await.1.len() > 5_000_000);
    assert!(String::from_utf8(get(Fault::GarbageAfterEvent(1)).await.1).unwrap().contains("oops"));
    let (ended_head, ended) = get(Fault::EndAfterEvent(1)).await;
    assert_eq!(ended_head, head(200, sse, ""));
    assert!(String::from_utf8(ended).unwrap().ends_with("}\n\n"));
    let (bomb_head, bomb) = get(Fault::GzipBomb(50_000_000)).await;
    assert_eq!(bomb_head, head(200, sse, "gzip"));
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    assert_eq!(get(Fault::Gzip).await.0, head(200, sse, "gzip"));
}

#[tokio::test]
async fn compressed_response_expands_to_the_same_bytes() {
    let plain =
        ask(&server(FakeReply::text("ok")).await, WireKind::Anthropic, &hello(WireKind::Anthropic)).await;
    let packed =
        ask(&server(FakeReply::fault(Fault::Gzip)).await, WireKind::Anthropic, &hello(WireKind::Anthropic))
            .await;
    assert_eq!(plain, packed);
}

#[tokio::test]
async fn tls_supports_both_http_versions() {
    let server = FakeServer::start_at(0, ServerProtocol::Tls, FakeReply::text("ok")).await.unwrap();
    let certificate = reqwest::Certificate::from_pem(server.certificate().unwrap().as_bytes()).unwrap();
    for (client, version) in [
        (client_builder().http1_only(), reqwest::Version::HTTP_11),
        (client_builder(), reqwest::Version::HTTP_2),
    ] {
        let client = client.tls_certs_only([certificate.clone()]).build().unwrap();
        let answer = post(&client, &server, WireKind::Chat, &hello(WireKind::Chat)).send().await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, version));
        assert!(answer.text().await.unwrap().contains("ok"));
    }
    assert_eq!(server.connections(), 2);
    assert!(address(&server, WireKind::Chat).starts_with("https://127.0.0.1:"));
}

#[tokio::test]
async fn oversized_request_is_refused() {
    let server = FakeServer::start(Script::default()).await.unwrap();
    let mut answers = Vec::new();
    for bytes in [64 * 1024 * 1024, 64 * 1024 * 1024 + 1] {
        let request = client().post(address(&server, WireKind::Anthropic)).body(vec![b' '; bytes]);
        // A server that has stopped reading may close the connection before the client has sent everything.
        let status = request.send().await.map_or(0, |answer| answer.status().as_u16());
        answers.push((
            status,
            server.wait_for_progress(answers.len() + 1, |progress| progress.status > 0).await.status,
        ));
    }
    assert_eq!(answers[0], (400, 400));
    assert!(answers[1] == (413, 413) || answers[1] == (0, 413), "{answers:?}");
}
