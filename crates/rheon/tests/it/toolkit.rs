//! The standard tools at work in a real directory, through the real gate and the real sandbox.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::sdk;
use expect_test::expect;
use rheon::policy::{
    Decision, Document, PatternRoots, Policy, PolicySource, PolicyTrust, RuleSource, SandboxedCommands,
    ShellAnalyzer,
};
use rheon::prelude::*;
use rheon::sandbox::{Level, NetworkAccess, Requirement};
use rheon::tools::{Toolkit, ToolkitSettings};
use rheon_testkit::{Scenario, TestClock, Turn, scripted};

/// A toolkit for `dir` under these rules, on whatever this machine has to hold commands with.
pub(crate) async fn toolkit(dir: &Path, permissions: &str) -> Toolkit {
    let text = format!("{{\"permissions\":{permissions}}}");
    let source = PolicySource {
        source: RuleSource::User,
        dir: dir.to_owned(),
        document: Document::parse("settings.json", &text).unwrap(),
    };
    let places = PatternRoots { working_dir: dir.to_owned(), home: Some(dir.join("../home")) };
    let policy = Policy::new(vec![source], places, PolicyTrust::Trusted, ShellAnalyzer::default()).unwrap();
    let settings = ToolkitSettings::new(policy, Arc::new(TestClock::default()));
    match Toolkit::new(settings).await {
        Ok(toolkit) => toolkit,
        // A machine without any sandbox still has tools to test.
        Err(_) => {
            let places = PatternRoots { working_dir: dir.to_owned(), home: None };
            let settings = ToolkitSettings::new(Policy::empty(places), Arc::new(TestClock::default()));
            Toolkit::new(ToolkitSettings { sandbox: Requirement::NoSandbox, ..settings }).await.unwrap()
        }
    }
}

/// A project whose only test fails.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/answer.sh"), "answer() {\n  echo 41\n}\n").unwrap();
    fs::write(dir.path().join("test.sh"), ". src/answer.sh\n[ \"$(answer)\" = 42 ] && echo ok\n").unwrap();
    dir
}

fn mend() -> Scenario {
    let task = |status| json!({ "tasks": [{ "text": "make the test pass", "status": status }] });
    Scenario::new()
        .turn(
            Turn::say("")
                .tool_call("todo", task("inProgress"))
                .tool_call("bash", json!({ "command": "sh test.sh" })),
        )
        .turn(Turn::call("search", json!({ "pattern": "echo 41" })))
        .turn(Turn::call("read", json!({ "path": "src/answer.sh" })))
        .turn(Turn::call(
            "edit",
            json!({ "path": "src/answer.sh", "edits": [{ "old_string": "echo 41", "new_string": "echo 42" }] }),
        ))
        .turn(
            Turn::say("")
                .tool_call("bash", json!({ "command": "sh test.sh" }))
                .tool_call("todo", task("completed")),
        )
        .turn("The test passes.")
}

#[tokio::test]
async fn a_model_mends_a_failing_test_with_the_standard_tools() {
    let project = project();
    let kit = toolkit(project.path(), "{}").await;
    let shown = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&shown);
    let ran = scripted(mend())
        .with(sdk(|builder| {
            builder.toolkit(&kit).on_approval(move |request| {
                let subject = match &request.subject {
                    rheon::events::Subject::Command { command, .. } => command.clone(),
                    rheon::events::Subject::Diff { diff, .. } => diff.clone(),
                    other => format!("{other:?}"),
                };
                asked.lock().unwrap().push(format!("{:?} {subject}", request.danger));
                async { PermissionDecision::Allow }
            })
        }))
        .run("Make the test pass.")
        .await;
    expect![[r#"
        task.update Plan(Tasks { items: [TaskItem { text: "make the test pass", status: InProgress }] })
        message.end toolResult call_1_0 "0 of 1 tasks are done. Open:\n- [in progress] make the test pass"
        message.end toolResult call_1_1 "exit code 1"
        message.end toolResult call_2_0 "src/answer.sh\n2:  echo 41"
        message.end toolResult call_3_0 "1\tanswer() {\n2\t  echo 41\n3\t}\n"
        message.end toolResult call_4_0 "changed src/answer.sh: 1 replaced, +1 -1 lines"
        task.update Plan(Tasks { items: [TaskItem { text: "make the test pass", status: Completed }] })
        message.end toolResult call_5_0 "ok\nexit code 0"
        message.end toolResult call_5_1 "All 1 tasks are done."
        agent.end completed "The test passes.""#]]
    .assert_eq(&ran.trace.only(&["task.", "tool.blocked", "message.end toolResult", "agent.end"]));
    expect![[r#"
        Dangerous sh test.sh
        Moderate --- a/src/answer.sh
        +++ b/src/answer.sh
        @@ -1,3 +1,3 @@
         answer() {
        -  echo 41
        +  echo 42
         }

        Dangerous sh test.sh"#]]
    .assert_eq(&shown.lock().unwrap().join("\n"));
    assert_eq!(
        fs::read_to_string(project.path().join("src/answer.sh")).unwrap(),
        "answer() {\n  echo 42\n}\n"
    );
    assert_eq!(kit.tasks().items().len(), 1);
}

#[tokio::test]
async fn what_nobody_may_read_no_tool_finds() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    for file in [".env", "sub/.env", "sub/other"] {
        fs::write(dir.path().join(file), format!("canary of {}\n", file.replace('/', "-"))).unwrap();
    }
    let rules = r#"{"deny": ["Read(.env)", "Read(./late)", "Edit(./sub/**)"]}"#;
    let kit = toolkit(dir.path(), rules).await;
    fs::write(dir.path().join("late"), "canary of late\n").unwrap();
    let level = kit.sandbox().level();
    if level == Level::None {
        return println!("not tried: without a sandbox the toolkit of this test has no rules");
    }
    let scenario = Scenario::new()
        .turn(Turn::call("search", json!({ "pattern": "canary" })))
        .turn(Turn::call("glob", json!({ "pattern": "**/*" })))
        .turn(Turn::call("list", json!({ "depth": 3 })))
        .turn(Turn::call("read", json!({ "path": "sub/.env" })))
        .turn(Turn::call("bash", json!({ "command": "cat sub/.env" })))
        .turn(Turn::call("bash", json!({ "command": "grep -rh canary . | sort" })))
        .turn(Turn::call("bash", json!({ "command": "sh -c 'echo changed > sub/other'" })))
        .turn(Turn::call("bash", json!({ "command": "sh run" })))
        .turn("I see.");
    fs::write(dir.path().join("run"), "cat late; echo changed > sub/other; rm -rf sub\n").unwrap();
    let yes = |builder: AgentBuilder| builder.on_approval(|_| async { PermissionDecision::Allow });
    let ran = scripted(scenario).with(sdk(|builder| yes(builder.toolkit(&kit)))).run("Look around.").await;
    let told = ran.trace.only(&["message.end toolResult"]);
    let (tools, command) = told.split_once("message.end toolResult call_6_0").unwrap();
    assert!(!tools.contains("canary of .env") && !tools.contains("canary of sub-.env"), "{tools}");
    assert!(command.contains("canary of sub-other"), "{command}");
    // A sandbox of namespaces hides such files; a weaker one cannot.
    if level == Level::Namespaces {
        assert_eq!(command.matches("canary of").count(), 1, "{command}");
        assert!(command.contains("sub/other: Read-only file system"), "{command}");
        assert_eq!(fs::read_to_string(dir.path().join("sub/other")).unwrap(), "canary of sub-other\n");
    }
}

#[tokio::test]
async fn a_sandbox_spares_questions_only_while_it_keeps_the_network_shut() {
    let dir = tempfile::tempdir().unwrap();
    let mut decided = Vec::new();
    for network in [NetworkAccess::Blocked, NetworkAccess::Open] {
        let places = PatternRoots { working_dir: dir.path().to_owned(), home: Some(dir.path().join("home")) };
        let settings = ToolkitSettings::new(Policy::empty(places), Arc::new(TestClock::default()));
        let settings = ToolkitSettings { network, sandboxed_commands: SandboxedCommands::Run, ..settings };
        let Ok(kit) = Toolkit::new(settings).await else { return println!("not tried: no sandbox") };
        if kit.sandbox().level() != Level::Namespaces {
            return println!("not tried: no namespaces");
        }
        let call = rheon_types::ToolCall {
            id: "call".into(),
            name: "bash".into(),
            arguments: Arc::new(json!({ "command": "make" })),
            malformed: None,
            key_order: None,
        };
        decided.push(kit.gate().explain(&call, Effect::Unsafe).decision);
    }
    assert_eq!(decided, [Decision::Allow, Decision::Ask]);
}

#[tokio::test]
async fn a_commit_is_made_once_somebody_agrees_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("work");
    fs::create_dir(&root).unwrap();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(&root).args(arguments).env("HOME", "/nowhere").env("GIT_CONFIG_NOSYSTEM", "1");
        command.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if git(&["init", "-q", "-b", "main"]).is_none() {
        return println!("not tried: there is no git");
    }
    for (name, value) in [("user.name", "A"), ("user.email", "a@example.com"), ("commit.gpgSign", "false")] {
        git(&["config", name, value]);
    }
    let kit = toolkit(&root, "{}").await;
    let commit = |message: &str| {
        let command = format!("git commit -q --allow-empty -m {message}");
        Turn::call("bash", json!({ "command": command }))
    };
    let scenario = Scenario::new().turn(commit("refused")).turn(commit("agreed")).turn("Done.");
    scripted(scenario)
        .with(sdk(|builder| {
            builder.toolkit(&kit).on_approval(|request| match &request.subject {
                rheon::events::Subject::Command { command, .. } if command.contains("agreed") => {
                    std::future::ready(PermissionDecision::Allow)
                }
                _ => std::future::ready(PermissionDecision::Deny),
            })
        }))
        .run("commit")
        .await;
    assert_eq!(git(&["log", "--format=%s"]).unwrap(), "agreed");
}

#[tokio::test]
async fn commands_of_the_default_tools_see_the_environment_of_the_process() {
    let dir = tempfile::tempdir().unwrap();
    let Ok(kit) = default_tools(dir.path()).await else { return println!("not tried: no sandbox") };
    let scenario = Scenario::new().turn(Turn::call("bash", json!({ "command": "env" }))).turn("Seen.");
    let yes = |builder: AgentBuilder| builder.toolkit(&kit).on_approval(|_| async { true });
    let ran = scripted(scenario).with(sdk(yes)).run("Look.").await;
    let told = ran.trace.only(&["message.end toolResult"]);
    // Cargo sets this one for every test; it stands for whatever else the process was given. Secrets are hidden, see `escapes`.
    assert_eq!(std::env::var("CARGO_PKG_NAME").as_deref(), Ok("rheon"));
    assert!(told.contains("PATH=") && told.contains("CARGO_PKG_NAME=rheon"), "{told}");
}
