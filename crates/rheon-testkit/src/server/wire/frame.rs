//! Serializes events: server-sent events, binary frames, lines.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::Bytes;
use rheon_providers::wire::WireKind;

use crate::server::event::{Event, EventKind};
use crate::server::reply::{BedrockFraming, ReplyStyle, SseStyle};

/// One event as a service with this wire sends it.
pub(crate) fn frame(wire: WireKind, style: &ReplyStyle, event: &Event) -> Bytes {
    match wire {
        WireKind::Anthropic | WireKind::Responses => sse(style.sse, &event.name, &event.data, "\n"),
        WireKind::Chat => sse(style.sse, "", &event.data, "\n"),
        WireKind::Gemini => sse(style.sse, "", &event.data, "\r\n"),
        WireKind::Bedrock => match style.bedrock {
            BedrockFraming::EventStream => binary(event),
            BedrockFraming::Lines => Bytes::from(format!("{{\"{}\":{}}}\n", event.name, event.data)),
        },
    }
}

fn sse(style: SseStyle, name: &str, data: &str, service_end: &str) -> Bytes {
    let (end, space, noise) = match style {
        SseStyle::AsService => (service_end, " ", ""),
        SseStyle::CarriageReturns => ("\r", " ", ""),
        SseStyle::Noisy => ("\r\n", "", ": still here\r\n\r\nid: 7\r\nretry: 3000\r\nunknown\r\n"),
    };
    let name = if name.is_empty() { String::new() } else { format!("event:{space}{name}{end}") };
    Bytes::from(format!("{noise}{name}data:{space}{data}{end}{end}"))
}

fn binary(event: &Event) -> Bytes {
    let text = |text: &str| HeaderValue::String(text.to_owned().into());
    let (kind, kind_header) = match event.kind {
        EventKind::Event => ("event", ":event-type"),
        EventKind::Exception => ("exception", ":exception-type"),
    };
    let message = Message::new(event.data.clone())
        .add_header(Header::new(kind_header, text(&event.name)))
        .add_header(Header::new(":content-type", text("application/json")))
        .add_header(Header::new(":message-type", text(kind)));
    let mut bytes = Vec::new();
    match write_message_to(&message, &mut bytes) {
        Ok(()) => Bytes::from(bytes),
        // Only names or data beyond the format's limits fail; a client must treat these bytes as garbage.
        Err(_) => Bytes::from_static(b"this event does not fit into a frame"),
    }
}
