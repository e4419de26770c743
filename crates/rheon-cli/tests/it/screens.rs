//! Screens that every user meets, as whole texts: the doctor, the trust question, an approval, and how a run ends that is stopped from outside.
//! The other exit codes are in `exits`, the help in `help`.

use expect_test::expect;
use rheon_testkit::server::{FakeReply, Fault, Script};
use serde_json::json;

use crate::shell::Shell;
use crate::stage::{MODEL, Stage, write};
use crate::support::{Ran, kill};

fn shell(stage: &Stage) -> Shell {
    let url = stage.server.url();
    let variables = [("ANTHROPIC_API_KEY", "key"), ("ANTHROPIC_BASE_URL", url.as_str())];
    Shell::new(stage, &stage.path("workspace"), &stage.path("home"), &variables)
}

/// What is shown, without the names of temporary directories and what a terminal adds.
fn plain(stage: &Stage, text: &str) -> String {
    let root = stage.path("").display().to_string();
    text.replace(root.trim_end_matches('/'), "STAGE").replace('\r', "")
}

#[test]
fn the_doctor() {
    let stage = Stage::new(Script::always(FakeReply::text("Hello.")));
    let printed = shell(&stage).run("rheon doctor");
    // What depends on the machine.
    let varies = ["rheon", "disk", "sandbox", "git", "bash"];
    let line = |line: &str| match line.split_whitespace().nth(1) {
        Some(topic) if varies.contains(&topic) => format!("{topic} …\n"),
        _ => format!("{line}\n"),
    };
    let text: String = plain(&stage, &printed.text).lines().map(line).collect();
    expect![[r#"
        rheon …
        ok    directory settings: STAGE/home/.config/rheon (created when needed)
        ok    directory sessions: STAGE/home/.local/share/rheon (created when needed)
        ok    directory state: STAGE/home/.local/state/rheon (created when needed)
        ok    directory cache: STAGE/home/.cache/rheon (created when needed)
        disk …
        ok    config    no configuration files; using the defaults
        ok    directory temporary files: rheon-* in STAGE/ (removed when a session ends)
        ok    model     anthropic/claude-sonnet-5-5, found a key for anthropic
        ok    key       anthropic has a key
        sandbox …
        git …
        bash …
        ok    sessions  0 saved
        ok    terminal  none: this run is non-interactive
        No problems found.
    "#]]
    .assert_eq(&text);
}

#[test]
fn no_model() {
    let stage = Stage::new(Script::always(FakeReply::text("Hello.")));
    let shell = Shell::new(&stage, &stage.path("workspace"), &stage.path("home"), &[]);
    let printed = shell.run("rheon -p hello");
    expect![[r#"
        error: no model is configured, and no local server answers. One of these helps:
          a key:           export ANTHROPIC_API_KEY=...   (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY; `rheon models --vendors` lists all)
          a local server:  ollama serve, with a model     (or LM Studio, llama.cpp, vLLM on their usual ports)
          nothing at all:  rheon demo                     (a scripted model, offline)
    "#]]
    .assert_eq(&printed.text);
    assert_eq!(printed.code, Some(2));
}

#[test]
fn the_trust_question() {
    let stage = Stage::new(Script::always(FakeReply::text("Hello.")));
    let hooks = "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\nhooks = [{ type = \"command\", command = \"./check.sh\" }]\n";
    write(&stage.path("workspace/.rheon/config.toml"), hooks);
    write(&stage.path("workspace/.rheon/commands/review.md"), "Review the changes.\n");
    let mut terminal = shell(&stage).start("rheon");
    let mut text = terminal.wait_for("[y/N] ");
    terminal.press("n\n");
    // The first start in a directory asks for its mode, too.
    text += &terminal.wait_for("[y/N] ");
    terminal.press("n\n");
    text += &terminal.wait_for("\n> ");
    terminal.press("/exit\n");
    terminal.rest();
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    expect![[r#"
        Its hooks run these commands:
          PreToolUse (.rheon/config.toml): ./check.sh
        This project contains files that can run commands or instruct the agent:
          e8aa14b24365 .rheon/commands/review.md
          db76b60cdb4d .rheon/config.toml
        Do you trust them? [y/N] n
        not trusted, so Rheon ignores these files; trust them later with `rheon trust grant`, or for one run with --trust
        Run edits in this directory and sandboxed commands without asking (mode auto)?
        Rheon still asks before anything leaves the sandbox: network, other directories, git history. Change it later with `/mode`. [y/N] n
        anthropic/claude-sonnet-5-5 in STAGE/workspace (mode default). Type /help for commands;
        Ctrl-C stops a run, Ctrl-D exits.

        > "#]].assert_eq(&plain(&stage, &text));
}

#[test]
fn an_approval() {
    let call = FakeReply::call("bash", &json!({ "command": "touch done" }));
    let stage = Stage::new([call, FakeReply::text("As you like.")]);
    let mut terminal = shell(&stage).start("rheon 'Finish it'");
    terminal.wait_for("[y/N] ");
    terminal.press("n\n");
    let mut text = terminal.wait_for("why not › ");
    terminal.press("n\n");
    text += &terminal.wait_for("As you like.");
    terminal.wait_for("\n> ");
    terminal.press("/exit\n");
    terminal.rest();
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    expect![[r#"
        n
        anthropic/claude-sonnet-5-5 in STAGE/workspace (mode default). Type /help for commands;
        Ctrl-C stops a run, Ctrl-D exits.

        Allow bash? · changes the workspace
          run `touch done`: no rule allows it; changes files
          │ touch done
          in STAGE/workspace
          such calls: Bash(touch done)
        [y] once  [s] this session  [p] this project  [a] always
        [c] such calls: Bash(touch *), this session  [cp] this project  [ca] always  [e] edit the rule
        [n] no (Enter)
        n TEXT tells the model why not › n

        ● bash touch done
          └ not run: permission denied

        As you like."#]]
    .assert_eq(&plain(&stage, &text));
}

#[test]
fn a_run_that_is_stopped() {
    let mut text = String::new();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let stage = Stage::new(FakeReply::fault(Fault::NeverAnswer));
        let child = stage.rheon(&["-p", "hi", "--model", MODEL]).spawn().unwrap();
        stage.runtime.block_on(stage.server.wait_for_request(1));
        kill(signal, &child);
        let ran = stage.plain(Ran::from(child.wait_with_output().unwrap()));
        assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(code)));
        text += &format!("{signal}:{}", ran.stderr);
    }
    expect![[r#"
        INT:interrupted · 1 turn · 0 tools · 0 in / 0 out tokens · cost unknown · N ms
        TERM:interrupted · 1 turn · 0 tools · 0 in / 0 out tokens · cost unknown · N ms
    "#]]
    .assert_eq(&text);
}
