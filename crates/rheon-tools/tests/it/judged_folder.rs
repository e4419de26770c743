//! The gate and the shell together: a command runs in the folder for which it was judged, or not at all.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::Arc;

use rheon_policy::{Places, Policy, PolicyGate};
use rheon_sandbox::process::Environment;
use rheon_sandbox::{Boundary, Requirement, Sandbox};
use rheon_tools::builtin::bash::{Bash, BashSession, BashSettings};
use rheon_types::{
    Answer, CallFacts, Effect, Gate, GateDecision, GateRequest, Tool, ToolCall, ToolContext, Verdict,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn call(id: &str, command: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "bash".into(),
        arguments: Arc::new(json!({ "command": command })),
        malformed: None,
    }
}

async fn run(bash: &Bash, call: &ToolCall, facts: CallFacts) -> String {
    let of_call = (call.id.clone(), call.name.clone());
    let context = ToolContext::new(of_call, ("session".into(), "run".into()), CancellationToken::new(), None);
    let context = context.with_facts(facts);
    match bash.execute(Arc::clone(&call.arguments), context).await {
        Ok(result) => result.as_text(),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

#[tokio::test]
async fn a_turn_cannot_move_its_own_commands_to_a_folder_that_nobody_judged() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("precious")).unwrap();
    fs::write(root.join("precious/file"), "kept").unwrap();
    let policy = Policy::empty(Places { working_folder: root.clone(), home: None });
    let workspace = policy.workspace().unwrap();
    let sandbox = Sandbox::choose(Requirement::NoSandbox, Boundary::new(workspace.roots())).await.unwrap();
    let settings = BashSettings {
        workspace: workspace.clone(),
        sandbox,
        environment: Environment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin"),
        output: BashSettings::output_in(&root),
    };
    let session = Arc::new(BashSession::new(settings));
    let gate = PolicyGate::new(policy, Arc::new(workspace)).with_shell_folder(session.shell_folder());
    let bash = Bash(session);
    // The user is shown that this is about the root, and agrees.
    let turn = [call("1", "cd precious"), call("2", "rm -rf ./*")];
    let mut known = Vec::new();
    for call in &turn {
        let Answer::Now(GateDecision { verdict, facts }) =
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
            "denied: not run: the folder changed from {0} to {0}/precious since this command was checked; call it again",
            root.display()
        )
    );
    assert_eq!(fs::read_to_string(root.join("precious/file")).unwrap(), "kept");
}
