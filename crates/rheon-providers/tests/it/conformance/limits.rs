//! Everything that a server can make large or slow has a limit.

use std::time::Duration;

use rheon_providers::TransportConfig;
use rheon_providers::frame::{FRAME_BYTES_MAX, Framing};
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{FakeReply, FakeServer, Fault, ReplyEnd, Script, Tick};
use rheon_types::ProviderErrorKind;

use super::fixture::Fixture;
use super::recording::Tape;

/// Long enough for loopback, short enough for a test.
const SHORT: Duration = Duration::from_millis(150);

fn reply() -> FakeReply {
    FakeReply::text("one two three").delta_chars(4)
}

/// The first event of [`reply`] with content.
async fn first_text(wire: WireKind) -> usize {
    Tape::new(wire).await.event_where(&reply(), |part| !part.text().is_empty()).await
}

async fn summary(wire: WireKind, script: impl Into<Script>, config: TransportConfig) -> String {
    let fixture = Fixture::limited(wire, script, config).await;
    let answer = fixture.ask(fixture.request()).await;
    let error = answer.error.as_ref().map(|error| format!("{:?} {error}", error.kind)).unwrap_or_default();
    format!("{:?} {}", answer.text(), error.replace(&fixture.server.url(), "http://server"))
}

#[tokio::test]
async fn missing_response_head_times_out() {
    for wire in WireKind::ALL {
        let config = TransportConfig { first_byte_timeout: SHORT, ..TransportConfig::default() };
        let fixture = Fixture::limited(wire, FakeReply::fault(Fault::NeverAnswer), config).await;
        let answer = fixture.ask(fixture.request()).await;
        let error = answer.error.unwrap();
        let expected = format!("{} did not respond within 0.15 s", fixture.server.url());
        assert_eq!((error.kind, error.message), (ProviderErrorKind::Timeout, expected), "{wire:?}");
        assert_eq!(fixture.server.wait_for_end(1).await, ReplyEnd::Disconnected, "{wire:?}");
    }
}

#[tokio::test]
async fn silent_response_is_a_timeout() {
    for wire in WireKind::ALL {
        let config = TransportConfig { idle_timeout: SHORT, ..TransportConfig::default() };
        let stalled = reply().with(Fault::StallAfterEvent(first_text(wire).await));
        let expected = "\"one \" Timeout http://server sent nothing for 0.15 s in the middle of its response";
        assert_eq!(summary(wire, stalled, config).await, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn dripping_response_without_progress_is_a_timeout() {
    for wire in WireKind::ALL {
        let config = TransportConfig { progress_timeout: SHORT, ..TransportConfig::default() };
        let event = first_text(wire).await;
        let dripping = reply()
            .with(Fault::HugeEvent { event, bytes: 100_000 })
            .with(Fault::Pieces(8))
            .with(Fault::Drip(Tick::Every(Duration::from_millis(1))));
        let fixture = Fixture::limited(wire, dripping, config).await;
        let answer = fixture.ask(fixture.request()).await;
        let kind = answer.error.as_ref().map(|error| error.kind);
        assert_eq!(kind, Some(ProviderErrorKind::Timeout), "{wire:?}: {answer:?}");
    }
}

#[tokio::test]
async fn dripping_response_is_the_same() {
    for wire in WireKind::ALL {
        let dripping = FakeReply::text("one two three")
            .with(Fault::Pieces(40))
            .with(Fault::Drip(Tick::Every(Duration::ZERO)));
        assert_eq!(
            summary(wire, dripping, TransportConfig::default()).await,
            "\"one two three\" ",
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn large_event_is_read_and_oversized_event_is_not() {
    for wire in WireKind::ALL {
        let event = first_text(wire).await;
        let huge =
            |bytes: usize| FakeReply::text("one ").delta_chars(4).with(Fault::HugeEvent { event, bytes });
        let fixture = Fixture::wire(wire, [huge(1_000_000), huge(FRAME_BYTES_MAX)]).await;
        let answer = fixture.ask(fixture.request()).await;
        assert_eq!((answer.error.clone(), answer.text().len()), (None, 1_000_004), "{wire:?}");
        let answer = fixture.ask(fixture.request()).await;
        let error = answer.error.clone().unwrap();
        let expected = format!("an event in the response is larger than {FRAME_BYTES_MAX} bytes");
        assert_eq!((error.kind, error.message), (ProviderErrorKind::Api, expected), "{wire:?}");
        assert_eq!(answer.text(), "one ", "{wire:?}");
    }
}

#[tokio::test]
async fn endless_response_ends_at_the_limit() {
    for wire in WireKind::ALL {
        let config = TransportConfig { response_bytes_max: 40_000, ..TransportConfig::default() };
        let endless = reply().with(Fault::Endless { event: first_text(wire).await });
        let fixture = Fixture::limited(wire, endless, config).await;
        let answer = fixture.ask(fixture.request()).await;
        let error = answer.error.clone().unwrap();
        let expected = "the response is larger than 40000 bytes".to_owned();
        assert_eq!((error.kind, error.message), (ProviderErrorKind::Api, expected), "{wire:?}");
        assert!(answer.text().len() < 40_000 && answer.text().starts_with("one and so on, "), "{wire:?}");
        assert_eq!(fixture.server.wait_for_end(1).await, ReplyEnd::Disconnected, "{wire:?}");
    }
}

#[tokio::test]
async fn small_compression_bomb_ends_at_the_limit() {
    for wire in WireKind::ALL.into_iter().filter(|wire| wire.framing() == Framing::Sse) {
        let bomb = |bytes| FakeReply::fault(Fault::GzipBomb(bytes));
        let by_event = summary(wire, bomb(FRAME_BYTES_MAX + 1), TransportConfig::default()).await;
        assert_eq!(
            by_event,
            format!("\"\" Api an event in the response is larger than {FRAME_BYTES_MAX} bytes")
        );
        let config = TransportConfig { response_bytes_max: 100_000, ..TransportConfig::default() };
        assert_eq!(
            summary(wire, bomb(500_000), config).await,
            "\"\" Api the response is larger than 100000 bytes",
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn redirect_to_another_origin_carries_no_credentials() {
    for wire in WireKind::ALL {
        let other = FakeServer::start(Script::default()).await.unwrap();
        let address = format!("{}/v1/steal", other.url());
        let fixture = Fixture::wire(wire, FakeReply::fault(Fault::Redirect(address))).await;
        let error = fixture.ask(fixture.request()).await.error.unwrap();
        let expected = format!(
            "{} redirects to another origin, {}; credentials were not sent there. If that is correct, set it as the base URL",
            fixture.server.url(),
            other.url()
        );
        assert_eq!((error.kind, error.message), (ProviderErrorKind::Api, expected), "{wire:?}");
        assert_eq!(other.connections(), 0, "{wire:?}");
    }
}
