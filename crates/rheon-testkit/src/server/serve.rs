//! Handles one request: records, validates and answers it.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming as IncomingBody;
use rheon_providers::wire::WireKind;
use serde_json::Value;

use super::answer::Answer;
use super::extras;
use super::flush::Flushes;
use super::incoming::Incoming;
use super::issued::IssuedBlocks;
use super::plan::{Opening, Pace, Plan, Step, plan, refuse};
use super::play::{PlayedBody, play};
use super::record::{RecordedRequest, ReplyEnd, ReplyProgress};
use super::refusal::{Refusal, ServiceError};
use super::reply::{FakeReply, ReplyBlock, ReplyStop};
use super::request_info::RequestInfo;
use super::route::Route;
use super::script::ScriptState;
use super::state::State;
use super::wire::validate;

/// The maximum size of a request: more than any service accepts.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Clone)]
pub(crate) struct Connection {
    /// Starting at 1.
    pub(crate) number: usize,
    pub(crate) state: Arc<State>,
    pub(crate) flushes: Arc<Flushes>,
}

/// Answers one request. An error closes the connection.
pub(crate) async fn answer(
    connection: Connection,
    request: Request<IncomingBody>,
) -> Result<Response<PlayedBody>, io::Error> {
    let Connection { number: connection, state, flushes } = connection;
    let (recorded, size) = record(&state, connection, request).await?;
    let number = recorded.number;
    let released_before = state.records.read(|log| log.releases);
    let (plan, chosen) = match size {
        Size::Fits => decide(&state, &recorded),
        Size::TooLarge => too_large(&recorded),
    };
    let guard = DisconnectGuard { state: &state, number };
    state.records.progress(number, |progress| progress.chosen.clone_from(&chosen));
    open(&state, number, released_before, plan.opening).await.inspect_err(|_| {
        state.records.progress(number, |progress| progress.ending = Some(ReplyEnd::Cut));
    })?;
    guard.defuse();
    state.records.progress(number, |progress| progress.status = plan.status);
    let body = play(&state, &flushes, number, released_before, plan.steps, plan.pace);
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(plan.status).map_err(io::Error::other)?;
    for (name, value) in plan.headers {
        let name = HeaderName::try_from(name).map_err(io::Error::other)?;
        response.headers_mut().append(name, HeaderValue::try_from(value).map_err(io::Error::other)?);
    }
    Ok(response)
}

/// Records that the client disconnected, if dropped before the headers were sent.
struct DisconnectGuard<'a> {
    state: &'a State,
    number: usize,
}

impl DisconnectGuard<'_> {
    fn defuse(self) {
        std::mem::forget(self);
    }
}

impl Drop for DisconnectGuard<'_> {
    fn drop(&mut self) {
        self.state.records.progress(self.number, |progress| {
            progress.stalled = false;
            progress.ending.get_or_insert(ReplyEnd::Disconnected);
        });
    }
}

async fn record(
    state: &State,
    connection: usize,
    request: Request<IncomingBody>,
) -> Result<(RecordedRequest, Size), io::Error> {
    let (head, body) = request.into_parts();
    let (body, size) = match Limited::new(body, REQUEST_BYTES_MAX).collect().await {
        Ok(body) => (body.to_bytes(), Size::Fits),
        Err(error) if error.is::<LengthLimitError>() => (Bytes::new(), Size::TooLarge),
        Err(error) => return Err(io::Error::other(error)),
    };
    let mut recorded = RecordedRequest {
        number: 0,
        connection,
        version: head.version,
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        json: serde_json::from_slice(&body).unwrap_or_default(),
        body,
    };
    state.records.change(|log| {
        recorded.number = log.requests.len() + 1;
        log.requests.push(recorded.clone());
        log.progress.push(ReplyProgress::default());
    });
    Ok((recorded, size))
}

/// Whether a request exceeds the size limit.
enum Size {
    Fits,
    TooLarge,
}

fn too_large(recorded: &RecordedRequest) -> (Plan, String) {
    let wire = match Route::find(&recorded.method, &recorded.path) {
        Some(Route::Model(wire) | Route::Count(wire)) => wire,
        Some(Route::Props | Route::OllamaShow | Route::Models | Route::Token | Route::Root) | None => {
            WireKind::Chat
        }
    };
    (refuse(wire, &Refusal::of(ServiceError::TooLarge, wire)), "refused: too large".to_owned())
}

/// The plan for a request, and its description.
fn decide(state: &State, recorded: &RecordedRequest) -> (Plan, String) {
    let route = Route::find(&recorded.method, &recorded.path);
    let mut script_state = state.script_state();
    match route {
        None => {
            let message = format!("no route for {} {}", recorded.method, recorded.path);
            let refusal = Refusal { message, ..Refusal::of(ServiceError::NotFound, WireKind::Chat) };
            (refuse(WireKind::Chat, &refusal), "refused: no such path".to_owned())
        }
        Some(Route::Model(wire)) => match validate_request(&script_state, wire, recorded) {
            Err(refusal) => (refuse(wire, &refusal), format!("refused: {}", refusal.message)),
            Ok(request_info) => {
                let (reply, chosen) = script_state.choose(&request_info, &recorded.body);
                (reply_plan(&reply, recorded.number, &request_info, &mut script_state.issued), chosen)
            }
        },
        Some(Route::Count(wire)) => {
            (extras_plan(&extras::count(wire, recorded.body.len())), "count".to_owned())
        }
        Some(Route::Props) => (extras_plan(&extras::props(script_state.script())), "props".to_owned()),
        Some(Route::OllamaShow) => (extras_plan(&extras::show(script_state.script())), "show".to_owned()),
        Some(Route::Models) => (extras_plan(&extras::models(script_state.script())), "models".to_owned()),
        Some(Route::Token) => (extras_plan(&extras::token(recorded.number)), "token".to_owned()),
        Some(Route::Root) => (extras_plan(&extras::root()), "root".to_owned()),
    }
}

fn validate_request(
    script_state: &ScriptState,
    wire: WireKind,
    recorded: &RecordedRequest,
) -> Result<RequestInfo, Refusal> {
    if recorded.json.is_null() {
        return Err(Refusal::invalid("the body of the request is not valid JSON"));
    }
    let incoming = Incoming {
        path: &recorded.path,
        query: &recorded.query,
        headers: &recorded.headers,
        body: &recorded.json,
        rules: script_state.script().rules,
        issued: &script_state.issued,
    };
    validate(wire, &incoming)
}

/// The plan for a reply to a request.
fn reply_plan(
    reply: &FakeReply,
    number: usize,
    request_info: &RequestInfo,
    issued: &mut IssuedBlocks,
) -> Plan {
    let blocks: Vec<ReplyBlock> = reply.blocks.iter().map(|block| resolve(block, request_info)).collect();
    let calls = blocks.iter().any(|block| matches!(block, ReplyBlock::Call { .. }));
    let stop = match &reply.stop {
        ReplyStop::Natural if calls => ReplyStop::ToolUse,
        ReplyStop::Natural => ReplyStop::End,
        ReplyStop::End | ReplyStop::ToolUse | ReplyStop::Length | ReplyStop::Refusal | ReplyStop::Word(_) => {
            reply.stop.clone()
        }
    };
    let answer =
        Answer { number, request_info, blocks, usage: reply.usage.clone(), stop, style: reply.style.clone() };
    issued.note(&answer.blocks, |index| answer.call_id(index));
    plan(&answer, &reply.faults)
}

fn resolve(block: &ReplyBlock, request_info: &RequestInfo) -> ReplyBlock {
    match block {
        ReplyBlock::AnyCall => match request_info.any_tool() {
            Some(tool) => ReplyBlock::Call {
                id: None,
                name: tool.name.clone(),
                arguments: tool.arguments().to_string(),
                signature: (request_info.wire == WireKind::Gemini).then(|| "c2lnbmF0dXJl".to_owned()),
            },
            None => ReplyBlock::Text { text: "ok".to_owned(), signature: None },
        },
        ReplyBlock::Thinking { .. }
        | ReplyBlock::Redacted { .. }
        | ReplyBlock::Text { .. }
        | ReplyBlock::Call { .. } => block.clone(),
    }
}

fn extras_plan(body: &Value) -> Plan {
    Plan {
        status: 200,
        headers: vec![("content-type".into(), "application/json".into())],
        opening: Opening::Answer,
        steps: vec![Step::Event(Bytes::from(body.to_string()))],
        pace: Pace { piece_bytes: usize::MAX, tick: None },
    }
}

/// What happens before the headers.
async fn open(
    state: &State,
    number: usize,
    released_before: usize,
    opening: Opening,
) -> Result<(), io::Error> {
    match opening {
        Opening::Answer => Ok(()),
        Opening::Hangup => Err(io::Error::other("the script closes the connection here")),
        Opening::Never => {
            state.records.progress(number, |progress| progress.stalled = true);
            std::future::pending().await
        }
        Opening::Stall => {
            state.records.progress(number, |progress| progress.stalled = true);
            state.records.wait(|log| (log.releases > released_before).then_some(())).await;
            state.records.progress(number, |progress| progress.stalled = false);
            Ok(())
        }
    }
}
