//! Calls of tools: bare, and through an agent with a policy and a hook.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rheon::Agent;
use rheon::agent::{SystemClock, ToolExecution};
use rheon::policy::{
    Document, PatternRoots, Policy, PolicyGate, PolicySource, PolicyTrust, RuleSource, ShellAnalyzer,
};
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon::tools::Workspace;
use rheon::tools::files::FileContext;
use rheon::tools::loop_guard::LoopGuard;
use rheon::types::{Answer, Flow, Hook, Tool, ToolCall, ToolContext, ToolResult};
use serde_json::Value;

/// What a user of some weeks may have in the settings.
const PERMISSIONS: &str = r#"{ "permissions": {
    "deny": ["Read(./.env)", "Read(./secrets/**)", "Read(~/.ssh/**)", "Bash(git push *)", "WebFetch(domain:example.com)"],
    "ask": ["Bash(rm *)", "Bash(git commit *)", "Edit(/docs/**)"],
    "allow": ["Bash(cargo test *)", "Bash(npm run *)", "Bash(git status)", "Bash(git diff *)", "Bash(ls *)", "Edit(/src/**)"]
} }"#;

pub(crate) fn file_context(dir: &Path) -> FileContext {
    let workspace = Workspace::new(dir).expect("the directory is there");
    FileContext::new(workspace, Arc::new(SystemClock::default()))
}

/// The result of one call, without loop, gate or log.
pub(crate) async fn bare(tool: &dyn Tool, arguments: Value) -> ToolResult {
    let context = ToolContext::new("call", tool.name()).in_run("session", "run");
    tool.execute(Arc::new(arguments), context).await.expect("the tool does its work")
}

/// How long a run takes whose first turn makes these calls, from the prompt to the last event.
pub(crate) async fn run(
    dir: &Path,
    tool: impl Tool + 'static,
    execution: ToolExecution,
    calls: Vec<Value>,
) -> Duration {
    let (name, count) = (tool.name().to_owned(), calls.len());
    let turn = calls.into_iter().fold(Turn::new(), |turn, arguments| turn.tool_call(&*name, arguments));
    let agent = Agent::builder()
        .provider(ScriptedProvider::new(Scenario::new().turn(turn).turn("That is all.")))
        .model("scripted")
        .tool(tool)
        .permission_policy(gate(dir))
        .hook(LoopGuard::new())
        .hook(Watcher)
        .tool_execution(execution)
        .build()
        .expect("the agent can be built");
    let start = Instant::now();
    let output = agent.run("Look at these.").await.expect("the run completes");
    let time = start.elapsed();
    // The prompt, the request for tools, their results, the answer.
    assert_eq!(output.messages.len(), count + 3);
    let failed =
        output.messages.iter().filter(|message| format!("{message:?}").contains("is_error: true")).count();
    assert_eq!(failed, 0, "every call succeeds");
    time
}

fn gate(dir: &Path) -> PolicyGate {
    let dir = dir.canonicalize().expect("the directory is there");
    let places = PatternRoots { working_dir: dir.clone(), home: Some(dir.join("home")) };
    let document = Document::parse("settings.json", PERMISSIONS).expect("the settings are in order");
    let source = PolicySource { source: RuleSource::User, dir, document };
    let policy = Policy::new(vec![source], places, PolicyTrust::Trusted, ShellAnalyzer::default())
        .expect("the rules are in order");
    let workspace = Arc::new(policy.workspace().expect("the directory is there"));
    PolicyGate::new(policy, workspace)
}

/// A hook that is asked before each call and lets it pass.
struct Watcher;

impl Hook for Watcher {
    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        Answer::Now(Flow::from(!call.name.as_str().is_empty()))
    }
}
