//! The agent loop as free functions, for callers that own the conversation.

use std::sync::Arc;

use rheon_types::{AgentId, AgentMessage, AgentOutput, ContinuationKind, History, RunId, WindowCut};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::call_ids::CallIds;
use crate::config::RunConfig;
use crate::conversation::Conversation;
use crate::live::{Identity, Run, RunLog};
use crate::log::EventLog;
use crate::run::{Start, drive};

/// A conversation owned by the caller.
#[derive(Debug, Clone)]
pub struct AgentContext {
    /// The messages so far. A run appends its own, also when its future is dropped.
    pub history: History,
    /// The cuts made by compactions: what the model sees in another form.
    pub cuts: Vec<WindowCut>,
    /// The agent.
    pub agent_id: AgentId,
    /// The id of the next run; derived from the session and the configuration if absent.
    pub run_id: Option<RunId>,
    /// The id of the last run.
    pub last_run_id: Option<RunId>,
    /// The parent of the next run. If absent, a continued run uses the last run.
    pub parent_run_id: Option<RunId>,
    /// How the next run relates to its parent; absent for an independent run.
    pub continuation: Option<ContinuationKind>,
    /// The number of runs so far.
    pub runs: usize,
    /// Metadata of the app, stored in `agent.start`.
    pub metadata: Option<Arc<Value>>,
}

impl AgentContext {
    /// An empty conversation.
    pub fn new(agent_id: AgentId) -> Self {
        Self {
            history: History::new(),
            cuts: Vec::new(),
            agent_id,
            run_id: None,
            last_run_id: None,
            parent_run_id: None,
            continuation: None,
            runs: 0,
            metadata: None,
        }
    }
}

/// Runs with new prompts. Requires a tokio runtime with a timer.
pub async fn agent_loop(
    prompts: Vec<AgentMessage>,
    context: &mut AgentContext,
    config: &Arc<RunConfig>,
    log: &EventLog,
    cancel: &CancellationToken,
) -> Arc<AgentOutput> {
    context.continuation = None;
    BorrowedRun::new(context, config, log, cancel).drive(Start::Prompt(prompts)).await
}

/// Continues the conversation, which must not end with the model's answer. `context.continuation` says how the run
/// relates to the one before it.
pub async fn agent_loop_continue(
    context: &mut AgentContext,
    config: &Arc<RunConfig>,
    log: &EventLog,
    cancel: &CancellationToken,
) -> Arc<AgentOutput> {
    context.continuation.get_or_insert_default();
    if context.parent_run_id.is_none() {
        context.parent_run_id = context.last_run_id.clone();
    }
    BorrowedRun::new(context, config, log, cancel).drive(Start::Continue).await
}

/// A run on a borrowed conversation. The messages are written back however the run ends.
struct BorrowedRun<'a> {
    context: &'a mut AgentContext,
    run: Run,
}

impl<'a> BorrowedRun<'a> {
    fn new(
        context: &'a mut AgentContext,
        config: &Arc<RunConfig>,
        log: &EventLog,
        cancel: &CancellationToken,
    ) -> Self {
        let run_index = context.runs;
        context.runs += 1;
        let derived = || log.next_run_id(&config.segment());
        let run_id = context.run_id.take().unwrap_or_else(derived);
        context.last_run_id = Some(run_id.clone());
        let identity = Identity {
            agent_id: context.agent_id.clone(),
            run_id: run_id.clone(),
            parent_run_id: context.parent_run_id.take(),
            continuation: context.continuation.take(),
            run_index,
            metadata: context.metadata.clone(),
            settings: Some(Arc::new(config.recorded_settings())),
        };
        let cuts = std::mem::take(&mut context.cuts);
        let conversation = Conversation::repaired(&context.history, cuts, config.clock.now());
        let call_ids = CallIds::from(conversation.history());
        let run_log = RunLog { log: log.clone(), run_id, queue: None };
        let mut run = Run::new(Arc::clone(config), identity, run_log, conversation, cancel);
        run.state.call_ids = call_ids;
        Self { context, run }
    }

    async fn drive(mut self, start: Start) -> Arc<AgentOutput> {
        drive(&mut self.run, start).await
    }
}

impl Drop for BorrowedRun<'_> {
    fn drop(&mut self) {
        self.run.close();
        self.context.history = self.run.history().clone();
        self.context.cuts = self.run.state.conversation.cuts().to_vec();
    }
}
