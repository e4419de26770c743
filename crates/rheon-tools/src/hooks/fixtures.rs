//! A test project with scripts, the hooks of its settings, and the messages shown to the user.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rheon_testkit::TestClock;
use rheon_types::event::{ApprovalRequest, Danger, Subject};
use rheon_types::{History, Hook, InputFilter, Message, Timestamp, ToolCall, ToolError, ToolResult};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hooks::{
    CommandHooks, CompactTrigger, HookContext, HookEnvironment, HookEvent, HookFacts, HookReply,
    HookSettings, SessionEndReason, SessionStartSource,
};

pub(super) struct Fixture {
    dir: TempDir,
    messages: Arc<Mutex<Vec<String>>>,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), messages: Arc::default() }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn context(&self) -> HookContext {
        HookContext {
            session_id: "s".into(),
            transcript_path: None,
            cwd: self.root(),
            project: self.root(),
            home: None,
            source: SessionStartSource::Startup,
            facts: Arc::new(HookFacts::default),
            environment: HookEnvironment::default().with("PATH", "/usr/local/bin:/usr/bin:/bin"),
            clock: Arc::new(TestClock::default()),
        }
    }

    /// The hooks of `settings`, the value of the key `hooks`.
    pub(super) fn hooks(&self, settings: Value) -> CommandHooks {
        let text = json!({ "hooks": settings }).to_string();
        self.with_settings(HookSettings::parse(&text, "settings.json").unwrap())
    }

    pub(super) fn with_settings(&self, settings: HookSettings) -> CommandHooks {
        let messages = Arc::clone(&self.messages);
        CommandHooks::with_messages(settings, self.context(), move |message| {
            messages.lock().unwrap().push(message.to_string());
        })
    }

    pub(super) fn one(&self, event: &str, line: &str) -> CommandHooks {
        self.hooks(json!({ event: [{ "hooks": [{ "type": "command", "command": line }] }] }))
    }

    /// The messages to the user since the last call.
    pub(super) fn messages(&self) -> Vec<String> {
        std::mem::take(&mut self.messages.lock().unwrap())
    }

    /// The text with the project directory replaced by `PROJECT`.
    pub(super) fn plain(&self, text: &str) -> String {
        text.replace(self.root().to_str().unwrap(), "PROJECT")
    }
}

pub(super) fn command(line: &str) -> Value {
    json!({ "type": "command", "command": line })
}

pub(super) fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: "call-1".into(),
        name: name.into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    }
}

pub(super) fn bash(line: &str) -> ToolCall {
    call("bash", json!({ "command": line }))
}

pub(super) fn question(call: &ToolCall) -> ApprovalRequest {
    ApprovalRequest {
        id: "question".into(),
        call_id: call.id.clone(),
        tool_name: call.name.clone(),
        subject: Subject::Arguments { arguments: Arc::clone(&call.arguments) },
        reason: "no rule allows it".into(),
        danger: Danger::Moderate,
        child: None,
        suggested_rule: Some("Bash(npm test *)".into()),
        digest: "digest".into(),
        offers: Vec::new(),
    }
}

fn shown(reply: &HookReply) -> String {
    let HookReply { decision, context, stop, updated_input: _, updated_output: _ } = reply;
    let mut parts: Vec<String> = decision.iter().map(|decision| format!("{decision:?}")).collect();
    parts.extend(context.iter().map(|text| format!("context {text:?}")));
    parts.extend(stop.iter().map(|text| format!("stop {text:?}")));
    if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
}

/// Triggers `event` and describes the outcome as the agent sees it.
pub(crate) async fn trigger(event: HookEvent, hooks: &CommandHooks) -> String {
    let call = bash("npm test");
    let said = Message::user("do it", Timestamp::default());
    match event {
        HookEvent::SessionStart => shown(hooks.session_start().await),
        HookEvent::SessionEnd => shown(&hooks.session_end(SessionEndReason::Other).await),
        HookEvent::UserPromptSubmit => format!("{:?}", hooks.check(&said).get().await),
        HookEvent::PreToolUse => format!("{:?}", hooks.permit_tool(&call).get().await.verdict),
        HookEvent::PermissionRequest => {
            let interpret = hooks.answer_approval(&call, &question(&call)).get().await;
            let changed = interpret.as_ref().and_then(|interpret| interpret.arguments.clone());
            let changed = changed.map_or_else(String::new, |arguments| format!(" with {arguments}"));
            format!("{:?}{changed}", interpret.map(|interpret| (interpret.decision, interpret.message)))
        }
        HookEvent::PermissionDenied => {
            hooks.tool_blocked(&call, &ToolError::Denied("because".into()));
            hooks.idle().await;
            "reported".into()
        }
        HookEvent::PostToolUse => {
            format!("{:?}", hooks.after_tool(&call, &ToolResult::text("fine"), false).get().await.context)
        }
        HookEvent::PostToolUseFailure => {
            format!("{:?}", hooks.after_tool(&call, &ToolResult::text("bad"), true).get().await.context)
        }
        HookEvent::PreCompact => shown(&hooks.pre_compact(CompactTrigger::Auto, "").await),
        HookEvent::PostCompact => shown(&hooks.post_compact(CompactTrigger::Manual, "short").await),
        HookEvent::SubagentStart => shown(&hooks.subagent_start("a1", "Explore").await),
        HookEvent::SubagentStop => shown(&hooks.subagent_stop("a1", "Explore", 0, "found it").await),
        HookEvent::Stop => format!("{:?}", hooks.before_stop(&History::new(), 1).get().await),
        HookEvent::StopFailure => shown(&hooks.stop_failure("rate_limit", "429", "so far").await),
        HookEvent::Notification => {
            hooks.notify("idle_prompt", "waiting", Some("Rheon"));
            hooks.idle().await;
            "reported".into()
        }
    }
}
