//! `AttentionHooks`: runs the Notification hooks while the session waits for its user.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_tools::hooks::{CommandHooks, HookEvent, to_claude_call};
use rheon_types::event::{ApprovalRequest, Subject};
use rheon_types::{AgentEvent, ApprovalEvent, Event, RunEvent, SessionId, ToolCall};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::calls::ClientCalls;
use crate::system::Observer;

/// How long a session waits for a prompt before its user is notified, as in Claude Code.
const IDLE_AFTER: Duration = Duration::from_secs(60);

/// Runs the Notification hooks of a session: when the user is asked something, and when nothing happens after a run. In a
/// non-interactive session there is no user to notify.
pub(super) struct AttentionHooks {
    session_id: SessionId,
    hooks: Vec<CommandHooks>,
    calls: ClientCalls,
    /// Until the user is notified of an idle session.
    timer: Mutex<Option<AbortHandle>>,
}

impl AttentionHooks {
    /// `None` if there are no such hooks.
    pub(super) fn new(session_id: &SessionId, hooks: &[CommandHooks], calls: &ClientCalls) -> Option<Self> {
        let hooks: Vec<CommandHooks> =
            hooks.iter().filter(|hooks| hooks.has(HookEvent::Notification)).cloned().collect();
        let session_id = session_id.clone();
        (!hooks.is_empty()).then(|| Self { session_id, hooks, calls: calls.clone(), timer: Mutex::default() })
    }

    /// Follows the events of the session.
    pub(super) fn observer(self) -> Observer {
        let attention = Arc::new(self);
        Arc::new(move |event| attention.observe(event))
    }

    fn observe(self: &Arc<Self>, event: &Event) {
        if event.session_id != self.session_id {
            return;
        }
        match &event.kind {
            AgentEvent::Approval(ApprovalEvent::Required { request }) if self.has_user() => {
                self.notify("permission_prompt", &question(request));
            }
            AgentEvent::Run(RunEvent::Start { .. }) => self.set_timer(None),
            AgentEvent::Run(RunEvent::End { .. }) if self.has_user() => self.start_timer(),
            _ => {}
        }
    }

    fn start_timer(self: &Arc<Self>) {
        let Ok(handle) = Handle::try_current() else { return };
        let attention = Arc::downgrade(self);
        let timer = handle.spawn(async move {
            tokio::time::sleep(IDLE_AFTER).await;
            if let Some(attention) = attention.upgrade().filter(|attention| attention.has_user()) {
                attention.notify("idle_prompt", "Rheon is waiting for your input");
            }
        });
        self.set_timer(Some(timer.abort_handle()));
    }

    /// Replaces the timer.
    fn set_timer(&self, timer: Option<AbortHandle>) {
        let mut current = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(previous) = std::mem::replace(&mut *current, timer) {
            previous.abort();
        }
    }

    fn has_user(&self) -> bool {
        self.calls.agent().is_some_and(|agent| agent.has_approver())
    }

    fn notify(&self, notification_type: &str, message: &str) {
        for hooks in &self.hooks {
            hooks.notify(notification_type, message, None);
        }
    }
}

impl Drop for AttentionHooks {
    fn drop(&mut self) {
        self.set_timer(None);
    }
}

/// What the user is asked.
fn question(request: &ApprovalRequest) -> String {
    if let Subject::Questions { .. } = request.subject {
        return "Rheon has a question for you".to_owned();
    }
    let call = ToolCall {
        id: request.call_id.clone(),
        name: request.tool_name.clone(),
        arguments: Arc::new(Value::Null),
        malformed: None,
        key_order: None,
    };
    let tool_name = to_claude_call(&call, std::path::Path::new("/")).tool_name;
    format!("Rheon needs your permission to use {tool_name}")
}
