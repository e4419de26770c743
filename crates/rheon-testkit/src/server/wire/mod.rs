//! The five wires from the service's side: renders responses, validates requests by the published rules.
//!
//! Written from the services' documentation and independently of the wires of `rheon-providers`, so that each checks
//! the other.

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
use super::event::Event;
use super::incoming::Incoming;
use super::refusal::Refusal;
use super::reply::UsageReport;
use super::request_info::RequestInfo;
use super::rules::RequestStrictness;

pub(crate) use frame::frame;

/// The events of a response.
pub(crate) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut events = match answer.request_info.wire {
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

/// A response as one body.
pub(crate) fn whole(answer: &Answer<'_>) -> Bytes {
    let body = match answer.request_info.wire {
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

/// An event with a text delta.
pub(crate) fn text_event(wire: WireKind, text: &str) -> Event {
    match wire {
        WireKind::Anthropic => anthropic::text_event(text),
        WireKind::Chat => chat::text_event(text),
        WireKind::Responses => responses::text_event(text),
        WireKind::Gemini => gemini::text_event(text),
        WireKind::Bedrock => bedrock::text_event(text),
    }
}

/// What a request asks for, or why the service refuses it.
pub(crate) fn validate(wire: WireKind, incoming: &Incoming<'_>) -> Result<RequestInfo, Refusal> {
    let request_info = match wire {
        WireKind::Anthropic => anthropic::request_info(incoming),
        WireKind::Chat => chat::request_info(incoming),
        WireKind::Responses => responses::request_info(incoming),
        WireKind::Gemini => gemini::request_info(incoming),
        WireKind::Bedrock => bedrock::request_info(incoming),
    };
    match incoming.rules.requests {
        RequestStrictness::Lenient => return Ok(request_info),
        RequestStrictness::Service => {}
    }
    match wire {
        WireKind::Anthropic => anthropic::validate(incoming),
        WireKind::Chat => chat::validate(incoming),
        WireKind::Responses => responses::validate(incoming),
        WireKind::Gemini => gemini::validate(incoming, &request_info),
        WireKind::Bedrock => bedrock::validate(incoming),
    }?;
    Ok(request_info)
}
