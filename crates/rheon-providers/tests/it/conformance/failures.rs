//! Errors of services: the same meaning on every wire.

use expect_test::{expect, expect_file};
use rheon_providers::TransportConfig;
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{FakeReply, FakeServer, Fault, Script, ServiceError};
use rheon_types::{ProviderError, ProviderErrorKind};

use super::fixture::Fixture;
use super::recording::Tape;

/// The errors that services distinguish, and their meaning.
const MEANINGS: [(ServiceError, ProviderErrorKind); 10] = [
    (ServiceError::Invalid, ProviderErrorKind::InvalidRequest),
    (ServiceError::Authentication, ProviderErrorKind::Auth),
    (ServiceError::Permission, ProviderErrorKind::Auth),
    (ServiceError::NotFound, ProviderErrorKind::InvalidRequest),
    (ServiceError::TooLarge, ProviderErrorKind::ContextOverflow),
    (ServiceError::ContextTooLong, ProviderErrorKind::ContextOverflow),
    (ServiceError::RateLimited, ProviderErrorKind::RateLimited),
    (ServiceError::Quota, ProviderErrorKind::Auth),
    (ServiceError::Overloaded, ProviderErrorKind::Overloaded),
    (ServiceError::Server, ProviderErrorKind::Overloaded),
];

/// On these wires, an exhausted quota recovers with time.
fn meaning(error: ServiceError, kind: ProviderErrorKind, wire: WireKind) -> ProviderErrorKind {
    match wire {
        WireKind::Gemini | WireKind::Bedrock if error == ServiceError::Quota => {
            ProviderErrorKind::RateLimited
        }
        WireKind::Anthropic | WireKind::Chat | WireKind::Responses | WireKind::Gemini | WireKind::Bedrock => {
            kind
        }
    }
}

/// Whether a service may notice it after it has started to respond.
fn can_come_late(error: ServiceError) -> bool {
    match error {
        ServiceError::ContextTooLong
        | ServiceError::RateLimited
        | ServiceError::Quota
        | ServiceError::Overloaded
        | ServiceError::Server => true,
        ServiceError::Invalid
        | ServiceError::Authentication
        | ServiceError::Permission
        | ServiceError::NotFound
        | ServiceError::TooLarge => false,
    }
}

fn line(error: Option<&ProviderError>, server: &FakeServer) -> String {
    let Some(error) = error else { return "no error".into() };
    let wait = error.retry_after_ms.map(|millis| format!(" in {millis} ms")).unwrap_or_default();
    format!("{:?}{wait}: {}", error.kind, error.message.replace(&server.url(), "http://server"))
}

/// The error for each reply, one per line.
async fn errors(wire: WireKind, replies: Vec<FakeReply>) -> Vec<String> {
    let count = replies.len();
    let fixture = Fixture::wire(wire, replies).await;
    let mut lines = Vec::new();
    for _ in 0..count {
        let answer = fixture.ask(fixture.request()).await;
        lines.push(line(answer.error.as_ref(), &fixture.server));
    }
    lines
}

#[tokio::test]
async fn errors_mean_the_same_on_every_wire() {
    let mut table = String::new();
    for wire in WireKind::ALL {
        for (error, kind) in MEANINGS {
            // A refused key is looked up again and retried once.
            let script = Script::always(FakeReply::fault(Fault::Refuse(error)));
            let fixture = Fixture::wire(wire, script).await;
            let answer = fixture.ask(fixture.request()).await;
            let found = answer.error.as_ref().map(|error| error.kind);
            assert_eq!(found, Some(meaning(error, kind, wire)), "{wire:?} {error:?}: {:?}", answer.error);
            table +=
                &format!("{} {error:?} {}\n", wire.as_str(), line(answer.error.as_ref(), &fixture.server));
        }
    }
    expect_file!["../../golden/refusals.txt"].assert_eq(&table);
}

#[tokio::test]
async fn stream_error_keeps_the_content_so_far() {
    let reply = || FakeReply::text("one two three").delta_chars(4);
    let mut table = String::new();
    for wire in WireKind::ALL {
        let event = Tape::new(wire).await.event_where(&reply(), |part| !part.text().is_empty()).await;
        for (error, kind) in MEANINGS.into_iter().filter(|(error, _)| can_come_late(*error)) {
            let fixture = Fixture::wire(wire, reply().with(Fault::ErrorAfterEvent { event, error })).await;
            let answer = fixture.ask(fixture.request()).await;
            assert_eq!(answer.text(), "one ", "{wire:?} {error:?}");
            let found = answer.error.as_ref().map(|error| error.kind);
            assert_eq!(found, Some(meaning(error, kind, wire)), "{wire:?} {error:?}: {:?}", answer.error);
            table +=
                &format!("{} {error:?} {}\n", wire.as_str(), line(answer.error.as_ref(), &fixture.server));
        }
    }
    expect_file!["../../golden/errors_in_streams.txt"].assert_eq(&table);
}

#[tokio::test]
async fn error_with_status_200_is_an_error() {
    for wire in WireKind::ALL {
        for (error, kind) in MEANINGS {
            let script = Script::always(FakeReply::fault(Fault::ErrorBody(error)));
            let fixture = Fixture::wire(wire, script).await;
            let answer = fixture.ask(fixture.request()).await;
            assert!(answer.chunks.is_empty(), "{wire:?} {error:?}: {answer:?}");
            let found = answer.error.as_ref().map(|error| error.kind);
            assert_eq!(found, Some(meaning(error, kind, wire)), "{wire:?} {error:?}: {:?}", answer.error);
        }
    }
}

#[tokio::test]
async fn html_page_is_an_error() {
    for wire in WireKind::ALL {
        let lines = errors(wire, vec![FakeReply::fault(Fault::Html)]).await;
        let expected =
            "Malformed: the service responded with text/html instead of an event stream; check the base URL";
        assert_eq!(lines, [expected], "{wire:?}");
    }
}

#[tokio::test]
async fn delays_are_parsed_in_many_formats() {
    let with = |code: u16, name: &str, value: &str| {
        let headers = vec![(name.to_owned(), value.to_owned())];
        FakeReply::fault(Fault::Status { code, body: None, headers })
    };
    let replies = vec![
        with(429, "retry-after", "7"),
        with(429, "retry-after", "1.5"),
        with(429, "retry-after", "Tue, 14 Nov 2023 22:13:50 GMT"),
        with(429, "retry-after", "Tue, 14 Nov 2023 22:13:00 GMT"),
        with(429, "retry-after-ms", "250"),
        with(429, "retry-after", "0"),
        with(429, "retry-after", "-5"),
        with(429, "retry-after", "soon"),
        with(429, "retry-after", "1000000000"),
        with(429, "retry-after", "99999999999999999999999999"),
        with(503, "retry-after", "3"),
        with(529, "retry-after", "4"),
        with(500, "retry-after", "5"),
        with(400, "retry-after", "6"),
    ];
    for wire in WireKind::ALL {
        let lines: Vec<String> = errors(wire, replies.clone()).await;
        let waits: Vec<&str> = lines.iter().map(|line| line.split(':').next().unwrap_or_default()).collect();
        expect![[r#"
            [
                "RateLimited in 7000 ms",
                "RateLimited in 1500 ms",
                "RateLimited in 30000 ms",
                "RateLimited in 0 ms",
                "RateLimited in 250 ms",
                "RateLimited in 0 ms",
                "RateLimited",
                "RateLimited",
                "RateLimited in 1000000000000 ms",
                "RateLimited in 18446744073709551615 ms",
                "Overloaded in 3000 ms",
                "Overloaded in 4000 ms",
                "Overloaded in 5000 ms",
                "InvalidRequest",
            ]
        "#]]
        .assert_debug_eq(&waits);
    }
}

#[tokio::test]
async fn overflow_is_recognized_by_its_message() {
    let phrases = [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input is too long for requested model",
        "This model's maximum context length is 4096 tokens",
        "context_length_exceeded",
        "the request exceeds the available context size, try increasing it",
        "Your input exceeds the context window of this model",
        "The input token count (1048577) exceeds the maximum number of tokens allowed",
        "Please reduce the length of the messages or completion",
        "maximum prompt length is 131072 but the request contains 200000 tokens",
        "Range of input length should be [1, 30720]",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length limit",
        "prompt too long; exceeded max context length by 12 tokens",
        "Invalid request: Your request exceeded model token limit: 8192",
        "tokens to keep from the initial prompt is larger than the context",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    ];
    let replies = phrases.iter().map(|phrase| {
        let body = serde_json::json!({"error": {"message": phrase, "type": "invalid_request_error"}, "message": phrase});
        FakeReply::fault(Fault::Status { code: 400, body: Some(body.to_string()), headers: Vec::new() })
    });
    let replies: Vec<FakeReply> = replies.collect();
    for wire in WireKind::ALL {
        for (line, phrase) in errors(wire, replies.clone()).await.iter().zip(phrases) {
            assert!(line.starts_with("ContextOverflow: "), "{wire:?} {phrase}: {line}");
        }
    }
}

#[tokio::test]
async fn content_filter_is_recognized_by_its_message() {
    let body = r#"{"error":{"code":"content_filter","message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy."}}"#;
    let reply = FakeReply::fault(Fault::Status { code: 400, body: Some(body.into()), headers: Vec::new() });
    for wire in WireKind::ALL {
        let lines = errors(wire, vec![reply.clone()]).await;
        assert!(lines.iter().all(|line| line.starts_with("ContentFilter: ")), "{wire:?}: {lines:?}");
    }
}

#[tokio::test]
async fn refused_or_closed_connection_is_a_network_error() {
    for wire in WireKind::ALL {
        let lines = errors(wire, vec![FakeReply::fault(Fault::Hangup)]).await;
        assert!(lines.iter().all(|line| line.starts_with("Network: ")), "{wire:?}: {lines:?}");
        let fixture = Fixture::wire(wire, Script::default()).await;
        let Fixture { server, vendor, resolved } = fixture;
        let address = server.url();
        drop(server);
        let registry = super::fixture::registry(
            super::fixture::variables(&vendor, "http://127.0.0.1:9"),
            TransportConfig::default(),
        );
        let away = registry.resolve(&format!("{}/{}", vendor.id, resolved.model)).unwrap();
        let server = FakeServer::start(Script::default()).await.unwrap();
        let answer = Fixture { server, vendor, resolved: away };
        let error = answer.ask(answer.request()).await.error.unwrap();
        assert_eq!(error.kind, ProviderErrorKind::Network, "{wire:?}: {error}");
        assert!(!error.message.contains(&address));
    }
}
