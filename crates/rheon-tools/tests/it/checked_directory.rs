//! Gate and shell together: a command runs only in the directory it was checked for.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::Arc;

use rheon_policy::{PatternRoots, Policy, PolicyGate};
use rheon_sandbox::process::ProcessEnvironment;
use rheon_sandbox::{Boundary, Requirement, Sandbox};
use rheon_tools::builtin::bash::{BashSession, BashSettings, BashTool};
use rheon_types::{
    Answer, CallFacts, Effect, Gate, GateDecision, GateRequest, Tool, ToolCall, ToolContext, Verdict,
};
use serde_json::json;

fn call(id: &str, command: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "bash".into(),
        arguments: Arc::new(json!({ "command": command })),
        malformed: None,
        key_order: None,
    }
}

async fn run(bash: &BashTool, call: &ToolCall, facts: CallFacts) -> String {
    let context = ToolContext::new(call.id.clone(), call.name.clone()).in_run("session", "run");
    let context = context.with_facts(facts);
    match bash.execute(Arc::clone(&call.arguments), context).await {
        Ok(result) => result.as_text(),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

#[tokio::test]
async fn a_turn_cannot_move_its_commands_to_an_unchecked_directory() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir(root.join("precious")).unwrap();
    fs::write(root.join("precious/file"), "kept").unwrap();
    let policy = Policy::empty(PatternRoots { working_dir: root.clone(), home: None });
    let workspace = policy.workspace().unwrap();
    let sandbox = Sandbox::choose(Requirement::NoSandbox, Boundary::new(workspace.roots())).await.unwrap();
    let settings = BashSettings {
        workspace: workspace.clone(),
        sandbox,
        environment: ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin"),
        output: BashSettings::output_limits(&root),
    };
    let session = Arc::new(BashSession::new(settings));
    let gate = PolicyGate::new(policy, Arc::new(workspace)).with_shell_directory(session.shell_dir());
    let bash = BashTool(session);
    // The user approves this for the root directory.
    let turn = [call("1", "cd precious"), call("2", "rm -rf ./*")];
    let mut known = Vec::new();
    for call in &turn {
        let Answer::Now(GateDecision { verdict, facts, .. }) =
            gate.check(GateRequest { call, tool: &bash, effect: Effect::Unsafe })
        else {
            panic!("the gate answers at once");
        };
        assert!(matches!(verdict, Verdict::Allow | Verdict::Ask { .. }), "{verdict:?}");
        known.push(facts);
    }
    let [first, second] = known.try_into().unwrap();
    let (first, second) = tokio::join!(run(&bash, &turn[0], first), run(&bash, &turn[1], second));
    assert_eq!(first, "exit code 0");
    assert_eq!(
        second,
        format!(
            "denied: not run: the working directory changed from {0} to {0}/precious since this command was checked; call it again",
            root.display()
        )
    );
    assert_eq!(fs::read_to_string(root.join("precious/file")).unwrap(), "kept");
}
