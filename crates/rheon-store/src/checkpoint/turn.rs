//! `TurnCheckpoints`: captures the files before the first call of a turn that may change them, and logs the
//! checkpoint.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_types::{
    AgentOutput, Amendment, Answer, Clock, Flow, History, Hook, HookReport, SessionId, ToolCall, ToolCallId,
    ToolError, ToolResult,
};

use super::checkpoints::{CheckpointResult, Checkpoints};
use super::error::CheckpointError;
use super::id::CheckpointMoment;

/// What to do with a call if its checkpoint fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CheckpointFailurePolicy {
    /// Run it without a checkpoint.
    #[default]
    Continue,
    /// Block it and tell the model why. The next call tries again.
    Refuse,
}

type MayChange = dyn Fn(&ToolCall) -> bool + Send + Sync;
type LastSeq = dyn Fn() -> u64 + Send + Sync;

/// Captures the files before the first call of a turn that may change them. If nothing changed since the session's
/// last checkpoint, that one is logged again. The `checkpoint` event precedes the `tool.start` of the call, so its
/// number ties the files to the conversation. Each agent needs its own instance, because turns are counted per run;
/// they may share `Checkpoints`.
pub struct TurnCheckpoints {
    checkpoints: Arc<Checkpoints>,
    clock: Arc<dyn Clock>,
    session_id: Option<SessionId>,
    may_change: Box<MayChange>,
    last_seq: Box<LastSeq>,
    on_failure: CheckpointFailurePolicy,
    capture_timeout: Duration,
    turn: Mutex<Turn>,
    news: Mutex<Vec<HookReport>>,
    /// Running calls that may change files.
    open: Mutex<HashSet<ToolCallId>>,
    /// One capture at a time: a second call of the turn waits for it.
    capturing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    index: u32,
    is_done: bool,
}

const CAPTURE_TIMEOUT: Duration = Duration::from_secs(60);

impl TurnCheckpoints {
    /// Captures before calls for which `may_change` returns true.
    pub fn new(
        checkpoints: Arc<Checkpoints>,
        clock: Arc<dyn Clock>,
        may_change: impl Fn(&ToolCall) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            checkpoints,
            clock,
            session_id: None,
            may_change: Box::new(may_change),
            last_seq: Box::new(|| 0),
            on_failure: CheckpointFailurePolicy::default(),
            capture_timeout: CAPTURE_TIMEOUT,
            turn: Mutex::default(),
            news: Mutex::default(),
            open: Mutex::default(),
            capturing: tokio::sync::Mutex::default(),
        }
    }

    /// Sets the session that checkpoints belong to, and a function for the last event number in its log.
    #[must_use]
    pub fn session(mut self, id: SessionId, last_seq: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.session_id = Some(id);
        self.last_seq = Box::new(last_seq);
        self
    }

    #[must_use]
    pub fn on_failure(mut self, on_failure: CheckpointFailurePolicy) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Sets how long a call waits for a capture before the capture fails.
    #[must_use]
    pub fn capture_timeout(mut self, capture_timeout: Duration) -> Self {
        self.capture_timeout = capture_timeout;
        self
    }

    async fn before_change(&self, call: &ToolCall) -> Flow {
        let _one = self.capturing.lock().await;
        let turn = *self.turn();
        if turn.is_done {
            return Flow::Continue;
        }
        let label = format!("before {} in turn {}", call.name, turn.index);
        let moment = CheckpointMoment {
            label: label.clone(),
            at: self.clock.now(),
            session_id: self.session_id.clone(),
            seq: (self.last_seq)(),
            turn_index: turn.index,
        };
        match self.capture(moment).await {
            Ok(captured) => {
                self.turn().is_done = true;
                self.tell(HookReport::Checkpoint { id: captured.id.to_string(), label });
                Flow::Continue
            }
            Err(error) => {
                let reason = format!("cannot save the files for undo: {error}");
                self.tell(HookReport::Warning { message: reason.clone() });
                match self.on_failure {
                    CheckpointFailurePolicy::Continue => {
                        // A capture after this call would not show the state before the turn.
                        self.turn().is_done = true;
                        Flow::Continue
                    }
                    CheckpointFailurePolicy::Refuse => Flow::Veto(reason),
                }
            }
        }
    }

    async fn capture(&self, moment: CheckpointMoment) -> Result<CheckpointResult, CheckpointError> {
        // Dropping the future stops the capture: a tool may already be changing files.
        let stop = StopOnDrop(Arc::default());
        let (checkpoints, flag) = (Arc::clone(&self.checkpoints), Arc::clone(&stop.0));
        let work =
            tokio::task::spawn_blocking(move || checkpoints.capture_changes_cancelable(&moment, &flag));
        match tokio::time::timeout(self.capture_timeout, work).await {
            Ok(Ok(captured)) => captured,
            Ok(Err(_)) | Err(_) => Err(CheckpointError::Stopped),
        }
    }

    fn tell(&self, news: HookReport) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).push(news);
    }

    /// Records the changes of a finished call as the session's own.
    fn end_call(&self, id: &ToolCallId) {
        if self.open().remove(id) {
            self.mark();
        }
    }

    fn mark(&self) {
        if let Some(session_id) = &self.session_id {
            // Without the mark, a rewind reports the session's own changes as conflicts.
            self.checkpoints.mark(session_id).ok();
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashSet<ToolCallId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> std::sync::MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Hook for TurnCheckpoints {
    fn name(&self) -> &str {
        "checkpoints"
    }

    fn before_turn<'a>(&'a self, _history: &'a History, turn_index: u32) -> Answer<'a, Flow> {
        *self.turn() = Turn { index: turn_index, is_done: false };
        Answer::Now(Flow::Continue)
    }

    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        if !(self.may_change)(call) {
            return Answer::Now(Flow::Continue);
        }
        self.open().insert(call.id.clone());
        if self.turn().is_done {
            return Answer::Now(Flow::Continue);
        }
        Answer::later(self.before_change(call))
    }

    fn after_tool<'a>(
        &'a self,
        call: &'a ToolCall,
        _result: &'a ToolResult,
        _is_error: bool,
    ) -> Answer<'a, Amendment> {
        self.end_call(&call.id);
        Answer::Now(Amendment::default())
    }

    fn tool_blocked(&self, call: &ToolCall, _error: &ToolError) {
        self.open().remove(&call.id);
    }

    fn after_run<'a>(&'a self, output: &'a AgentOutput) -> Answer<'a, ()> {
        // A stopped run does not report the end of its calls. Calls of the next run may already be open.
        let answers = output.messages.iter().filter_map(|message| message.as_assistant());
        let is_left = {
            let mut open = self.open();
            let before = open.len();
            for call in answers.flat_map(|answer| answer.tool_calls()) {
                open.remove(&call.id);
            }
            open.len() < before
        };
        if is_left {
            self.mark();
        }
        Answer::Now(())
    }

    fn take_reports(&self) -> Vec<HookReport> {
        std::mem::take(&mut self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
