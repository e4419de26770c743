//! `Plan`: converts a response and its faults into steps. Pure.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rheon_providers::wire::WireKind;

use super::answer::Answer;
use super::event::{Event, EventKind};
use super::fault::{Fault, Tick};
use super::refusal::Refusal;
use super::reply::{BedrockFraming, ReplyStyle};
use super::request_info::Delivery;
use super::wire::{events, frame, text_event, whole};

/// How much of a compression bomb is written at a time.
const BOMB_PART_BYTES: usize = 1 << 16;

/// What the server does with one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) status: u16,
    /// Including the content type.
    pub(crate) headers: Vec<(String, String)>,
    /// What happens before the headers.
    pub(crate) opening: Opening,
    pub(crate) steps: Vec<Step>,
    pub(crate) pace: Pace,
}

/// What happens before the headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    Answer,
    /// Waits until released.
    Stall,
    /// Waits until the client disconnects.
    Never,
    /// Closes the connection.
    Hangup,
}

/// One step of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Bytes that do not complete an event.
    Part(Bytes),
    /// Bytes that complete an event.
    Event(Bytes),
    /// Wait until released.
    Stall,
    /// Repeat these bytes endlessly.
    Endless(Bytes),
    /// Abort the connection.
    Cut,
}

/// How a body is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// The maximum size of a piece.
    pub(crate) piece_bytes: usize,
    /// What each piece waits for.
    pub(crate) tick: Option<Tick>,
}

/// The plan for a response with these faults.
pub(crate) fn plan(answer: &Answer<'_>, faults: &[Fault]) -> Plan {
    let wire = answer.request_info.wire;
    let mut plan = Plan {
        status: 200,
        headers: service_headers(wire, answer.number),
        opening: Opening::Answer,
        steps: body(answer),
        pace: pace(faults),
    };
    plan.headers.push(("content-type".into(), content_type(answer).into()));
    // Replacements come first, so that the other faults apply to them.
    for fault in faults {
        replace(&mut plan, wire, fault);
    }
    for fault in faults {
        insert(&mut plan.steps, wire, &answer.style, fault);
    }
    for fault in faults {
        if matches!(fault, Fault::Gzip) {
            compress(&mut plan);
        }
    }
    for fault in faults {
        interrupt(&mut plan, fault);
    }
    plan
}

/// The plan for an error response.
pub(crate) fn refuse(wire: WireKind, refusal: &Refusal) -> Plan {
    let mut headers = refusal.headers(wire);
    headers.push(("content-type".into(), "application/json".into()));
    Plan {
        status: refusal.status,
        headers,
        opening: Opening::Answer,
        steps: vec![Step::Event(refusal.bytes(wire))],
        pace: pace(&[]),
    }
}

fn service_headers(wire: WireKind, number: usize) -> Vec<(String, String)> {
    let name = match wire {
        WireKind::Anthropic => "request-id",
        WireKind::Chat | WireKind::Responses => "x-request-id",
        WireKind::Gemini => "x-gemini-service-tier",
        WireKind::Bedrock => "x-amzn-requestid",
    };
    let value = match wire {
        WireKind::Gemini => "standard".to_owned(),
        WireKind::Anthropic | WireKind::Chat | WireKind::Responses | WireKind::Bedrock => {
            format!("req_{number:04}")
        }
    };
    vec![(name.to_owned(), value)]
}

fn content_type(answer: &Answer<'_>) -> &'static str {
    match (answer.request_info.delivery, answer.request_info.wire, answer.style.bedrock) {
        (Delivery::Whole | Delivery::ArrayStream, _, _) => "application/json",
        (Delivery::Stream, WireKind::Bedrock, BedrockFraming::EventStream) => {
            "application/vnd.amazon.eventstream"
        }
        (Delivery::Stream, WireKind::Bedrock, BedrockFraming::Lines) => "application/x-ndjson",
        (Delivery::Stream, WireKind::Anthropic | WireKind::Responses, _) => {
            "text/event-stream; charset=utf-8"
        }
        (Delivery::Stream, WireKind::Chat | WireKind::Gemini, _) => "text/event-stream",
    }
}

fn body(answer: &Answer<'_>) -> Vec<Step> {
    let (wire, style) = (answer.request_info.wire, &answer.style);
    match answer.request_info.delivery {
        Delivery::Whole => vec![Step::Event(whole(answer))],
        Delivery::Stream => {
            events(answer).iter().map(|event| Step::Event(frame(wire, style, event))).collect()
        }
        Delivery::ArrayStream => {
            let events = events(answer);
            let last = events.len().saturating_sub(1);
            let item = |(index, event): (usize, Event)| {
                let (open, close) =
                    (if index == 0 { "[" } else { ",\r\n" }, if index == last { "]" } else { "" });
                Step::Event(Bytes::from(format!("{open}{}\n{close}", event.data)))
            };
            events.into_iter().enumerate().map(item).collect()
        }
    }
}

fn pace(faults: &[Fault]) -> Pace {
    let tick = faults.iter().find_map(|fault| if let Fault::Drip(tick) = fault { Some(*tick) } else { None });
    let pieces = faults
        .iter()
        .find_map(|fault| if let Fault::Pieces(bytes) = fault { Some((*bytes).max(1)) } else { None });
    Pace { piece_bytes: pieces.unwrap_or(if tick.is_some() { 1 } else { usize::MAX }), tick }
}

/// Faults that replace the response.
fn replace(plan: &mut Plan, wire: WireKind, fault: &Fault) {
    let with_refusal = |plan: &mut Plan, refusal: &Refusal| {
        let opening = plan.opening;
        let pace = plan.pace;
        *plan = Plan { opening, pace, ..refuse(wire, refusal) };
    };
    match fault {
        Fault::Status { code, body, headers } => {
            with_refusal(plan, &Refusal::from_status(*code, wire));
            if let Some(body) = body {
                plan.steps = vec![Step::Event(Bytes::from(body.clone()))];
            }
            for (name, value) in headers {
                set_header(plan, name, value);
            }
        }
        Fault::Refuse(error) => with_refusal(plan, &Refusal::of(*error, wire)),
        Fault::ErrorBody(error) => {
            with_refusal(plan, &Refusal::of(*error, wire));
            plan.status = 200;
        }
        Fault::Redirect(address) => {
            plan.status = 307;
            plan.headers = vec![("location".into(), address.clone())];
            plan.steps = Vec::new();
        }
        Fault::Html => {
            set_header(plan, "content-type", "text/html; charset=utf-8");
            let page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Welcome</h1>\n\n</body></html>\n";
            plan.steps = vec![Step::Event(Bytes::from_static(page.as_bytes()))];
        }
        Fault::GzipBomb(bytes) => {
            set_header(plan, "content-encoding", "gzip");
            plan.steps = vec![Step::Event(bomb(wire, *bytes))];
        }
        Fault::ContentType(kind) => set_header(plan, "content-type", kind),
        Fault::Hangup => plan.opening = Opening::Hangup,
        Fault::NeverAnswer => plan.opening = Opening::Never,
        Fault::StallBeforeHeaders => plan.opening = Opening::Stall,
        Fault::StallAfterEvent(_)
        | Fault::StallAtByte(_)
        | Fault::CutAfterEvent(_)
        | Fault::CutAtByte(_)
        | Fault::EndAfterEvent(_)
        | Fault::GarbageAfterEvent(_)
        | Fault::RawAfterEvent { .. }
        | Fault::ErrorAfterEvent { .. }
        | Fault::HugeEvent { .. }
        | Fault::Endless { .. }
        | Fault::Pieces(_)
        | Fault::Drip(_)
        | Fault::Gzip => {}
    }
}

fn set_header(plan: &mut Plan, name: &str, value: &str) {
    plan.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    plan.headers.push((name.to_owned(), value.to_owned()));
}

/// Faults that insert events or end the stream.
fn insert(steps: &mut Vec<Step>, wire: WireKind, style: &ReplyStyle, fault: &Fault) {
    let framed = |event: &Event| frame(wire, style, event);
    match fault {
        Fault::GarbageAfterEvent(event) => {
            let garbage =
                Event { name: String::new(), kind: EventKind::Event, data: "{\"type\": oops".into() };
            put_after(steps, *event, Step::Part(framed(&garbage)));
        }
        Fault::RawAfterEvent { event, bytes } => {
            put_after(steps, *event, Step::Part(Bytes::from(bytes.clone())));
        }
        Fault::ErrorAfterEvent { event, error } => {
            steps.truncate(index_after(steps, *event));
            steps.push(Step::Event(framed(&Refusal::of(*error, wire).event(wire))));
        }
        Fault::HugeEvent { event, bytes } => {
            put_after(steps, *event, Step::Part(framed(&text_event(wire, &"x".repeat(*bytes)))));
        }
        Fault::Endless { event } => {
            steps.truncate(index_after(steps, *event));
            steps.push(Step::Endless(framed(&text_event(wire, "and so on, "))));
        }
        Fault::EndAfterEvent(event) => steps.truncate(index_after(steps, *event)),
        Fault::Status { .. }
        | Fault::Refuse(_)
        | Fault::Redirect(_)
        | Fault::Hangup
        | Fault::NeverAnswer
        | Fault::StallBeforeHeaders
        | Fault::StallAfterEvent(_)
        | Fault::StallAtByte(_)
        | Fault::CutAfterEvent(_)
        | Fault::CutAtByte(_)
        | Fault::ContentType(_)
        | Fault::Html
        | Fault::ErrorBody(_)
        | Fault::Pieces(_)
        | Fault::Drip(_)
        | Fault::Gzip
        | Fault::GzipBomb(_) => {}
    }
}

/// Faults of the transport: where the body stalls or breaks off.
fn interrupt(plan: &mut Plan, fault: &Fault) {
    let steps = &mut plan.steps;
    match fault {
        Fault::StallAfterEvent(event) => put_after(steps, *event, Step::Stall),
        Fault::CutAfterEvent(event) => {
            steps.truncate(index_after(steps, *event));
            steps.push(Step::Cut);
        }
        Fault::StallAtByte(byte) => {
            let index = split_at_byte(steps, *byte);
            steps.insert(index, Step::Stall);
        }
        Fault::CutAtByte(byte) => {
            let index = split_at_byte(steps, *byte);
            steps.truncate(index);
            steps.push(Step::Cut);
        }
        Fault::Status { .. }
        | Fault::Refuse(_)
        | Fault::Redirect(_)
        | Fault::Hangup
        | Fault::NeverAnswer
        | Fault::StallBeforeHeaders
        | Fault::EndAfterEvent(_)
        | Fault::GarbageAfterEvent(_)
        | Fault::RawAfterEvent { .. }
        | Fault::ErrorAfterEvent { .. }
        | Fault::HugeEvent { .. }
        | Fault::Endless { .. }
        | Fault::ContentType(_)
        | Fault::Html
        | Fault::ErrorBody(_)
        | Fault::Pieces(_)
        | Fault::Drip(_)
        | Fault::Gzip
        | Fault::GzipBomb(_) => {}
    }
}

/// The index after the event with this number, or the end.
fn index_after(steps: &[Step], event: usize) -> usize {
    if event == 0 {
        return 0;
    }
    let mut ends = steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Event(_)));
    ends.nth(event - 1).map_or(steps.len(), |(index, _)| index + 1)
}

fn put_after(steps: &mut Vec<Step>, event: usize, step: Step) {
    let index = index_after(steps, event);
    steps.insert(index, step);
}

/// The index of the step that starts at this byte of the body, splitting a step if necessary; the end if there is
/// none.
fn split_at_byte(steps: &mut Vec<Step>, byte: usize) -> usize {
    let mut before = 0;
    for (index, step) in steps.iter_mut().enumerate() {
        let (Step::Part(bytes) | Step::Event(bytes)) = step else { continue };
        if byte <= before {
            return index;
        }
        if byte < before + bytes.len() {
            let head = bytes.split_to(byte - before);
            steps.insert(index, Step::Part(head));
            return index + 1;
        }
        before += bytes.len();
    }
    steps.len()
}

fn compress(plan: &mut Plan) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut packed = Vec::new();
    for step in plan.steps.drain(..) {
        match step {
            // Flush after each event, so that a client can read it before the next one.
            Step::Part(bytes) => packed.push((write_part(&mut encoder, &bytes), false)),
            Step::Event(bytes) => packed.push((write_part(&mut encoder, &bytes), true)),
            Step::Stall | Step::Endless(_) | Step::Cut => {}
        }
    }
    let mut steps: Vec<Step> = packed
        .into_iter()
        .map(|(bytes, is_event)| if is_event { Step::Event(bytes) } else { Step::Part(bytes) })
        .collect();
    // Writing to memory cannot fail.
    steps.push(Step::Part(Bytes::from(encoder.finish().unwrap_or_default())));
    plan.steps = steps;
    set_header(plan, "content-encoding", "gzip");
}

fn write_part(encoder: &mut GzEncoder<Vec<u8>>, bytes: &[u8]) -> Bytes {
    // Writing to memory cannot fail; a truncated body would reveal it.
    if encoder.write_all(bytes).and_then(|()| encoder.flush()).is_err() {
        return Bytes::new();
    }
    Bytes::from(std::mem::take(encoder.get_mut()))
}

/// A few bytes that expand to one event with `bytes` bytes of text.
fn bomb(wire: WireKind, bytes: usize) -> Bytes {
    let event = text_event(wire, "\u{2}");
    let (head, tail) = event.data.split_once("\\u0002").unwrap_or_default();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let part = vec![b'x'; BOMB_PART_BYTES];
    let write = |encoder: &mut GzEncoder<Vec<u8>>| -> std::io::Result<()> {
        write!(encoder, "event: {}\ndata: {head}", event.name)?;
        let mut left = bytes;
        while left > 0 {
            let now = left.min(part.len());
            encoder.write_all(part.get(..now).unwrap_or_default())?;
            left -= now;
        }
        write!(encoder, "{tail}\n\n")
    };
    match write(&mut encoder).and_then(|()| encoder.finish()) {
        Ok(packed) => Bytes::from(packed),
        // Writing to memory cannot fail.
        Err(_) => Bytes::new(),
    }
}
