//! The five wires as their services speak them: answers out, requests held to the published rules.
//!
//! Written from the services' descriptions and apart from the wires of `rheon-providers`, so that each checks the other.

mod anthropic;
mod bedrock;
mod chat;
mod check;
mod frame;
mod gemini;
mod pieces;
mod responses;

use bytes::Bytes;
use rheon_providers::wire::WireKind;

use super::answer::Answer;
use super::asked::Asked;
use super::event::Event;
use super::incoming::Incoming;
use super::refusal::Refusal;
use super::reply::UsageReport;
use super::rules::RequestStrictness;

pub(crate) use frame::frame;

/// The events of an answer.
pub(crate) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut events = match answer.asked.wire {
        WireKind::Anthropic => anthropic::events(answer),
        WireKind::Chat => chat::events(answer),
        WireKind::Responses => responses::events(answer),
        WireKind::Gemini => gemini::events(answer),
        WireKind::Bedrock => bedrock::events(answer),
    };
    if let UsageReport::Every(text) = &answer.usage {
        for event in &mut events {
            event.data = pieces::put_counts(&event.data, text);
        }
    }
    events
}

/// An answer as one body.
pub(crate) fn whole(answer: &Answer<'_>) -> Bytes {
    let body = match answer.asked.wire {
        WireKind::Anthropic => anthropic::whole(answer),
        WireKind::Chat => chat::whole(answer),
        WireKind::Responses => responses::whole(answer),
        WireKind::Gemini => gemini::whole(answer),
        WireKind::Bedrock => bedrock::whole(answer),
    };
    let body = body.to_string();
    Bytes::from(match &answer.usage {
        UsageReport::Every(text) => pieces::put_counts(&body, text),
        UsageReport::Counts { .. } | UsageReport::Absent => body,
    })
}

/// An event with this text that is a piece of an answer's text.
pub(crate) fn text_event(wire: WireKind, text: &str) -> Event {
    match wire {
        WireKind::Anthropic => anthropic::text_event(text),
        WireKind::Chat => chat::text_event(text),
        WireKind::Responses => responses::text_event(text),
        WireKind::Gemini => gemini::text_event(text),
        WireKind::Bedrock => bedrock::text_event(text),
    }
}

/// What a request wants, or why the service refuses it.
pub(crate) fn validate(wire: WireKind, incoming: &Incoming<'_>) -> Result<Asked, Refusal> {
    let asked = match wire {
        WireKind::Anthropic => anthropic::asked(incoming),
        WireKind::Chat => chat::asked(incoming),
        WireKind::Responses => responses::asked(incoming),
        WireKind::Gemini => gemini::asked(incoming),
        WireKind::Bedrock => bedrock::asked(incoming),
    };
    match incoming.rules.requests {
        RequestStrictness::Lenient => return Ok(asked),
        RequestStrictness::Service => {}
    }
    match wire {
        WireKind::Anthropic => anthropic::validate(incoming),
        WireKind::Chat => chat::validate(incoming),
        WireKind::Responses => responses::validate(incoming),
        WireKind::Gemini => gemini::validate(incoming, &asked),
        WireKind::Bedrock => bedrock::validate(incoming),
    }?;
    Ok(asked)
}
