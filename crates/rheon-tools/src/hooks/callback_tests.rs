//! Hooks that are functions of another program.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use rheon_testkit::TestClock;
use rheon_types::{BoxFuture, Hook as _, ToolCall};
use serde_json::{Value, json};

use crate::hooks::{
    CommandHook, CommandHooks, HookCallbacks, HookContext, HookEnvironment, HookEvent, HookFacts, HookGroup,
    HookSettings, Matcher, SessionStartSource,
};

/// Gives every call the same answer, and records the calls.
struct Fixed {
    interpret: Result<Value, String>,
    called: Mutex<Vec<String>>,
}

impl HookCallbacks for Fixed {
    fn call<'a>(&'a self, id: &'a str, input: Value) -> BoxFuture<'a, Result<Value, String>> {
        self.called.lock().unwrap().push(format!("{id} {}", input["hook_event_name"]));
        let interpret = self.interpret.clone();
        Box::pin(async move { interpret })
    }
}

async fn permit(interpret: Result<Value, String>) -> String {
    let group = HookGroup {
        event: HookEvent::PreToolUse,
        matcher: Matcher::parse("Bash").unwrap(),
        hooks: vec![CommandHook::callback("hook_0")],
    };
    let settings = HookSettings { groups: vec![group], warnings: Vec::new() };
    let context = HookContext {
        session_id: "s".into(),
        transcript_path: None,
        cwd: "/".into(),
        project: "/".into(),
        home: None,
        source: SessionStartSource::Startup,
        facts: Arc::new(HookFacts::default),
        environment: HookEnvironment::default(),
        clock: Arc::new(TestClock::default()),
    };
    let fixed = Arc::new(Fixed { interpret, called: Mutex::default() });
    let messages: Arc<Mutex<Vec<String>>> = Arc::default();
    let teller = Arc::clone(&messages);
    let callbacks = Arc::clone(&fixed) as Arc<dyn HookCallbacks>;
    let hooks = CommandHooks::with_callbacks(settings, context, callbacks, move |message| {
        teller.lock().unwrap().push(message.to_string());
    });
    let arguments = Arc::new(json!({ "command": "ls" }));
    let call = ToolCall { id: "1".into(), name: "bash".into(), arguments, malformed: None, key_order: None };
    let permit = hooks.permit_tool(&call).get().await;
    format!("{:?} {:?} {:?}\n", fixed.called.lock().unwrap(), permit.verdict, messages.lock().unwrap())
}

#[tokio::test]
async fn a_callback_returns_what_a_command_would_print() {
    let deny = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no" } });
    let mut rows = String::new();
    for interpret in [Ok(deny), Ok(json!({})), Ok(Value::Null), Ok(json!([1])), Err("it broke".to_owned())] {
        rows += &permit(interpret).await;
    }
    expect![[r#"
        ["hook_0 \"PreToolUse\""] Some(Deny("no")) []
        ["hook_0 \"PreToolUse\""] None []
        ["hook_0 \"PreToolUse\""] None []
        ["hook_0 \"PreToolUse\""] None ["the PreToolUse hook \"hook_0\" returned [1] instead of an object"]
        ["hook_0 \"PreToolUse\""] None ["the PreToolUse hook \"hook_0\" failed: it broke"]
    "#]]
    .assert_eq(&rows);
}
