//! Tests of questions for permission.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::event::{ApprovalRequest, Choice, Danger, QueuedChange, Selection, Subject, UserQuestion};
use serde_json::json;

use super::super::page::{Block, Page, Route, TextStyle};
use super::super::rendered_text::Stream;
use super::{Remedy, show};

fn request(subject: Subject, danger: Danger) -> ApprovalRequest {
    ApprovalRequest {
        id: "a1".into(),
        call_id: "c1".into(),
        tool_name: "bash".into(),
        subject,
        reason: "no rule allows it".into(),
        danger,
        child: None,
        suggested_rule: None,
        digest: String::new(),
        offers: Vec::new(),
    }
}

fn shown(request: &ApprovalRequest, colors: bool) -> String {
    let style = TextStyle { colors, columns: 50, wraps: true, formats: colors };
    let mut page = Page::new(style, Route::All(Stream::Stdout));
    page.begin(Block::Question);
    show(request, Remedy::Answer, &mut page);
    page.take().out().replace('\x1b', "␛")
}

fn command(command: &str) -> Subject {
    Subject::Command { command: command.into(), cwd: "/home/me/project".into() }
}

#[test]
fn a_command() {
    let mut request = request(command("rm -rf target &&\n  cargo build"), Danger::Dangerous);
    request.suggested_rule = Some("Bash(cargo build:*)".into());
    expect![[r#"
        Allow bash? · dangerous
          no rule allows it
          │ rm -rf target &&
          │   cargo build
          in /home/me/project
          such calls: Bash(cargo build:*)
    "#]]
    .assert_eq(&shown(&request, false));
    expect![[r#"
        ␛[1mAllow bash?␛[0m ·␛[31m dangerous␛[0m
        ␛[2m  ␛[0mno rule allows it
        ␛[2m  │ ␛[0m␛[1mrm -rf target &&␛[0m
        ␛[2m  │ ␛[0m␛[1m  cargo build␛[0m
        ␛[2m  ␛[0m␛[2min /home/me/project␛[0m
        ␛[2m  ␛[0m␛[2msuch calls: Bash(cargo build:*)␛[0m
    "#]]
    .assert_eq(&shown(&request, true));
}

#[test]
fn several_rules_stand_in_one_line_each_quoted_for_a_shell() {
    let mut request = request(command("git add . && git commit"), Danger::Moderate);
    request.suggested_rule = Some("Bash(git add *)\nBash(it's)".into());
    let last = |request: &ApprovalRequest, remedy| {
        let mut page = Page::new(
            TextStyle { colors: false, columns: 100, wraps: true, formats: false },
            Route::All(Stream::Stdout),
        );
        show(request, remedy, &mut page);
        let shown = page.take().out();
        // Marked, because text that is expected has no indent that all lines share.
        shown.lines().skip(4).map(|line| format!("|{line}\n")).collect::<String>()
    };
    expect![[r#"
        |  such calls: 'Bash(git add *)' 'Bash(it'\''s)'
        |  to allow it: --allowed-tools 'Bash(git add *)' 'Bash(it'\''s)'
    "#]]
    .assert_eq(&(last(&request, Remedy::Answer) + &last(&request, Remedy::Flag)));
    let diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n".into();
    request.subject = Subject::Diff { path: "a".into(), diff };
    request.suggested_rule = Some("Edit(//w/a)".into());
    let inside = last(&request, Remedy::Flag);
    request.danger = Danger::Dangerous;
    expect![[r#"
        |    1 +y
        |  to allow it: --allowed-tools 'Edit(//w/a)'
        |  to allow all edits in the workspace: --permission-mode acceptEdits
        |    1 +y
        |  to allow it: --allowed-tools 'Edit(//w/a)'
        |    1 +y
        |  such calls: Edit(//w/a)
    "#]]
    .assert_eq(&(inside + &last(&request, Remedy::Flag) + &last(&request, Remedy::Answer)));
}

#[test]
fn a_command_is_shown_to_its_end() {
    let hidden = format!("echo ok{}; rm -rf ~", " ".repeat(10_000));
    let lines = format!("echo ok{}rm -rf ~", "\n".repeat(10_000));
    let evil = "echo \x1b[8mhidden\x1b[0m \u{202e}fr- mr\u{2066} a\u{200b}b\rls";
    let long = format!("echo {}; rm -rf ~", "漢字".repeat(60));
    for text in [&hidden, evil, &long] {
        let shown = shown(&request(command(text), Danger::Critical), false);
        assert!(shown.contains("rm -rf ~") || text == evil);
        assert!(shown.lines().all(|line| super::super::text::width(line) <= 50), "{shown}");
    }
    expect![[r#"
        Allow bash? · critical: may cause lasting damage
          no rule allows it
          │ echo ok[10,000 blanks]; rm -rf ~
          in /home/me/project
    "#]]
    .assert_eq(&shown(&request(command(&hidden), Danger::Critical), false));
    expect![[r#"
        Allow bash? · safe
          no rule allows it
          │ echo \u{1b}[8mhidden\u{1b}[0m \u{202e}fr- mr\↩
          │ u{2066} a\u{200b}b\u{d}ls
          in /home/me/project
    "#]]
    .assert_eq(&shown(&request(command(evil), Danger::Safe), false));
    expect![[r#"
        Allow bash? · changes the workspace
          no rule allows it
          │ echo 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字↩
          │ 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字↩
          │ 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字↩
          │ 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字↩
          │ 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字↩
          │ 漢字漢字漢字漢字漢字漢字; rm -rf ~
          in /home/me/project
    "#]]
    .assert_eq(&shown(&request(command(&long), Danger::Moderate), false));
    let shown = shown(&request(command(&lines), Danger::Moderate), false);
    assert!(shown.lines().count() < 40 && shown.contains("rm -rf ~"), "{shown}");
}

#[test]
fn a_change_is_shown_whole() {
    let added: String = (0..300).map(|number| format!("+line {number}\n")).collect();
    let diff = format!("--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1,300 @@\n{added}");
    let request = request(Subject::Diff { path: "new.rs".into(), diff }, Danger::Moderate);
    let shown = shown(&request, false);
    assert_eq!(shown.lines().filter(|line| line.contains("+line")).count(), 300);
    assert!(shown.contains("\n  300 +line 299\n"), "{shown}");
}

#[test]
fn other_subjects() {
    let arguments = Arc::new(json!({ "url": "https://example.org", "deep": { "list": [1, 2] } }));
    let question = UserQuestion {
        text: "Which database?".into(),
        choices: vec![
            Choice { label: "SQLite".into(), description: "one file".into() },
            Choice { label: "Postgres".into(), description: String::new() },
        ],
        selection: Selection::One,
    };
    let change = QueuedChange {
        call_id: "c2".into(),
        tool_name: "write".into(),
        arguments: Arc::new(json!({ "path": "a" })),
        summary: "writes a".into(),
    };
    let edit =
        json!({ "path": "b", "edits": [{ "old_string": "x\ny", "new_string": "z", "replace_all": true }] });
    let edit = QueuedChange {
        call_id: "c3".into(),
        tool_name: "edit".into(),
        arguments: Arc::new(edit),
        summary: "changes b".into(),
    };
    let subjects = [
        Subject::Arguments { arguments },
        Subject::Questions { questions: vec![question] },
        Subject::Plan { plan: "# Plan\n\n1. write `a`".into(), changes: vec![change, edit] },
    ];
    let all: Vec<String> =
        subjects.into_iter().map(|subject| shown(&request(subject, Danger::Moderate), false)).collect();
    expect![[r#"
        Allow bash? · changes the workspace
          no rule allows it
          │ {
          │   "deep": {
          │     "list": [
          │       1,
          │       2
          │     ]
          │   },
          │   "url": "https://example.org"
          │ }
        ----
        bash asks you
          no rule allows it
          Which database?
          1. SQLite: one file
          2. Postgres
          choose one, or type your own answer
        ----
        Carry out this plan? · changes the workspace
          no rule allows it
          │ # Plan
          │ 
          │ 1. write `a`
          write: writes a
          │ {
          │   "path": "a"
          │ }
          edit: changes b
          │ b
          │ every occurrence of
          │ -x
          │ -y
          │ +z
    "#]]
    .assert_eq(&all.join("----\n"));
}

#[test]
fn a_child_is_named_before_its_tool() {
    let mut request = request(command("ls"), Danger::Safe);
    request.child = Some("reviewer\u{202e} > tester\n".into());
    expect![[r#"
        reviewer\u{202e} > tester\n: Allow bash? · safe
          no rule allows it
          │ ls
          in /home/me/project
    "#]]
    .assert_eq(&shown(&request, false));
}
