//! `CommandHooks`: the command hooks of a session. Add it to an agent both as a hook and as an input filter.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_policy::hooks::{HookEvent, HookSettings};
use rheon_sandbox::Sandbox;
use rheon_types::ToolCallId;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::hooks::callback::HookCallbacks;
use crate::hooks::context::{HookContext, SessionStartSource};
use crate::hooks::dispatch::{Dispatcher, EventSubject, HookInvocation};
use crate::hooks::message::{HookMessage, Reporter};
use crate::hooks::reply::HookReply;

/// The most calls timed at once. Further calls have no duration.
const TIMED_CALLS_MAX: usize = 1_000;

/// The command hooks of a session. Clones share state: add one to the agent as a hook and one as an input filter.
#[derive(Clone)]
pub struct CommandHooks {
    state: Arc<State>,
}

struct State {
    dispatcher: Dispatcher,
    /// The reply of the SessionStart hooks, which run once.
    start_reply: OnceCell<HookReply>,
    /// Whether the model has received the context of the SessionStart hooks.
    is_context_delivered: AtomicBool,
    /// Further context for the model, which it gets with the next prompt or result.
    context: Mutex<Vec<String>>,
    /// Why the run must stop.
    stop: Mutex<Option<String>>,
    /// When each call started.
    start_times: Mutex<HashMap<ToolCallId, Duration>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionEndReason {
    /// The conversation is cleared.
    Clear,
    /// Another session is resumed in its place.
    Resume,
    Logout,
    /// The user exits at the prompt.
    PromptInputExit,
    #[default]
    Other,
}

/// Why a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactTrigger {
    Manual,
    Auto,
}

impl CommandHooks {
    pub fn new(settings: HookSettings, context: HookContext) -> Self {
        Self::build(settings, context, Reporter::default(), None)
    }

    /// Also passes messages for the user to `on_message`.
    pub fn with_messages(
        settings: HookSettings,
        context: HookContext,
        on_message: impl Fn(&HookMessage) + Send + Sync + 'static,
    ) -> Self {
        Self::build(settings, context, Reporter::new(Arc::new(on_message)), None)
    }

    /// Hooks that are functions of another program: each command of `settings` is the id of a function.
    pub fn with_callbacks(
        settings: HookSettings,
        context: HookContext,
        callbacks: Arc<dyn HookCallbacks>,
        on_message: impl Fn(&HookMessage) + Send + Sync + 'static,
    ) -> Self {
        Self::build(settings, context, Reporter::new(Arc::new(on_message)), Some(callbacks))
    }

    fn build(
        settings: HookSettings,
        context: HookContext,
        reporter: Reporter,
        callbacks: Option<Arc<dyn HookCallbacks>>,
    ) -> Self {
        let state = State {
            dispatcher: Dispatcher::new(settings, context, reporter, callbacks),
            start_reply: OnceCell::new(),
            is_context_delivered: AtomicBool::new(false),
            context: Mutex::default(),
            stop: Mutex::default(),
            start_times: Mutex::default(),
        };
        Self { state: Arc::new(state) }
    }

    /// Runs a project's hooks inside `sandbox`, unless their settings say otherwise. Without this they run like the user's
    /// own.
    pub fn in_sandbox(self, sandbox: Sandbox) -> Self {
        self.dispatcher().set_sandbox(sandbox);
        self
    }

    /// Runs the SessionStart hooks once, before the first prompt if not earlier, and returns their reply.
    pub async fn session_start(&self) -> &HookReply {
        let source = self.dispatcher().context().source.name();
        let fields = fields(json!({ "source": source }));
        self.state.start_reply.get_or_init(|| self.fire_named(HookEvent::SessionStart, source, fields)).await
    }

    /// Runs the SessionEnd hooks, and waits for background hooks.
    pub async fn session_end(&self, reason: SessionEndReason) -> HookReply {
        let reason = match reason {
            SessionEndReason::Clear => "clear",
            SessionEndReason::Resume => "resume",
            SessionEndReason::Logout => "logout",
            SessionEndReason::PromptInputExit => "prompt_input_exit",
            SessionEndReason::Other => "other",
        };
        let reply = self.fire_named(HookEvent::SessionEnd, reason, fields(json!({ "reason": reason }))).await;
        self.idle().await;
        reply
    }

    /// Runs the PreCompact hooks, which may block compaction.
    pub async fn pre_compact(&self, trigger: CompactTrigger, custom_instructions: &str) -> HookReply {
        let fields = fields(json!({ "trigger": trigger.name(), "custom_instructions": custom_instructions }));
        self.fire_named(HookEvent::PreCompact, trigger.name(), fields).await
    }

    /// Runs the PostCompact hooks.
    pub async fn post_compact(&self, trigger: CompactTrigger, summary: &str) -> HookReply {
        let fields = fields(json!({ "trigger": trigger.name(), "compact_summary": summary }));
        self.fire_named(HookEvent::PostCompact, trigger.name(), fields).await
    }

    /// Runs the SessionStart hooks again, as Claude Code does after a compaction. The model gets their context with the
    /// next prompt or result.
    pub async fn restart(&self, source: SessionStartSource) {
        let fields = fields(json!({ "source": source.name() }));
        let reply = self.fire_named(HookEvent::SessionStart, source.name(), fields).await;
        self.context().extend(reply.context);
    }

    /// Runs the StopFailure hooks. `error` is, for instance, `rate_limit`.
    pub async fn stop_failure(&self, error: &str, details: &str, last_message: &str) -> HookReply {
        let fields = fields(
            json!({ "error": error, "error_details": details, "last_assistant_message": last_message }),
        );
        self.fire_named(HookEvent::StopFailure, error, fields).await
    }

    /// Runs the SubagentStart hooks. Their context goes to the subagent.
    pub async fn subagent_start(&self, agent_id: &str, agent_type: &str) -> HookReply {
        let fields = fields(json!({ "agent_id": agent_id, "agent_type": agent_type }));
        self.fire_named(HookEvent::SubagentStart, agent_type, fields).await
    }

    /// Runs the SubagentStop hooks, which may keep the subagent running. `vetoes` counts how often they have.
    pub async fn subagent_stop(
        &self,
        agent_id: &str,
        agent_type: &str,
        vetoes: u32,
        last_message: &str,
    ) -> HookReply {
        let fields = fields(json!({
            "agent_id": agent_id,
            "agent_type": agent_type,
            "stop_hook_active": vetoes > 0,
            "last_assistant_message": last_message,
        }));
        self.fire_named(HookEvent::SubagentStop, agent_type, fields).await
    }

    /// Runs the Notification hooks in the background. `notification_type` is, for instance, `permission_prompt` or
    /// `idle_prompt`.
    pub fn notify(&self, notification_type: &str, message: &str, title: Option<&str>) {
        let mut fields = fields(json!({ "message": message, "notification_type": notification_type }));
        if let Some(title) = title {
            fields.insert("title".to_owned(), title.into());
        }
        let (event, subject) = (HookEvent::Notification, EventSubject::Name(notification_type));
        self.dispatcher().fire_in_background(&HookInvocation { event, subject, fields });
    }

    /// Whether any hook runs at `event`.
    pub fn has(&self, event: HookEvent) -> bool {
        self.dispatcher().has(event)
    }

    /// Waits until no background hook runs.
    pub async fn idle(&self) {
        self.dispatcher().idle().await;
    }

    async fn fire_named(&self, event: HookEvent, name: &str, fields: Map<String, Value>) -> HookReply {
        self.dispatcher().fire(HookInvocation { event, subject: EventSubject::Name(name), fields }).await
    }

    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.state.dispatcher
    }

    /// The context of the SessionStart hooks, the first time it is requested.
    pub(crate) fn take_session_context(&self) -> Vec<String> {
        let mut context = match self.state.start_reply.get() {
            Some(start_reply) if !self.state.is_context_delivered.swap(true, Ordering::Relaxed) => {
                start_reply.context.clone()
            }
            Some(_) | None => Vec::new(),
        };
        context.extend(self.take_context());
        context
    }

    /// The context that the model has not received yet, except for that of the first prompt.
    pub(crate) fn take_context(&self) -> Vec<String> {
        std::mem::take(&mut *self.context())
    }

    /// Why the run must stop, if it must.
    pub(crate) fn stop_reason(&self) -> Option<String> {
        self.stop().clone()
    }

    /// Stops the run at the next turn if `reply` says so.
    pub(crate) fn apply_stop(&self, reply: &HookReply) {
        if let Some(reason) = &reply.stop {
            self.stop().get_or_insert_with(|| reason.clone());
        }
    }

    /// Takes the reason to stop, so that the next run can start.
    pub(crate) fn take_stop_reason(&self) -> Option<String> {
        self.stop().take()
    }

    /// Records the start of a call.
    pub(crate) fn record_start(&self, call_id: &ToolCallId) {
        let elapsed = self.dispatcher().context().clock.elapsed();
        let mut start_times = self.start_times();
        if start_times.len() < TIMED_CALLS_MAX {
            start_times.insert(call_id.clone(), elapsed);
        }
    }

    /// The duration of a call, in milliseconds.
    pub(crate) fn duration_ms(&self, call_id: &ToolCallId) -> Option<u64> {
        let since = self.start_times().remove(call_id)?;
        let duration = self.dispatcher().context().clock.elapsed().saturating_sub(since);
        u64::try_from(duration.as_millis()).ok()
    }

    fn context(&self) -> MutexGuard<'_, Vec<String>> {
        self.state.context.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) -> MutexGuard<'_, Option<String>> {
        self.state.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_times(&self) -> MutexGuard<'_, HashMap<ToolCallId, Duration>> {
        self.state.start_times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CompactTrigger {
    fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Debug for CommandHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandHooks").finish_non_exhaustive()
    }
}

pub(crate) fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
