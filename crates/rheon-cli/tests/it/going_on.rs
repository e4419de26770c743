//! Sessions that go on: the last one, one by its id or the beginning of it, and a fork of one.

use expect_test::expect;
use rheon_testkit::server::{FakeReply, ReplyCondition, Script};
use serde_json::Value;

use crate::stage::Stage;
use crate::support::Ran;

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// The model knows what was said first only if it is told again.
fn stage() -> Stage {
    let knows = FakeReply::text("You said: elephant.").when(ReplyCondition::contains("Remember: elephant."));
    Stage::new(Script::new([
        FakeReply::text("Noted."),
        knows.times(rheon_testkit::server::ReplyCount::Always),
    ]))
}

/// The answer and the session of a run.
fn answer(ran: &Ran) -> (String, String) {
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    (result["result"].as_str().unwrap().to_owned(), result["session_id"].as_str().unwrap().to_owned())
}

fn json(stage: &Stage, arguments: &[&str]) -> Ran {
    stage.run(&[arguments, &["--output-format", "json"]].concat())
}

#[test]
fn a_session_goes_on() {
    let stage = stage();
    let first = json(&stage, &["Remember: elephant.", "--session-id", ID]);
    assert_eq!(answer(&first), ("Noted.".to_owned(), ID.to_owned()));
    for arguments in [&["-c"][..], &["-r", ID], &["-r", "01890a5d"], &["--resume=01890a5d-ac96"]] {
        let ran = json(&stage, &[&["What did I say?"], arguments].concat());
        assert_eq!(answer(&ran), ("You said: elephant.".to_owned(), ID.to_owned()), "{arguments:?}");
    }
}

#[test]
fn a_fork_leaves_the_session_as_it_is() {
    let stage = stage();
    json(&stage, &["Remember: elephant.", "--session-id", ID]);
    let (said, forked) = answer(&json(&stage, &["What did I say?", "-r", ID, "--fork-session"]));
    assert_eq!(said, "You said: elephant.");
    assert_ne!(forked, ID);
    let messages = |number: usize| {
        let request = &stage.server.requests()[number - 1];
        request.json["messages"].as_array().unwrap().len()
    };
    // The fork added nothing to the session itself.
    answer(&json(&stage, &["And now?", "-r", ID]));
    assert_eq!((messages(2), messages(3)), (3, 3));
}

#[test]
fn nothing_to_go_on_with() {
    let stage = stage();
    let mut said = String::new();
    for arguments in [&["-c"][..], &["-c", "--fork-session"], &["-r", ID], &["-r", "0"]] {
        let ran = stage.run(&[&["hi"], arguments].concat());
        assert_eq!(ran.stdout, "");
        said += &format!("{:?} {}", ran.code, ran.stderr);
    }
    expect![[r#"
        Some(1) error: no session to continue in STAGE/workspace; start one with `rheon`, or run `rheon sessions list --all`
        Some(1) error: no session to continue in STAGE/workspace; start one with `rheon`, or run `rheon sessions list --all`
        Some(1) error: no such session: "01890a5d-ac96-774b-bcce-b302099a8057"; run `rheon sessions list --all` to list the sessions of all directories
        Some(1) error: no such session: "0"; run `rheon sessions list --all` to list the sessions of all directories
    "#]].assert_eq(&said);
    assert_eq!(stage.server.requests().len(), 0);
}

#[test]
fn a_session_id_that_is_taken() {
    let stage = stage();
    json(&stage, &["Remember: elephant.", "--session-id", ID]);
    let ran = json(&stage, &["Remember: elephant.", "--session-id", ID]);
    assert_eq!(ran.stdout, "");
    expect![[r#"
        Some(1) error: session 01890a5d-ac96-774b-bcce-b302099a8057 already exists; resume it or choose another id
    "#]].assert_eq(&format!("{:?} {}", ran.code, ran.stderr));
}

#[test]
fn a_session_that_is_not_kept_cannot_go_on() {
    let stage = stage();
    answer(&json(&stage, &["Remember: elephant.", "--no-session-persistence"]));
    assert_ne!(stage.run(&["hi", "-c"]).code, Some(0));
}

#[test]
fn a_session_that_the_index_was_never_told_of_is_listed() {
    let stage = Stage::new(Script::always(FakeReply::text("Noted.")));
    let index = stage.path("home/.local/share/rheon/index.db");
    answer(&json(&stage, &["The first."]));
    let before = std::fs::read(&index).unwrap();
    answer(&json(&stage, &["The second.", "--session-id", ID]));
    // As if the program had been killed before it could tell the index, or the disk had been full.
    std::fs::write(&index, before).unwrap();
    let listed = stage.ran(stage.rheon(&["sessions", "list"]));
    assert_eq!((listed.stderr.as_str(), listed.code), ("", Some(0)));
    assert_eq!(listed.stdout.lines().filter(|line| line.contains("The ")).count(), 2, "{}", listed.stdout);
    assert!(listed.stdout.contains(ID), "{}", listed.stdout);
}

#[test]
fn a_fork_says_its_id_alone_and_how_to_go_on_beside_it() {
    let stage = stage();
    json(&stage, &["Remember: elephant.", "--session-id", ID]);
    let ran = stage.ran(stage.rheon(&["sessions", "fork", ID]));
    let forked = ran.stdout.trim_end().to_owned();
    assert_eq!((ran.stderr, ran.code), (format!("to resume it: rheon -r {forked}\n"), Some(0)));
    let (said, _) = answer(&json(&stage, &["What did I say?", "-r", &forked]));
    assert_eq!(said, "You said: elephant.");
}

#[test]
fn a_session_is_deleted_only_after_confirmation() {
    let stage = stage();
    json(&stage, &["Remember: elephant.", "--session-id", ID]);
    let mut said = String::new();
    for arguments in [&["01890a5d"][..], &["01890a5d", "--yes"]] {
        let ran = stage.ran(stage.rheon(&[&["sessions", "delete"], arguments].concat()));
        // The name of the transcript has the temporary directory in it.
        let told = ran.stderr.lines().filter(|line| !line.starts_with("its Claude Code transcript"));
        said += &format!("{:?} {}{}\n", ran.code, ran.stdout, told.collect::<Vec<_>>().join("\n"));
    }
    expect![[r#"
        Some(2) session 01890a5d-ac96-774b-bcce-b302099a8057 and its checkpoints will be deleted
        error: not confirmed: use --yes to skip the question
        Some(0) deleted 01890a5d-ac96-774b-bcce-b302099a8057
    "#]]
    .assert_eq(&said);
}
