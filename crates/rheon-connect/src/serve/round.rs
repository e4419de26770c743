//! `CallRound`: a call that is answered in rounds, because it asks for input in between.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rheon_types::BoxFuture;
use ring::rand::{SecureRandom as _, SystemRandom};
use rmcp::model::{ErrorData, InputRequest, InputRequests, InputRequiredResult};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::caller::{Answers, Link, McpCaller, OpenQuestions};
use super::refusal::McpRefusal;
use super::service::McpRequest;

/// The most calls that wait for input, and how long one may wait.
const WAITING_MAX: usize = 64;
const WAIT: Duration = Duration::from_secs(15 * 60);

/// A call that is being answered, or waits for input.
pub(super) struct CallRound {
    request: McpRequest,
    future: BoxFuture<'static, Result<Value, McpRefusal>>,
    caller: McpCaller,
    asked: mpsc::Receiver<OpenQuestions>,
    open: Option<OpenQuestions>,
}

/// What an answered round is.
pub(super) enum RoundEnd {
    Complete(Value),
    InputRequired(InputRequiredResult),
}

impl CallRound {
    /// A new call; `start` begins it.
    pub(super) fn new(
        request: McpRequest,
        link: Link,
        early: Answers,
        start: impl FnOnce(McpRequest, McpCaller) -> BoxFuture<'static, Result<Value, McpRefusal>>,
    ) -> Self {
        let (sender, asked) = mpsc::channel(1);
        let caller = McpCaller::new(link, early, sender);
        let future = start(request.clone(), caller.clone());
        Self { request, future, caller, asked, open: None }
    }

    /// Goes on until the call ends or asks for input.
    pub(super) async fn run(mut self, waiting: &WaitingCalls) -> Result<RoundEnd, ErrorData> {
        let open = match self.open.take() {
            Some(open) => open,
            None => tokio::select! {
                result = &mut self.future => return Ok(RoundEnd::Complete(result?)),
                Some(open) = self.asked.recv() => open,
            },
        };
        let requests = requests(&open)?;
        self.open = Some(open);
        let state = waiting.add(self)?;
        Ok(RoundEnd::InputRequired(InputRequiredResult::new(Some(requests), Some(state))))
    }
}

fn requests(open: &OpenQuestions) -> Result<InputRequests, ErrorData> {
    let mut requests = InputRequests::new();
    for (name, question) in &open.questions {
        let request = json!({ "method": question.method, "params": question.params });
        let request: InputRequest = serde_json::from_value(request)
            .map_err(|error| ErrorData::internal_error(format!("invalid question: {error}"), None))?;
        requests.insert(name.clone(), request);
    }
    Ok(requests)
}

/// Calls that wait for input. Their names cannot be guessed.
#[derive(Default)]
pub(super) struct WaitingCalls(Mutex<HashMap<String, WaitingCall>>);

struct WaitingCall {
    since: Instant,
    round: CallRound,
}

impl WaitingCalls {
    fn add(&self, round: CallRound) -> Result<String, ErrorData> {
        let failed = |text: &'static str| ErrorData::internal_error(text, None);
        let mut bytes = [0; 24];
        SystemRandom::new().fill(&mut bytes).map_err(|_| failed("there is no randomness"))?;
        let name = BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|_, call| call.since.elapsed() < WAIT);
        if calls.len() >= WAITING_MAX {
            return Err(failed("too many calls wait for input"));
        }
        calls.insert(name.clone(), WaitingCall { since: Instant::now(), round });
        Ok(name)
    }

    /// The call that continues with these answers. It must be the same request.
    pub(super) fn resume(
        &self,
        state: &str,
        request: &McpRequest,
        link: Link,
        answers: Answers,
    ) -> Result<CallRound, ErrorData> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|_, call| call.since.elapsed() < WAIT);
        let is_same = calls.get(state).is_some_and(|call| call.round.request == *request);
        let found = if is_same { calls.remove(state) } else { None };
        drop(calls);
        let Some(WaitingCall { mut round, .. }) = found else {
            let text = "requestState is not of a call that waits for input; it may have expired";
            return Err(ErrorData::invalid_params(text, None));
        };
        round.caller.set_link(link);
        round.open = round.open.take().and_then(|open| open.answer(answers));
        Ok(round)
    }
}
