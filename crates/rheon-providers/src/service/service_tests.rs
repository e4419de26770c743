//! Errors, authentication and unusual bodies, over real sockets.

use std::sync::atomic::Ordering;

use http::header;
use rheon_types::{Provider, ProviderError, ProviderErrorKind};
use tokio_util::sync::CancellationToken;

use super::testing::{Keys, ask, endpoint, error_of, provider, provider_at, request, summary};
use crate::test_server::{Server, answer, chunked, events};
use crate::test_server::{Step, head};
use crate::wire::WireKind;

#[tokio::test]
async fn request_has_headers_model_and_key() {
    let server = Server::start([answer("500 Oops", &[], "")]).await;
    error_of(&provider(WireKind::Anthropic, &server)).await;
    let request = server.requests().remove(0);
    assert!(request.starts_with("POST /v1/some%2Fmodel/ask?key=topsecret HTTP/1.1\r\n"), "{request}");
    for line in [
        "content-type: application/json",
        "accept: text/event-stream",
        "anthropic-version: 2023-06-01",
        "x-extra: yes",
        "x-api-key: topsecret",
        "accept-encoding: gzip",
    ] {
        assert!(request.contains(&format!("\r\n{line}\r\n")), "{line} is not in {request}");
    }
    assert!(request.contains("\r\nuser-agent: rheon/"), "{request}");
}

#[tokio::test]
async fn error_is_classified_with_its_delay() {
    let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    let error = |kind, message: &str| ProviderError::new(kind, message);
    for (reply, expected) in [
        (
            answer("429 Too Many Requests", &[("retry-after", "7")], body),
            error(ProviderErrorKind::RateLimited, "429 rate_limit_error: slow down")
                .with_retry_after_ms(7_000),
        ),
        (
            answer("503 Service Unavailable", &[("retry-after", "Tue, 14 Nov 2023 22:13:21 GMT")], ""),
            error(ProviderErrorKind::Overloaded, "503 Service Unavailable").with_retry_after_ms(1_000),
        ),
        (
            answer("529 Overloaded", &[("retry-after", "garbage")], "busy"),
            error(ProviderErrorKind::Overloaded, "529: busy"),
        ),
        (
            answer("403 Forbidden", &[("content-type", "text/html")], "<html><title>Blocked</title></html>"),
            error(ProviderErrorKind::Auth, "403 Forbidden: Blocked"),
        ),
        (
            answer("400 Bad Request", &[], r#"{"error":{"message":"prompt is too long"}}"#),
            error(ProviderErrorKind::ContextOverflow, "400 Bad Request: prompt is too long"),
        ),
    ] {
        let server = Server::start([reply]).await;
        assert_eq!(error_of(&provider(WireKind::Anthropic, &server)).await, expected);
    }
}

#[tokio::test]
async fn endless_error_text_is_truncated() {
    let mut endless = vec![Step::Send(head("500 Oops", &[("transfer-encoding", "chunked")]))];
    endless.push(Step::Repeat(chunked(&[b'x'; 4_096])));
    let server = Server::start([endless]).await;
    let message = error_of(&provider(WireKind::Anthropic, &server)).await.message;
    assert!(
        message.starts_with("500 Internal Server Error: xxx") && message.len() < 1_100,
        "{}",
        message.len()
    );
}

#[tokio::test]
async fn refused_credentials_are_refreshed_once() {
    let refused = || answer("401 Unauthorized", &[], r#"{"error":{"message":"no"}}"#);
    let server = Server::start([refused(), answer("418 Teapot", &[], "")]).await;
    let keys = Keys::new(["old-key", "new-key"]);
    let error = error_of(&provider_at(endpoint(WireKind::Anthropic, &server), keys.clone())).await;
    assert_eq!((error.kind, keys.forgotten.load(Ordering::SeqCst)), (ProviderErrorKind::Api, 1));
    let sent = server.requests();
    assert!(sent[0].contains("x-api-key: old-key") && sent[1].contains("x-api-key: new-key"));
    assert!(!sent[1].contains("key=old-key"));

    let server = Server::start([refused(), refused(), refused()]).await;
    let error = error_of(&provider_at(endpoint(WireKind::Anthropic, &server), keys)).await;
    assert_eq!(error, ProviderError::new(ProviderErrorKind::Auth, "401 Unauthorized: no"));
    assert_eq!(server.requests().len(), 2);

    let server = Server::start([refused(), refused()]).await;
    let nothing_else = provider_at(endpoint(WireKind::Anthropic, &server), Keys::new([]));
    assert_eq!(error_of(&nothing_else).await.kind, ProviderErrorKind::Auth);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn html_page_is_an_error_with_its_content_type() {
    let page = answer("200 OK", &[("content-type", "Text/HTML; charset=utf-8")], "<html>hello</html>");
    let server = Server::start([page]).await;
    assert_eq!(
        error_of(&provider(WireKind::Anthropic, &server)).await,
        ProviderError::new(
            ProviderErrorKind::Malformed,
            "the service responded with text/html instead of an event stream; check the base URL"
        )
    );
}

#[tokio::test]
async fn error_with_success_status_is_classified() {
    let body = r#" {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    for content_type in ["application/json", "text/event-stream", "text/plain"] {
        let server = Server::start([answer("200 OK", &[("content-type", content_type)], body)]).await;
        let error = error_of(&provider(WireKind::Anthropic, &server)).await;
        assert_eq!(error, ProviderError::new(ProviderErrorKind::Overloaded, "overloaded_error: Overloaded"));
    }
}

#[tokio::test]
async fn unstreamed_response_is_read_on_every_wire() {
    let whole = |body: &str| answer("200 OK", &[("content-type", "application/json")], body);
    for (wire, body) in [
        (
            WireKind::Gemini,
            r#"[{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}]},
                {"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]},"finishReason":"STOP"}]}]"#,
        ),
        (WireKind::Chat, "{\n\"choices\":[{\"message\":{\"content\":\"Hello\"}}]}\n"),
        (
            WireKind::Responses,
            r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}"#,
        ),
        (
            WireKind::Anthropic,
            r#"{"type":"message","content":[{"type":"text","text":"Hello"}],"stop_reason":""}"#,
        ),
        (
            WireKind::Bedrock,
            r#"{"output":{"message":{"content":[{"text":"Hello"}]}},"stopReason":"end_turn"}"#,
        ),
    ] {
        let server = Server::start([whole(body), whole("{"), whole("{}")]).await;
        let provider = provider(wire, &server);
        assert_eq!(summary(&ask(&provider).await), "Hello.", "{wire:?}");
        assert_eq!(summary(&ask(&provider).await), "<Malformed>", "{wire:?}");
        let other = summary(&ask(&provider).await);
        assert!(other.is_empty() || other == ".", "{wire:?}: {other}");
    }
}

#[tokio::test]
async fn no_error_contains_a_secret() {
    let echo = "your key topsecret in https://x/?key=topsecret is wrong, so is Bearer abcdefgh1234 ";
    let long = format!("{}topsecret", "y".repeat(995));
    let quoted = r#"{"error":{"message":"t\u006fpsecret and sk-abcdefghijklmnop"}}"#;
    let in_stream = format!(
        "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"x\",\"message\":\"{echo}\"}}}}\n\n"
    );
    let server = Server::start([
        answer("400 Bad Request", &[], echo),
        answer("400 Bad Request", &[], &long),
        answer("400 Bad Request", &[], quoted),
        answer("401 Unauthorized", &[("x-amzn-errortype", "topsecret")], echo),
        answer("500 Oops", &[], ""),
        answer(
            "307 Temporary Redirect",
            &[(header::LOCATION.as_str(), "http://other.example/topsecret")],
            "",
        ),
        events(&[&in_stream, ""]),
        vec![Step::Close],
    ])
    .await;
    let provider = provider(WireKind::Anthropic, &server);
    for _ in 0..7 {
        let message = error_of(&provider).await.message;
        for secret in ["topse", "abcdefgh"] {
            assert!(!message.contains(secret), "{message}");
        }
    }
}

#[tokio::test]
async fn invalid_url_is_an_invalid_request() {
    let server = Server::start([]).await;
    let mut endpoint = endpoint(WireKind::Anthropic, &server);
    endpoint.url = "no address?key=topsecret".into();
    assert_eq!(
        error_of(&provider_at(endpoint, Keys::new(["topsecret"]))).await,
        ProviderError::new(
            ProviderErrorKind::InvalidRequest,
            "invalid URL no address: relative URL without a base; check the base URL"
        )
    );
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = Server::start([]).await;
    let provider = provider(WireKind::Anthropic, &server);
    let stream = provider.stream(request(), CancellationToken::new());
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    drop(stream);
    assert_eq!(server.connections(), 0);
}

#[test]
fn model_is_described_by_the_catalog() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let provider = runtime.block_on(async { provider(WireKind::Anthropic, &Server::start([]).await) });
    assert_eq!((provider.id(), &*provider.describe("m").unwrap().id), ("vendor", "m"));
}
