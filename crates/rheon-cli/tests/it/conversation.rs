//! What can be typed in a conversation: files, commands for the shell, slash commands, answers.

use std::os::unix::fs::PermissionsExt as _;

use rheon_testkit::server::{FakeReply, Fault, ReplyCondition, Script};
use serde_json::{Value, json};

use crate::stage::{Stage, write};
use crate::terminal::{PROMPT, Terminal, plain, said};

fn stage() -> Stage {
    Stage::new(Script::always(FakeReply::text("Understood.")))
}

/// A model that calls one tool, then answers.
fn calling(tool: &str, arguments: &Value) -> Stage {
    Stage::new(Script::new([
        FakeReply::call(tool, arguments),
        FakeReply::text("Understood.").times(rheon_testkit::server::ReplyCount::Always),
    ]))
}

/// The messages of the last request.
fn messages(stage: &Stage) -> Vec<Value> {
    stage.server.requests().last().unwrap().json["messages"].as_array().unwrap().clone()
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

/// A PNG of one pixel.
const PNG: [u8; 67] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0,
    0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63,
    0x60, 0, 0, 0, 2, 0, 1, 0x48, 0xaf, 0xa4, 0x71, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60,
    0x82,
];

#[test]
fn mentioned_files_and_images_are_attached_here_and_in_print_mode() {
    let stage = stage();
    std::fs::write(stage.path("workspace/shot.png"), PNG).unwrap();
    let mut terminal = Terminal::new(&stage, &[]);
    let shown = terminal.say("compare @a.txt with @shot.png and @missing.txt");
    has(&shown, &["no such file: missing.txt", "Understood."]);
    let content = messages(&stage)[0]["content"].clone();
    assert_eq!(content[0]["text"], "compare @a.txt with @shot.png and @missing.txt");
    has(content[1]["text"].as_str().unwrap(), &["<attached path=\"a.txt\">", "the content"]);
    let kinds: Vec<&str> =
        content.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"image"), "{kinds:?}");
    assert_eq!(terminal.exit(), Some(0));
    let ran = stage.run(&["what does @a.txt say?"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Understood.\n", Some(0)));
    has(&messages(&stage)[0].to_string(), &["what does @a.txt say?", "the content"]);
}

#[test]
fn a_file_that_rules_deny_is_not_attached() {
    let stage = stage();
    let ran = stage.run(&["what does @a.txt say?", "--disallowed-tools", "Read(a.txt)"]);
    has(&ran.stderr, &["note: a.txt was not attached"]);
    assert!(!messages(&stage)[0].to_string().contains("the content"));
}

#[test]
fn a_typed_command_runs_without_the_model_which_sees_it_later() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &[]);
    let shown = terminal.say("!echo from the shell; exit 3");
    has(&shown, &["● bash echo from the shell; exit 3", "│ from the shell", "exit code 3"]);
    assert_eq!(stage.server.requests().len(), 0);
    terminal.say("what happened?");
    let messages = messages(&stage);
    assert_eq!(messages[0]["content"][0]["text"], "!echo from the shell; exit 3");
    assert_eq!(messages[1]["content"][0]["input"]["command"], "echo from the shell; exit 3");
    has(&messages[2].to_string(), &["from the shell", "what happened?"]);
    let replayed = stage.ran(stage.rheon(&["sessions", "replay"]));
    has(&(replayed.stdout + &replayed.stderr), &["without a difference"]);
    assert_eq!(terminal.exit(), Some(0));
    // In print mode the text may come from anywhere, so it is a prompt.
    stage.run(&["!touch made"]);
    assert!(!stage.path("workspace/made").exists());
    assert_eq!(self::messages(&stage)[0]["content"][0]["text"], "!touch made");
}

#[test]
fn rules_hold_for_typed_commands_too() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &["--disallowed-tools", "Bash(touch *)"]);
    let shown = terminal.say("!touch made");
    has(&shown, &["not run"]);
    assert!(!stage.path("workspace/made").exists());
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn prompts_come_back_in_the_next_conversation() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.say("remember me");
    assert_eq!(terminal.exit(), Some(0));
    let mut terminal = Terminal::new(&stage, &[]);
    // The last line was /exit.
    terminal.press("\x1b[A\x1b[A again\r");
    terminal.wait_for("Understood.");
    assert_eq!(said(&stage), ["remember me", "remember me again"]);
    let file = stage.path("home/.local/state/rheon/history.jsonl");
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    terminal.wait_for("> ");
    assert_eq!(terminal.exit(), Some(0));
    let unsaved = self::stage();
    let mut terminal = Terminal::new(&unsaved, &["--no-session-persistence"]);
    terminal.say("secret");
    assert_eq!(terminal.exit(), Some(0));
    assert!(!unsaved.path("home/.local/state/rheon/history.jsonl").exists());
}

#[test]
fn a_session_is_chosen_from_a_list_and_its_end_is_shown() {
    let stage = Stage::new(Script::new([
        FakeReply::text("About fish.").when(ReplyCondition::contains("Tell me about fish.")),
        FakeReply::text("About birds.").times(rheon_testkit::server::ReplyCount::Always),
    ]));
    stage.run(&["Tell me about fish."]);
    stage.run(&["Tell me about birds."]);
    let mut terminal = Terminal::at_start(&stage, &["-r"]);
    has(&terminal.wait_for("Resume which?"), &["1", "Tell me about birds.", "2", "Tell me about fish."]);
    terminal.press("nothing\n");
    terminal.wait_for("no session matches");
    terminal.wait_for("Resume which?");
    terminal.press("fish\n");
    has(&plain(&terminal.wait_for(PROMPT)), &["› Tell me about fish.", "About fish."]);
    has(&terminal.answer("/resume", "Resume which?"), &["Tell me about birds."]);
    has(&terminal.say("1"), &["About birds."]);
    assert_eq!(terminal.exit(), Some(0));
    let mut terminal = Terminal::at_start(&stage, &["-c"]);
    terminal.wait_for("About birds.");
    terminal.wait_for(PROMPT);
    assert_eq!(terminal.exit(), Some(0));
    let ran = stage.run(&["-r"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    has(&ran.stderr, &["Tell me about fish.", "-r needs a session here"]);
}

#[test]
fn undo_rewind_and_diff_go_through_the_changes_of_the_session() {
    let made = json!({ "path": "new.txt", "content": "one\ntwo\n" });
    let stage = calling("write", &made);
    let mut terminal = Terminal::new(&stage, &["--permission-mode", "acceptEdits"]);
    terminal.say("first");
    assert!(stage.path("workspace/new.txt").exists());
    terminal.say("second");
    has(&terminal.say("/diff"), &["new.txt", "+one", "+two", "1 file changed"]);
    has(&terminal.say("/diff last"), &["nothing changed"]);
    has(&terminal.answer("/rewind", "Go back to before which?"), &["1  first", "2  second"]);
    has(&terminal.say("1"), &["restored 1 file: new.txt"]);
    assert!(!stage.path("workspace/new.txt").exists());
    terminal.say("third");
    assert_eq!(messages(&stage).len(), 1);
    has(&terminal.say("/undo"), &["the conversation is back to before that prompt"]);
    terminal.say("fourth");
    assert_eq!(messages(&stage).len(), 1);
    has(&terminal.say("/rewind 7"), &["\"7\" is not a prompt"]);
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn the_session_answers_questions_about_itself() {
    let stage = stage();
    write(&stage.path("workspace/AGENTS.md"), "Use tabs.");
    let mut terminal = Terminal::new(&stage, &["--allowed-tools", "Bash(ls *)"]);
    has(&terminal.say("/permissions"), &["mode default", "allow  Bash(ls *)"]);
    has(&terminal.say("/permissions deny Bash(curl *)"), &["deny Bash(curl *) in this session"]);
    has(&terminal.say("/permissions"), &["deny   Bash(curl *)", "allow  Bash(ls *)"]);
    has(&terminal.say("/permissions remove Bash(curl *)"), &["no longer deny Bash(curl *)"]);
    has(&terminal.say("/permissions please"), &["use /permissions allow RULE"]);
    has(&terminal.say("/memory"), &["instructions", "AGENTS.md"]);
    has(&terminal.say("/config"), &["rheon config edit"]);
    has(&terminal.say("/config no.such"), &["is not set"]);
    has(&terminal.say("/sandbox"), &["sandbox"]);
    has(&terminal.say("/network"), &["network"]);
    has(&terminal.say("/cost"), &["token"]);
    has(&terminal.say("/context"), &["messages"]);
    has(&terminal.say("/export"), &["nothing to export yet"]);
    has(&terminal.say("/init keep it short"), &["Understood."]);
    has(&said(&stage)[0], &["AGENTS.md", "The user adds: keep it short"]);
    has(&terminal.say("/export talk.md"), &["exported to", "talk.md"]);
    has(&std::fs::read_to_string(stage.path("workspace/talk.md")).unwrap(), &["Understood."]);
    has(&terminal.say("/export talk.md"), &["cannot write"]);
    has(&terminal.say("/export talk.txt"), &["must end with .md, .json or .html"]);
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn commands_of_the_user_and_skills_work_here_and_in_print_mode() {
    let stage = stage();
    write(&stage.path("home/.config/rheon/commands/hello.md"), "Greet $1, see @a.txt.");
    write(
        &stage.path("home/.claude/skills/tidy/SKILL.md"),
        "---\nname: tidy\ndescription: Tidies up\n---\nSweep $ARGUMENTS.\n",
    );
    let mut terminal = Terminal::new(&stage, &[]);
    has(&terminal.say("/help"), &["/hello", "/tidy", "Tidies up", "!COMMAND"]);
    terminal.say("/hello Ada");
    terminal.say("/tidy the desk");
    assert_eq!(terminal.exit(), Some(0));
    for prompt in ["/hello Ada", "/tidy the desk"] {
        assert_eq!(stage.run(&[prompt]).code, Some(0));
    }
    let last = |body: &Value| body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    let sent: Vec<String> = stage.server.requests().iter().map(|request| last(&request.json)).collect();
    for (number, parts) in [(0, ["Greet Ada", "the content"]), (1, ["/tidy the desk", "Sweep the desk."])] {
        has(&sent[number], &parts);
        has(&sent[number + 2], &parts);
    }
    let ran = stage.run(&["/permissions"]);
    has(&ran.stdout, &["mode default"]);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    assert_eq!(stage.run(&["/tmp is full, why?"]).code, Some(0));
    let ran = stage.run(&["/helo Ada"]);
    has(&ran.stderr, &["unknown command /helo; did you mean"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(1)));
}

/// The end of a question.
const ANSWER: &str = "why not › ";

#[test]
fn an_approval_is_answered_by_keys() {
    let stage = calling("write", &json!({ "path": "new.txt", "content": "one\n" }));
    let mut terminal = Terminal::new(&stage, &[]);
    let asked = terminal.answer("go", ANSWER);
    has(&asked, &["Allow write?", "new.txt", "+one", "[y] once", "[e] edit the rule", "[n] no (Enter)"]);
    has(&terminal.answer("maybe", ANSWER), &["unknown answer \"maybe\""]);
    has(&terminal.answer("/status", ANSWER), &["mode default"]);
    assert!(!stage.path("workspace/new.txt").exists());
    has(&terminal.say("ok"), &["Understood."]);
    assert_eq!(std::fs::read_to_string(stage.path("workspace/new.txt")).unwrap(), "one\n");
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn text_after_no_tells_the_model_why() {
    let stage = calling("write", &json!({ "path": "new.txt", "content": "one\n" }));
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.answer("go", ANSWER);
    has(&terminal.say("n use the other file"), &["Understood."]);
    has(&messages(&stage).last().unwrap().to_string(), &["use the other file"]);
    assert!(!stage.path("workspace/new.txt").exists());
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn a_rule_is_edited_before_it_is_added() {
    let stage = calling("bash", &json!({ "command": "printf one > new.txt" }));
    let mut terminal = Terminal::new(&stage, &[]);
    terminal.answer("go", ANSWER);
    terminal.answer("e", "Rule: ");
    terminal.answer("\x15Bash(printf *)", "[s] this session");
    has(&terminal.say("s"), &["Understood."]);
    has(&terminal.say("/permissions"), &["allow  Bash(printf *)"]);
    assert!(stage.path("workspace/new.txt").exists());
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn a_failed_command_shows_why() {
    let lines: String = (0..30).map(|line| format!("echo line {line}; ")).collect();
    let command = format!("echo 'error: boom'; {lines}echo last; exit 3");
    let stage = calling("bash", &json!({ "command": command }));
    let mut terminal = Terminal::new(&stage, &["--allowed-tools", "Bash"]);
    let shown = terminal.say("go");
    has(&shown, &["│ error: boom", "│ line 29", "│ last", "exit code 3", "8 of 32 lines shown"]);
    assert!(!shown.contains("│ line 10"));
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn tab_completes_commands_and_files() {
    let stage = stage();
    let mut terminal = Terminal::new(&stage, &[]);
    has(&terminal.say("/stat\t"), &["mode default"]);
    has(&terminal.say("see @a\tplease"), &["Understood."]);
    assert_eq!(said(&stage), ["see @a.txt please"]);
    assert_eq!(terminal.exit(), Some(0));
}

#[test]
fn commands_about_sessions_take_the_latest() {
    let stage = stage();
    let ran = stage.ran(stage.rheon(&["sessions", "show"]));
    has(&ran.stderr, &["no session in this directory"]);
    stage.run(&["an old prompt"]);
    stage.run(&["a new prompt"]);
    for (command, wanted) in [
        (&["sessions", "show"][..], "a new prompt"),
        (&["sessions", "export"], "a new prompt"),
        (&["sessions", "rewind"], "a new prompt"),
        (&["sessions", "replay"], "without a difference"),
        (&["sessions", "fork"], "-"),
    ] {
        let ran = stage.ran(stage.rheon(command));
        assert_eq!(ran.code, Some(0), "{command:?}: {}", ran.stderr);
        has(&ran.stdout, &[wanted]);
        assert!(!ran.stdout.contains("an old prompt"), "{command:?}");
    }
}

#[test]
fn an_answer_in_print_mode_streams_to_a_terminal() {
    let reply = FakeReply::text("One two three four five").delta_chars(4).with(Fault::StallAfterEvent(5));
    let stage = Stage::new(Script::always(reply));
    let mut terminal = Terminal::at_start(&stage, &["-p", "count"]);
    // The rest never comes.
    terminal.wait_for("One two");
    terminal.child.kill().unwrap();
    terminal.child.wait().unwrap();
}
