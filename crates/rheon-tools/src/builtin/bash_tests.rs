//! Tests of the bash tools on the real machine, at its highest sandbox level.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use rheon_policy::shell::analyze;
use rheon_policy::{ShellFacts, Workspace};
use rheon_sandbox::process::{OutputLimits, ProcessEnvironment, Spill};
use rheon_sandbox::{Boundary, Level, NamespaceUse, ProbeCache, Programs, Requirement, Sandbox};
use rheon_types::{CallFacts, Tool, ToolContext, ToolError, ToolReporter, ToolResult};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{BashKillTool, BashOutputTool, BashSession, BashSettings, BashTool};

struct Fixture {
    dir: TempDir,
    root: PathBuf,
    session: Arc<BashSession>,
}

async fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("workspace");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::create_dir(dir.path().join("saved")).unwrap();
    let workspace = Workspace::new(&root).unwrap();
    let boundary = Boundary::new(workspace.roots());
    let sandbox = match Sandbox::choose(Requirement::default(), boundary.clone()).await {
        Ok(sandbox) => sandbox,
        Err(_) => Sandbox::choose(Requirement::NoSandbox, boundary).await.unwrap(),
    };
    println!("tested at {}", sandbox.level());
    let environment = ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin");
    let spill = Spill { dir: dir.path().join("saved"), bytes_max: 1_000 };
    let output = OutputLimits { head_bytes: 20, tail_bytes: 10, spill: Some(spill) };
    let settings = BashSettings { workspace, sandbox, environment, output };
    Fixture { dir, root, session: Arc::new(BashSession::new(settings)) }
}

fn context(cancel: CancellationToken, reporter: Option<Arc<dyn ToolReporter>>) -> ToolContext {
    let context = ToolContext::new("call-1", "bash").in_run("session-1", "loop-1").with_cancel(cancel);
    match reporter {
        Some(reporter) => context.with_reporter(reporter),
        None => context,
    }
}

async fn call(tool: &dyn Tool, arguments: Value) -> Result<ToolResult, ToolError> {
    tool.execute(Arc::new(arguments), context(CancellationToken::new(), None)).await
}

impl Fixture {
    async fn bash(&self, command: &str) -> String {
        self.text(call(&BashTool(Arc::clone(&self.session)), json!({ "command": command })).await)
    }

    /// What the model reads, without parts that differ from run to run.
    fn text(&self, result: Result<ToolResult, ToolError>) -> String {
        let text = match result {
            Ok(result) => result.as_text(),
            Err(error) => format!("{}: {error}", error.kind()),
        };
        text.replace(&self.root.display().to_string(), "<root>")
    }
}

#[tokio::test]
async fn the_result_is_the_output_and_the_exit_code() {
    let fixture = fixture().await;
    assert_eq!(fixture.bash("echo out; echo err >&2; (exit 3)").await, "out\nerr\nexit code 3");
    assert_eq!(fixture.bash("true").await, "exit code 0");
    assert_eq!(fixture.bash("printf unfinished").await, "unfinished\nexit code 0");
}

/// Also where the shell has a PID namespace of its own, whose first process no signal from within ends.
#[tokio::test]
async fn a_shell_that_kills_itself_is_reported_with_the_signal() {
    let fixture = fixture().await;
    for (line, told) in [
        ("kill -9 $$; echo still here", "killed by signal 9 (SIGKILL)"),
        ("kill $$; echo still here", "killed by signal 15 (SIGTERM)"),
        ("kill -ABRT 0; sleep 60", "killed by signal 6 (SIGABRT)"),
        ("(kill -9 $$) & wait; sleep 60", "killed by signal 9 (SIGKILL)"),
        ("exec sh -c 'kill -SEGV $$'", "killed by signal 11 (SIGSEGV)"),
        ("exit 137", "exit code 137"),
    ] {
        assert_eq!(fixture.bash(line).await, told, "{line}");
    }
    let tool = BashTool(Arc::clone(&fixture.session));
    let details = call(&tool, json!({ "command": "kill -9 $$" })).await.unwrap().details;
    assert_eq!((&details["exit_code"], &details["signal"]), (&json!(null), &json!(9)));
}

#[tokio::test]
async fn details_are_whole() {
    let fixture = fixture().await;
    let result =
        call(&BashTool(Arc::clone(&fixture.session)), json!({ "command": "cd sub; echo hello; exit 4" }))
            .await;
    let mut details = result.unwrap().details;
    assert!(details["duration_ms"].take().is_u64());
    assert_eq!(details["sandbox"].take(), fixture.session.sandbox().level().to_string());
    let sub = fixture.root.join("sub");
    assert_eq!(
        details,
        json!({
            "exit_code": 4, "signal": null, "duration_ms": null, "cwd": sub, "truncated": false, "output_bytes": 6,
            "output_file": null, "sandbox": null, "shown_bytes": 6
        })
    );
}

#[tokio::test]
async fn the_directory_carries_over_only_within_the_workspace() {
    let fixture = fixture().await;
    assert_eq!(fixture.bash("cd sub").await, "exit code 0");
    assert_eq!(fixture.bash("basename $PWD; cd ..; exit 1").await, "sub\nexit code 1");
    assert_eq!(
        fixture.bash("cd /usr").await,
        "[/usr is outside the workspace; the next command starts in <root>]\nexit code 0"
    );
    assert_eq!(fixture.bash("cd sub && rmdir ../sub; true").await.lines().last(), Some("exit code 0"));
    assert_eq!(fixture.session.working_dir(), fixture.root);
    assert_eq!(fixture.bash("ln -s /etc link; cd link").await.lines().last(), Some("exit code 0"));
    assert_eq!(fixture.session.working_dir(), fixture.root);
}

#[tokio::test]
async fn a_removed_directory_is_reported() {
    let fixture = fixture().await;
    fixture.bash("cd sub").await;
    fs::remove_dir(fixture.root.join("sub")).unwrap();
    assert_eq!(
        fixture.bash("true").await,
        "[<root>/sub no longer exists; the command started in <root>]\nexit code 0"
    );
}

#[tokio::test]
async fn long_output_is_truncated_and_saved_to_a_file() {
    let fixture = fixture().await;
    let tool = BashTool(Arc::clone(&fixture.session));
    let result = call(&tool, json!({ "command": "for i in {100..199}; do echo $i; done" })).await.unwrap();
    let file = result.details["output_file"].as_str().unwrap().to_owned();
    let whole: String = (100..200).map(|number| format!("{number}\n")).collect();
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    expect![[r#"
        100
        101
        102
        103
        104
        [370 bytes left out here; the full output is in <file>]
        7
        198
        199
        exit code 0"#]]
    .assert_eq(&result.as_text().replace(&file, "<file>"));
    let longer = call(&tool, json!({ "command": "for i in {1000..1999}; do echo $i; done" })).await.unwrap();
    assert!(
        longer.as_text().contains("[4970 bytes left out here; the first 1000 bytes of the output are in ")
    );
}

#[tokio::test]
async fn the_oldest_saved_output_is_removed_first() {
    let fixture = fixture().await;
    for _ in 0..20 {
        fixture.bash("printf %100s").await;
    }
    assert_eq!(fs::read_dir(fixture.dir.path().join("saved")).unwrap().count(), 16);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_times_out_is_reported() {
    let fixture = fixture_without_probe().await;
    let result =
        call(&BashTool(Arc::clone(&fixture.session)), json!({ "command": "sleep 60", "timeout_ms": 5 }))
            .await;
    let text = fixture.text(result);
    assert!(text.starts_with("timedOut: timed out after "), "{text}");
    assert!(text.ends_with("set a larger timeout_ms, or run it in the background"), "{text}");
}

/// A paused clock would end the attempts of the sandbox probe, so probe before pausing it.
async fn fixture_without_probe() -> Fixture {
    tokio::time::resume();
    let fixture = fixture().await;
    tokio::time::pause();
    fixture
}

struct CancelOnOutput(CancellationToken, Mutex<Vec<String>>);

impl ToolReporter for CancelOnOutput {
    fn update(&self, partial: ToolResult) {
        self.1.lock().unwrap().push(partial.as_text());
        self.0.cancel();
    }

    fn progress(&self, _text: &str) {}
}

#[tokio::test]
async fn output_is_streamed_and_kept_when_a_command_is_cancelled() {
    let fixture = fixture().await;
    let cancel = CancellationToken::new();
    let reporter = Arc::new(CancelOnOutput(cancel.clone(), Mutex::default()));
    let arguments = json!({ "command": "while :; do echo tick; read -t 0.05 < <(sleep 1); done" });
    let tool = BashTool(Arc::clone(&fixture.session));
    let result = tool.execute(Arc::new(arguments), context(cancel, Some(reporter.clone()))).await;
    let text = fixture.text(result);
    assert!(text.starts_with("cancelled: tick\n"), "{text}");
    assert!(text.contains("cancelled and stopped with all its child processes"), "{text}");
    assert!(reporter.1.lock().unwrap()[0].starts_with("tick\n"));
}

#[tokio::test]
async fn background_output_is_read_incrementally() {
    let fixture = fixture().await;
    let (bash, output, kill) = (
        BashTool(Arc::clone(&fixture.session)),
        BashOutputTool(Arc::clone(&fixture.session)),
        BashKillTool(Arc::clone(&fixture.session)),
    );
    let command =
        "echo one; until [ -e go ]; do read -t 0.01 < <(sleep 1); done; echo two; exec -a rheon-job sleep 60";
    let started = call(&bash, json!({ "command": command, "background": true })).await.unwrap();
    assert_eq!(
        started.as_text(),
        "started in the background as bash-1; read its output with bash_output, stop it with bash_kill"
    );
    let mut read = String::new();
    let mut until = async |wanted: &str| {
        while !read.contains(wanted) {
            let result = call(&output, json!({ "id": "bash-1" })).await.unwrap();
            assert_eq!(result.details["running"], true);
            read.push_str(&result.as_text().replace("bash-1 is still running", ""));
            tokio::task::yield_now().await;
        }
    };
    until("one\n").await;
    fs::write(fixture.root.join("go"), "").unwrap();
    until("two\n").await;
    assert_eq!(read, "one\ntwo\n");
    let killed = call(&kill, json!({ "id": "bash-1" })).await.unwrap();
    assert!(
        killed.as_text().starts_with("cancelled and stopped with all its child processes"),
        "{}",
        killed.as_text()
    );
    assert_eq!(killed.details["running"], false);
    assert_eq!(left("rheon-job"), 0);
    assert_eq!(
        fixture.text(call(&output, json!({ "id": "bash-2" })).await),
        "failed: no background command \"bash-2\"; known: bash-1"
    );
}

#[tokio::test]
async fn a_finished_background_command_reports_its_exit_code() {
    let fixture = fixture().await;
    let bash = BashTool(Arc::clone(&fixture.session));
    call(&bash, json!({ "command": "echo done; exit 6", "background": true })).await.unwrap();
    let mut all = String::new();
    while !all.ends_with("exit code 6") {
        let result =
            call(&BashOutputTool(Arc::clone(&fixture.session)), json!({ "id": "bash-1" })).await.unwrap();
        all.push_str(&result.as_text().replace("bash-1 is still running", ""));
        tokio::task::yield_now().await;
    }
    assert_eq!(all, "done\nexit code 6");
}

#[tokio::test]
async fn background_commands_stop_with_the_session() {
    let fixture = fixture().await;
    let bash = BashTool(Arc::clone(&fixture.session));
    let command =
        "(setsid bash -c 'exec -a rheon-session-job sleep 60' &); exec -a rheon-session-job sleep 60";
    call(&bash, json!({ "command": command, "background": true })).await.unwrap();
    while left_now("rheon-session-job") < 2 {
        tokio::task::yield_now().await;
    }
    drop((bash, fixture));
    assert_eq!(left("rheon-session-job"), 0);
}

#[tokio::test]
async fn background_commands_are_limited() {
    let fixture = fixture().await;
    let bash = BashTool(Arc::clone(&fixture.session));
    for _ in 0..32 {
        call(&bash, json!({ "command": "sleep 60", "background": true })).await.unwrap();
    }
    assert_eq!(
        fixture.text(call(&bash, json!({ "command": "sleep 60", "background": true })).await),
        "failed: too many background commands; stop one with bash_kill first"
    );
    call(&BashKillTool(Arc::clone(&fixture.session)), json!({ "id": "bash-7" })).await.unwrap();
    let next = call(&bash, json!({ "command": "sleep 60", "background": true })).await.unwrap();
    assert_eq!(next.details, json!({ "id": "bash-33", "running": true }));
}

#[tokio::test]
async fn invalid_arguments_are_rejected() {
    let fixture = fixture().await;
    let bash = BashTool(Arc::clone(&fixture.session));
    for arguments in
        [json!({}), json!({ "command": 1 }), json!({ "command": "x", "cwd": "/" }), json!([]), json!(null)]
    {
        let error = call(&bash, arguments).await.unwrap_err();
        assert_eq!(error.kind(), "invalidArgs", "{error}");
    }
    assert_eq!(fixture.bash("echo a\0b").await, "failed: the command contains a NUL byte; remove it");
}

#[tokio::test]
async fn the_schema_rejects_unknown_fields() {
    let fixture = fixture().await;
    let schema = BashTool(Arc::clone(&fixture.session)).parameters_schema();
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["required"], json!(["command"]));
    let fields: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["background", "command", "description", "timeout_ms"]);
}

fn facts(line: &str, dir: PathBuf) -> CallFacts {
    CallFacts::new(ShellFacts {
        line: line.to_owned(),
        dir: Some(dir),
        analysis: analyze(line),
        refusals: Default::default(),
    })
}

async fn call_with(facts: CallFacts, tool: &dyn Tool, command: &str) -> Result<ToolResult, ToolError> {
    let context = ToolContext::new("1", "bash").in_run("session-1", "loop-1").with_facts(facts);
    tool.execute(Arc::new(json!({ "command": command })), context).await
}

#[tokio::test]
async fn a_command_checked_for_another_directory_is_not_run() {
    let fixture = fixture().await;
    let bash = BashTool(Arc::clone(&fixture.session));
    let begin = fixture.session.working_dir();
    assert_eq!(begin, fixture.root);
    let [enter, remove] = ["echo a > sub/file; cd sub", "rm -rf *"];
    let (first, second) = tokio::join!(
        call_with(facts(enter, begin.clone()), &bash, enter),
        call_with(facts(remove, begin), &bash, remove)
    );
    assert_eq!(fixture.text(first), "exit code 0");
    assert_eq!(
        fixture.text(second),
        "denied: not run: the working directory changed from <root> to <root>/sub since this command was checked; call it again"
    );
    assert_eq!(fs::read_to_string(fixture.root.join("sub/file")).unwrap(), "a\n");
    assert_eq!(fixture.session.shell_dir().current(), fixture.root.join("sub"));
    let judged = facts(remove, fixture.session.working_dir());
    assert_eq!(fixture.text(call_with(judged.clone(), &bash, remove).await), "exit code 0");
    assert!(!fixture.root.join("sub/file").exists());
    assert_eq!(
        fixture.text(call_with(judged, &bash, "rm -rf ..").await),
        "denied: not run: a different command was checked; call it again"
    );
}

#[tokio::test]
async fn commands_of_a_session_run_in_call_order() {
    let fixture = fixture().await;
    let bash = BashTool(Arc::clone(&fixture.session));
    let enter =
        |number: u32| format!("mkdir {number}; cd {number}; echo $PWD >> {}/all", fixture.root.display());
    let (lines, never) = ((1..=5).map(enter).collect::<Vec<_>>(), CancellationToken::new());
    never.cancel();
    let results = tokio::join!(
        call(&bash, json!({ "command": lines[0] })),
        call(&bash, json!({ "command": lines[1] })),
        call(&bash, json!({ "command": lines[2] })),
        bash.execute(Arc::new(json!({ "command": "cd ..; exit 9" })), context(never, None)),
        call(&bash, json!({ "command": lines[3] })),
        call(&bash, json!({ "command": lines[4] })),
    );
    assert_eq!(fixture.text(results.3), "cancelled: cancelled before it ran");
    let all = fs::read_to_string(fixture.root.join("all")).unwrap();
    let all = all.replace(&fixture.root.display().to_string(), "");
    assert_eq!(all, "/1\n/1/2\n/1/2/3\n/1/2/3/4\n/1/2/3/4/5\n");
}

/// Creates a file as soon as it is shown the expected output.
struct SignalOnOutput(PathBuf, Mutex<Vec<String>>);

impl ToolReporter for SignalOnOutput {
    fn update(&self, partial: ToolResult) {
        if partial.as_text().contains("second") {
            fs::write(&self.0, "").unwrap();
        }
        self.1.lock().unwrap().push(partial.as_text());
    }

    fn progress(&self, _text: &str) {}
}

#[tokio::test]
async fn the_last_output_is_shown_while_a_command_is_silent() {
    let fixture = fixture().await;
    let reporter = Arc::new(SignalOnOutput(fixture.root.join("go"), Mutex::default()));
    let command = "echo first; echo second; until [ -e go ]; do read -t 0.01 < <(sleep 1); done; echo third";
    let tool = BashTool(Arc::clone(&fixture.session));
    let context = context(CancellationToken::new(), Some(reporter.clone()));
    let result = tool.execute(Arc::new(json!({ "command": command })), context).await;
    assert_eq!(fixture.text(result), "first\nsecond\nthird\nexit code 0");
}

#[tokio::test]
async fn continuous_output_is_shown_at_intervals() {
    let fixture = fixture().await;
    let reporter = Arc::new(SignalOnOutput(fixture.root.join("go"), Mutex::default()));
    let command = "head -c 20000000 /dev/zero | tr '\\0' x";
    let tool = BashTool(Arc::clone(&fixture.session));
    let context = context(CancellationToken::new(), Some(reporter.clone()));
    let result = tool.execute(Arc::new(json!({ "command": command })), context).await.unwrap();
    let shown = reporter.1.lock().unwrap().len() as u64;
    let duration_ms = result.details["duration_ms"].as_u64().unwrap();
    assert!(shown <= 2 + duration_ms / 200, "{shown} times in {duration_ms} ms");
    assert!(result.as_text().ends_with("xxxxxxxxxx\nexit code 0"), "{}", result.as_text());
}

#[tokio::test]
async fn the_description_names_a_weak_sandbox() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path()).unwrap();
    let output = async |programs: Programs, requirement: Requirement| {
        let sandbox =
            Sandbox::choose_with(programs, requirement, Boundary::new(workspace.roots())).await.ok()?;
        let environment = ProcessEnvironment::rebuilt([], &[]);
        let output = BashSettings::output_limits(dir.path());
        let settings = BashSettings { workspace: workspace.clone(), sandbox, environment, output };
        let bash = BashTool(Arc::new(BashSession::new(settings)));
        let weakness = bash.description().strip_prefix(include_str!("bash.md").trim_end()).unwrap();
        Some(weakness.chars().take(60).collect::<String>())
    };
    let none = output(Programs::find(), Requirement::NoSandbox).await.unwrap();
    assert!(none.starts_with("\n- There is no sandbox: commands can reach everything"), "{none}");
    let strong = output(Programs::find(), Requirement::AtLeast(Level::Namespaces)).await;
    assert!(strong.is_none_or(|output| output.is_empty()));
    let without = Programs { bwrap: None, namespaces: NamespaceUse::ProcessesOnly, ..Programs::find() };
    let weak = output(without, Requirement::default()).await;
    assert!(weak.is_none_or(|output| output.starts_with("\n- The sandbox on this machine is weak")));
}

#[tokio::test]
async fn commands_never_wait_for_input() {
    let fixture = fixture().await;
    let lines = [
        "git init -q repo && cd repo && git config user.name a && git config user.email a@b && echo x > f && git add f",
        "git commit -q -m one && git commit -q --amend && git log | cat | wc -l && git log -p | tail -1",
        "git commit --allow-empty",
        "read -s -p password: password; echo \"$?\"",
        "$EDITOR f; ${VISUAL:-x} f; $PAGER f; more f; less f 2>/dev/null || true",
        "cat; wc -c; exec 3<>/dev/tty || python3 -c 'input()' 2>&1 | tail -1",
    ];
    let mut all = String::new();
    for line in lines {
        let text = fixture.bash(line).await;
        all.push_str(text.lines().last().unwrap());
        all.push('\n');
    }
    assert_eq!(all, "exit code 0\nexit code 0\nexit code 1\nexit code 0\nexit code 0\nexit code 0\n");
}

fn left_now(argument: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.split('\0').any(|word| word == argument)).count()
}

/// A killed process may need a moment to exit.
fn left(argument: &str) -> usize {
    (0..1_000).map(|_| left_now(argument)).find(|count| *count == 0).unwrap_or_else(|| left_now(argument))
}

#[tokio::test]
async fn a_cached_sandbox_that_fails_is_reported_and_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    fs::create_dir(path.join("workspace")).unwrap();
    // A shell that works while it is probed and fails later.
    let bash = path.join("bash");
    let text = format!(
        "#!/bin/bash\n[ ! -e {0}/broken ] || {{ echo no longer >&2; exit 1; }}\nexec /bin/bash \"$@\"\n",
        path.display()
    );
    fs::write(&bash, text).unwrap();
    fs::set_permissions(&bash, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let programs = Programs { bash, bwrap: None, namespaces: NamespaceUse::Never };
    let workspace = Workspace::new(&path.join("workspace")).unwrap();
    let memory = path.join("state/sandbox.json");
    let choose = || {
        let boundary = Boundary::new(workspace.roots());
        Sandbox::choose_cached(programs.clone(), Requirement::NoSandbox, boundary, Some(&memory))
    };
    assert_eq!(choose().await.unwrap().probe_cache(), &ProbeCache::Saved);
    let sandbox = choose().await.unwrap();
    assert_eq!(sandbox.probe_cache(), &ProbeCache::Hit);
    fs::write(path.join("broken"), "").unwrap();
    let environment = ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin");
    let output = BashSettings::output_limits(&path);
    let settings = BashSettings { workspace: workspace.clone(), sandbox, environment, output };
    let tool = BashTool(Arc::new(BashSession::new(settings)));
    let refused = call(&tool, json!({ "command": "echo ran" })).await.unwrap_err();
    assert_eq!(
        refused.to_string().replace(&path.display().to_string(), "<directory>"),
        "<directory>/bash did not start the command; the sandbox (none) printed \"no longer\"; \
         start a new session to probe the sandbox again"
    );
    assert!(!memory.exists());
}
