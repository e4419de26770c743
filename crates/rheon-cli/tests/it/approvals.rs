//! Answers to approvals: what they cover, how long they last, and where they are saved.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rheon_testkit::server::{FakeReply, Script};
use serde_json::{Value, json};

use crate::stage::{MODEL, Stage, write};
use crate::terminal::{PROMPT, Terminal, remember_mode};

/// The end of a question.
const ANSWER: &str = "why not › ";

/// A file of the project that holds the user's answers.
const LOCAL: &str = "workspace/.rheon/settings.local.json";

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

fn bash(command: &str) -> FakeReply {
    FakeReply::call("bash", &json!({ "command": command }))
}

fn new_file() -> FakeReply {
    FakeReply::call("write", &json!({ "path": "new.txt", "content": "one\n" }))
}

fn done() -> FakeReply {
    FakeReply::text("Done.")
}

/// What the model read last.
fn last_result(stage: &Stage) -> String {
    let requests = stage.server.requests();
    requests.last().unwrap().json["messages"].as_array().unwrap().last().unwrap().to_string()
}

/// Whether commands run in a sandbox at full strength on this machine: only then is there something to leave.
fn has_sandbox(stage: &Stage) -> bool {
    let mut doctor = stage.rheon(&["doctor"]);
    doctor.env("PATH", std::env::var_os("PATH").unwrap());
    stage
        .ran(doctor)
        .stdout
        .lines()
        .any(|line| line.starts_with("ok    sandbox") && line.contains("namespaces"))
}

/// The rules that are saved for the project.
fn saved(stage: &Stage) -> Value {
    let text = fs::read_to_string(stage.path(LOCAL)).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["permissions"]["allow"].clone()
}

#[test]
fn an_answer_for_this_project_holds_in_later_sessions_until_somebody_else_changes_the_file() {
    let stage = Stage::new([new_file(), done(), new_file(), done(), new_file(), done()]);
    let rule = format!("Edit(/{}/new.txt)", stage.path("workspace").display());
    let mut terminal = Terminal::new(&stage, &[]);
    has(&terminal.answer("go", ANSWER), &["[s] this session", "[p] this project", "[a] always", "[fp]"]);
    has(&terminal.say("p"), &["Done."]);
    assert_eq!(terminal.exit(), Some(0));
    assert_eq!(saved(&stage), json!([rule]));
    assert!(fs::read_to_string(stage.path("workspace/.rheon/.gitignore")).unwrap().contains("*.local.*"));
    assert!(!stage.path("home/.config/rheon/settings.json").exists());

    // The next session needs neither a question nor trust.
    fs::remove_file(stage.path("workspace/new.txt")).unwrap();
    let ran = stage.run(&["again"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Done.\n", Some(0)), "{}", ran.stderr);
    assert!(stage.path("workspace/new.txt").exists() && !ran.stderr.contains("trust"), "{}", ran.stderr);
    let explained = stage.ran(stage.rheon(&["policy", "explain", "Edit", "new.txt"]));
    has(&explained.stdout, &["your answers in this project"]);

    // Anything else that writes there must be trusted first.
    let text = fs::read_to_string(stage.path(LOCAL)).unwrap();
    write(&stage.path(LOCAL), &text.replace("new.txt", "**"));
    fs::remove_file(stage.path("workspace/new.txt")).unwrap();
    let ran = stage.run(&["and again"]);
    assert!(!stage.path("workspace/new.txt").exists(), "{ran:?}");
    has(&ran.stderr, &["the project is not trusted", ".rheon/settings.local.json"]);
}

#[test]
fn a_rule_is_edited_and_saved_for_this_project_or_for_all() {
    let stage = Stage::new([bash("printf one > new.txt"), done(), bash("printf two > other.txt"), done()]);
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.answer("go", ANSWER);
    terminal.answer("e", "Rule: ");
    terminal.answer("\x15Bash(printf *)", "(Enter to go back): ");
    has(&terminal.say("p"), &["Done."]);
    assert_eq!(saved(&stage), json!(["Bash(printf *)"]));
    has(&terminal.say("/permissions remove Bash(printf *)"), &["no longer allow"]);
    terminal.answer("go on", ANSWER);
    terminal.answer("e", "Rule: ");
    // Not a rule: the question comes again.
    terminal.answer("\x15Bash(", "(Enter to go back): ");
    terminal.answer("a", ANSWER);
    terminal.answer("e", "Rule: ");
    terminal.answer("\x15Bash(printf two *)", "(Enter to go back): ");
    has(&terminal.say("a"), &["Done."]);
    assert_eq!(terminal.exit(), Some(0));
    let user = fs::read_to_string(stage.path("home/.config/rheon/settings.json")).unwrap();
    has(&user, &["Bash(printf two *)"]);
    assert_eq!(saved(&stage), json!(["Bash(printf *)"]));
}

#[test]
fn a_settings_file_of_the_repository_is_not_made_the_users_own() {
    let stage = Stage::new([new_file(), done()]);
    let theirs = r#"{"permissions": {"allow": ["Bash(*)"]}}"#;
    write(&stage.path(LOCAL), theirs);
    remember_mode(&stage);
    let mut terminal = Terminal::at_start(&stage, &[]);
    terminal.wait_for("Do you trust them? [y/N] ");
    terminal.press("n\n");
    terminal.wait_for(PROMPT);
    terminal.answer("go", ANSWER);
    has(
        &terminal.say("p"),
        &["has content that you have not trusted", "applies to this session only", "Done."],
    );
    assert_eq!(terminal.exit(), Some(0));
    assert_eq!(fs::read_to_string(stage.path(LOCAL)).unwrap(), theirs);
}

/// A command that names a host. The program is the one of [`with_curl`], which needs no network.
const CURL: &str = "curl https://rheon.invalid/x";

/// A conversation in mode auto, whose commands find a `curl` of the test.
fn with_curl(stage: &Stage) -> Terminal {
    let bin = stage.path("workspace/bin");
    write(&bin.join("curl"), "#!/bin/sh\necho fetched\n");
    fs::set_permissions(bin.join("curl"), fs::Permissions::from_mode(0o755)).unwrap();
    remember_mode(stage);
    let mut command = stage.rheon(&["--model", MODEL, "--permission-mode", "auto"]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", bin.display())).env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(command);
    terminal.wait_for("> ");
    terminal
}

#[test]
fn a_command_that_needs_the_network_is_offered_hosts_the_network_the_sandbox_and_the_outside() {
    let stage = Stage::new([bash(CURL), done(), bash(CURL), done(), bash(CURL), done()]);
    if !has_sandbox(&stage) {
        return;
    }
    let mut terminal = with_curl(&stage);
    let asked = terminal.answer("go", ANSWER);
    has(
        &asked,
        &[
            CURL,
            "[y] with network access to rheon.invalid",
            "[s] this session",
            "[w] with the whole network",
            "[i] without the network",
            "[o] outside the sandbox",
            "[n] no (Enter)",
            "such calls: Network(rheon.invalid)",
            "ws, wp and wa add Network(*)",
        ],
    );
    // Once: the next call asks again.
    has(&terminal.say("i"), &["Done."]);
    terminal.answer("go on", ANSWER);
    // For the session: no question any more.
    has(&terminal.say("s"), &["Done."]);
    has(&terminal.say("/permissions"), &["allow  Network(rheon.invalid)  (answers of this session)"]);
    has(&terminal.say("once more"), &["fetched", "Done."]);
    assert_eq!(terminal.exit(), Some(0));
    assert!(!stage.path(LOCAL).exists() && !stage.path("home/.config/rheon/settings.json").exists());
}

#[test]
fn a_no_to_the_network_tells_the_model_what_was_refused() {
    let stage = Stage::new([bash(CURL), done()]);
    if !has_sandbox(&stage) {
        return;
    }
    let mut terminal = with_curl(&stage);
    terminal.answer("go", ANSWER);
    has(&terminal.say("no, work offline"), &["Done."]);
    has(&last_result(&stage), &["work offline"]);
    assert_eq!(terminal.exit(), Some(0));
}

/// Scripts that fail as programs do inside the sandbox, and what the question then offers first.
const REFUSED: [(&str, &str); 2] = [
    ("echo 'fatal: Could not resolve host: rheon.invalid'; exit 128\n", "[y] with the whole network"),
    ("echo 'cannot write: Read-only file system'; exit 1\n", "[y] outside the sandbox"),
];

#[test]
fn a_command_that_the_sandbox_made_fail_asks_the_next_time() {
    for (script, offer) in REFUSED {
        let run = || bash("sh ./task.sh");
        let stage = Stage::new([run(), done(), run(), done()]);
        write(&stage.path("workspace/task.sh"), script);
        if !has_sandbox(&stage) {
            return;
        }
        let mut terminal = Terminal::new(&stage, &["--permission-mode", "auto"]);
        // Nothing is known beforehand, so nothing is asked; the model is told why it failed.
        has(&terminal.say("go"), &["Done."]);
        has(&last_result(&stage), &["sandbox"]);
        has(&terminal.answer("try again", ANSWER), &["sh ./task.sh", offer]);
        has(&terminal.say("n"), &["Done."]);
        assert_eq!(terminal.exit(), Some(0));
    }
}

#[test]
fn a_yes_runs_a_command_outside_the_sandbox() {
    let stage = Stage::new([bash("sh ./task.sh"), done(), bash("sh ./task.sh"), done()]);
    let made = stage.path("made");
    let script = format!(
        "{{ echo x > '{}'; }} 2>/dev/null\necho 'cannot write: Read-only file system'; exit 1\n",
        made.display()
    );
    write(&stage.path("workspace/task.sh"), &script);
    if !has_sandbox(&stage) {
        return;
    }
    let mut terminal = Terminal::new(&stage, &["--permission-mode", "auto"]);
    terminal.say("go");
    assert!(!made.exists(), "the sandbox holds commands");
    terminal.answer("try again", ANSWER);
    has(&terminal.say("y"), &["Done."]);
    assert!(made.exists(), "what was approved runs");
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn a_yes_is_enough_for_a_path_outside_the_workspace() {
    let outside = FakeReply::call("write", &json!({ "path": "../notes/a.txt", "content": "x\n" }));
    for yes in ["ok", "sure"] {
        let stage = Stage::new([outside.clone(), done()]);
        let mut terminal = Terminal::new(&stage, &["--permission-mode", "auto"]);
        has(&terminal.answer("go", ANSWER), &["Allow write?", "notes/a.txt"]);
        has(&terminal.say(yes), &["Done."]);
        assert_eq!(fs::read_to_string(stage.path("notes/a.txt")).unwrap(), "x\n", "{yes}");
        assert_eq!(terminal.exit(), Some(0));
    }
}

#[test]
fn the_mode_of_the_first_start_is_remembered_and_asked_once_per_directory() {
    let stage = Stage::new(Script::always(done()));
    let mut terminal = Terminal::at_start(&stage, &[]);
    terminal.wait_for("[y/N] ");
    terminal.press("y\n");
    terminal.wait_for(PROMPT);
    has(&terminal.say("/status"), &["mode auto"]);
    assert_eq!(terminal.exit(), Some(0));
    let mut terminal = Terminal::at_start(&stage, &[]);
    let shown = terminal.wait_for(PROMPT);
    assert!(!shown.contains("[y/N]"), "{shown}");
    has(&terminal.say("/status"), &["mode auto"]);
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn a_model_that_repeats_itself_is_stopped_with_a_next_step() {
    let stage = Stage::new(Script::always(FakeReply::call("read", &json!({ "path": "a.txt" }))));
    let ran = stage.run(&["go"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    has(&ran.stderr, &["the model repeats itself", "say what to do instead", "rheon -r "]);
    assert!(!ran.stderr.contains("a hook stopped"), "{}", ran.stderr);
}
