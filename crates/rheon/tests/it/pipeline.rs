//! The way of a tool call, drawn by what happens and compared with the drawing in the documents.
//!
//! Every stage that can refuse a call refuses it. Whichever does so first is the first stage; it is then made to agree, and
//! the next one is found in the same way. What comes after the last refusal is read off the order in which things happen.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::sdk;
use rheon::policy::{
    Document, PatternRoots, Policy, PolicyGate, PolicySource, PolicyTrust, RuleSource, ShellAnalyzer,
};
use rheon::prelude::*;
use rheon::tools::loop_guard::LoopGuard;
use rheon::types::{Amendment, Answer, Claim, HookPermission, HookVerdict, Store, StoreError, ToolCall};
use rheon_testkit::{Scenario, Turn, scripted};

/// The stages that can refuse a call, with a part of what they say.
const REFUSALS: [(&str, &str); 8] = [
    ("look up", "there is no tool named"),
    ("validate", "invalid arguments"),
    ("deny rules", "denied: "),
    ("plan mode", "queued for the plan"),
    ("hooks", "the hook says no"),
    ("approval", "the user says no"),
    ("before_tool", "Skipped: "),
    ("claim", "somebody else is at work on it"),
];

/// What happened, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<&'static str>>>);

impl Diary {
    fn write(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }
}

/// A `write` that does nothing but say so. It fails, so that there is something to record.
struct Write {
    is_free: bool,
    diary: Diary,
}

impl Tool for Write {
    fn name(&self) -> &str {
        "write"
    }

    fn description(&self) -> &str {
        "for this test"
    }

    fn parameters_schema(&self) -> Value {
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
    }

    fn claim(&self, _: &Value, _: &ToolContext) -> Result<Claim, ToolError> {
        match self.is_free {
            true => Ok(Claim::default()),
            false => Err(ToolError::Denied("somebody else is at work on it".into())),
        }
    }

    fn execute<'a>(&'a self, _: Arc<Value>, _: ToolContext) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async {
            self.diary.write("execute");
            Err(ToolError::Failed("it was only a test".into()))
        })
    }
}

/// A hook that may refuse, and that sees what was recorded before it is told of a result.
struct Spy {
    agrees: bool,
    watch: Arc<LoopGuard>,
    diary: Diary,
}

impl Hook for Spy {
    fn permit_tool<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, HookPermission> {
        let opinion = (!self.agrees).then(|| HookVerdict::Deny("the hook says no".into()));
        HookPermission { verdict: opinion, ..HookPermission::default() }.into()
    }

    fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        if !self.watch.open_failures().is_empty() {
            self.diary.write("record");
        }
        self.diary.write("after_tool");
        Amendment { context: vec!["amended".into()], ..Amendment::default() }.into()
    }
}

/// A store that says when the intent is in it, when it is safe, and when the result is in it.
struct Log {
    diary: Diary,
    has_intent: Mutex<bool>,
}

impl Store for Log {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        match &event.kind {
            AgentEvent::Tool(ToolEvent::Start { .. }) => *self.has_intent.lock().unwrap() = true,
            AgentEvent::Tool(ToolEvent::End { .. }) => self.diary.write("result"),
            _ => {}
        }
        Ok(())
    }

    fn sync<'a>(&'a self) -> Answer<'a, Result<(), StoreError>> {
        if std::mem::take(&mut *self.has_intent.lock().unwrap()) {
            self.diary.write("intent");
        }
        Answer::Now(Ok(()))
    }
}

/// Runs a call past the stages of which `agreeing` agree. Returns why it was refused, or what happened.
async fn run(dir: &Path, agreeing: &BTreeSet<&str>) -> Result<Vec<&'static str>, String> {
    let agrees = |stage| agreeing.contains(stage);
    let rules = if agrees("deny rules") { "{}" } else { r#"{"permissions":{"deny":["Edit(new.txt)"]}}"# };
    let source = PolicySource {
        source: RuleSource::User,
        dir: dir.to_owned(),
        document: Document::parse("settings.json", rules).unwrap(),
    };
    let places = PatternRoots { working_dir: dir.to_owned(), home: None };
    let policy = Policy::new(vec![source], places, PolicyTrust::Trusted, ShellAnalyzer::default()).unwrap();
    let workspace = Arc::new(policy.workspace().unwrap());
    let gate = PolicyGate::new(policy, workspace);
    if !agrees("plan mode") {
        gate.set_mode(rheon::events::PermissionMode::Plan).unwrap();
    }
    let diary = Diary::default();
    let name = if agrees("look up") { "write" } else { "rite" };
    let arguments = if agrees("validate") { json!({ "path": "new.txt" }) } else { json!({}) };
    let watch = Arc::new(LoopGuard::new());
    let spy = Spy { agrees: agrees("hooks"), watch: Arc::clone(&watch), diary: diary.clone() };
    let veto = agrees("before_tool");
    let (agent, trace, provider) = scripted(Scenario::new().turn(Turn::call(name, arguments)).turn("Done."))
        .tool(Write { is_free: agrees("claim"), diary: diary.clone() })
        .with(sdk(|builder| {
            builder
                .permission_policy(gate)
                .hook(watch)
                .hook(spy)
                .hook(ClosureHook::new().before_tool(move |_, _, _| veto))
                .store(Arc::new(Log { diary: diary.clone(), has_intent: Mutex::new(false) }))
        }))
        .build();
    let mut stream = agent.run_stream("go").unwrap();
    let mut refusal = None;
    while let Some(event) = stream.next().await {
        match &event.kind {
            AgentEvent::Approval(ApprovalEvent::Required { request }) => {
                let answer = match agrees("approval") {
                    true => PermissionDecision::Allow.into(),
                    false => PermissionResponse::denied("the user says no"),
                };
                stream.respond_permission(&request.id, answer).unwrap();
            }
            AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) => refusal = Some(reason.clone()),
            _ => {}
        }
    }
    trace.assert_order();
    let told = rheon_testkit::request_text(&provider.requests()[1]);
    match refusal {
        // A call that is refused comes back to the model with the reason, and nothing ran.
        Some(reason) => {
            assert!(told.contains(&format!("{reason:?}").trim_matches('"').to_owned()), "{told}");
            assert_eq!(*diary.0.lock().unwrap(), Vec::<&str>::new());
            Err(reason)
        }
        None => {
            assert!(told.contains("it was only a test\\namended"), "{told}");
            diary.write("model");
            Ok(diary.0.lock().unwrap().clone())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_drawing_of_the_way_of_a_call_is_what_happens() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let mut agreeing = BTreeSet::new();
    let mut order = Vec::new();
    let rest = loop {
        match run(&dir, &agreeing).await {
            Ok(rest) => break rest,
            Err(reason) => {
                let stage = REFUSALS.iter().find(|(_, said)| reason.contains(said));
                let (stage, _) = stage.unwrap_or_else(|| panic!("no stage says {reason:?}"));
                assert!(agreeing.insert(*stage), "{stage} agreed and refused all the same: {reason}");
                order.push(*stage);
            }
        }
    };
    order.extend(rest);
    assert_eq!(drawing(), order);
}

/// The names of the stages in the drawing in `docs/TOOLS.md`.
fn drawing() -> Vec<String> {
    let page = include_str!("../../../../docs/TOOLS.md");
    let drawn = page.split_once("## The path of a call").expect("the page has the section").1;
    let drawn = drawn.split("```").nth(1).expect("the section has a drawing");
    let lines = drawn.lines().filter(|line| line.contains(" | ") && !line.starts_with(' '));
    lines.map(|line| line.split(" | ").next().unwrap_or_default().trim().to_owned()).collect()
}
