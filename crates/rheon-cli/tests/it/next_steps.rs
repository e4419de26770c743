//! What is said when something cannot be done, and what was done: with the words that help to go on.

use expect_test::expect;
use rheon_testkit::server::FakeReply;
use serde_json::json;

use crate::stage::{Stage, write};
use crate::support::Ran;

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

fn run(stage: &Stage, arguments: &[&str]) -> Ran {
    stage.ran(stage.rheon(arguments))
}

/// A session in which a file was written.
fn written() -> Stage {
    let call = FakeReply::call("write", &json!({ "path": "new.txt", "content": "x" }));
    let stage = Stage::new([call, FakeReply::text("It is written.")]);
    let ran = stage.run(&["Write new.txt.", "--session-id", ID, "--permission-mode", "acceptEdits"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("It is written.\n", Some(0)), "{}", ran.stderr);
    stage
}

#[test]
fn a_session_is_shown_with_the_numbers_that_others_take() {
    let stage = written();
    let shown = run(&stage, &["sessions", "show", ID]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let headings: Vec<&str> = shown.stdout.lines().filter(|line| line.contains(" · event ")).collect();
    expect![[r#"
        ## User · event 4
        ## Assistant · event 8
        ### Result: write · event 14
        ## Assistant · event 20"#]]
    .assert_eq(&headings.join("\n"));
    let number = |heading: &str| heading.rsplit(' ').next().unwrap().to_owned();
    let (prompt, last) = (number(headings[0]), number(headings.last().unwrap()));
    let replayed = run(&stage, &["sessions", "replay", ID, "--until", &last]);
    let expected = format!("replayed {last} events of 1 run without a difference");
    assert!(replayed.stdout.starts_with(&expected), "{replayed:?}");

    let planned = run(&stage, &["sessions", "rewind", ID, "--to", &prompt]);
    let done = run(&stage, &["sessions", "rewind", ID, "--to", &prompt, "--yes"]);
    let new_id = done.stdout.trim().to_owned();
    assert_eq!((planned.code, done.code), (Some(2), Some(0)), "{}", done.stderr);
    assert!(!stage.path("workspace/new.txt").exists());
    let listed = run(&stage, &["sessions", "list"]).stdout;
    let new = listed.lines().find(|line| line.starts_with(&new_id)).unwrap();
    assert!(new.ends_with(&format!("continues {ID}")), "{listed}");
    let kept_as = done.stderr.split("--undo ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let undone = run(&stage, &["sessions", "rewind", ID, "--undo", &kept_as]);
    assert!(stage.path("workspace/new.txt").exists());
    // The clock of the file system has to move on for it to know the order of things.
    let modified = |path: &str| {
        std::fs::write(stage.path(path), "mine").unwrap();
        std::fs::metadata(stage.path(path)).unwrap().modified().unwrap()
    };
    let before = modified("clock.txt");
    while modified("workspace/new.txt") <= before {}
    let refused = run(&stage, &["sessions", "rewind", ID, "--undo", &kept_as]);
    let unknown = run(&stage, &["sessions", "rewind", ID, "--undo", "x"]);
    assert_eq!((undone.code, refused.code, unknown.code), (Some(0), Some(1), Some(2)));
    expect![[r#"
        files: 1 restored, 0 removed
          new.txt
        ---
        error: new.txt changed after the session's last call; confirm overwriting it, or save it first; restore them anyway with --overwrite
        ---
        error: unknown id "x" for --undo; the rewind printed it
    "#]]
    .assert_eq(&[undone.stderr, refused.stderr, unknown.stderr].join("---\n"));
    let said = done.stderr.replace(&new_id, "NEW").replace(&kept_as, "KEPT");
    expect![[r#"
        4 messages will be dropped
        files: 0 restored, 0 changed back, 1 removed
          new.txt
        error: not confirmed: use --yes to skip the question
        ---
        4 messages dropped
        files: 0 restored, 1 removed
          new.txt
        to undo: rheon sessions rewind 01890a5d-ac96-774b-bcce-b302099a8057 --undo KEPT
        the conversation continues in a new session: rheon -r NEW
    "#]]
    .assert_eq(&format!("{}---\n{said}", planned.stderr));
}

#[test]
fn a_session_that_is_not_there_and_those_that_are() {
    let stage = written();
    let mut said = String::new();
    for (arguments, code) in [(&["hi", "-r", "zzz"][..], 1), (&["hi", "-r"], 2)] {
        let ran = stage.run(arguments);
        assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(code)));
        said += &ran.stderr;
    }
    expect![[r#"
        error: no such session: "zzz"; the latest one in this directory is 01890a5d-ac96-774b-bcce-b302099a8057; run `rheon sessions list` for all
          1 just now  Write new.txt.  2 turns  $0.0012
        error: -r needs a session here: pass its id or id prefix from `rheon sessions list`, or use -c for the latest
    "#]].assert_eq(&said);
}

#[test]
fn a_memory_that_is_damaged() {
    let stage = Stage::new([FakeReply::text("Hello.")]);
    write(&stage.path("home/.local/share/rheon/memory.db"), &"no database ".repeat(500));
    let ran = run(&stage, &["memory", "list"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(1)));
    expect![[r#"
        error: STAGE/home/.local/share/rheon/memory.db is damaged: file is not a database; move the file away to start a new one
    "#]].assert_eq(&ran.stderr);
    // A session goes on without it.
    let ran = stage.run(&["hi"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Hello.\n", Some(0)), "{}", ran.stderr);
}

#[test]
fn a_dir_that_is_not_there() {
    let stage = Stage::new([FakeReply::text("Hello.")]);
    let said: Vec<String> =
        ["/nope", "a.txt"].iter().map(|dir| stage.run(&["hi", "-C", dir]).stderr).collect();
    expect![[r#"
        error: cannot work in /nope: no such directory
        error: cannot work in a.txt: not a directory
    "#]]
    .assert_eq(&said.concat());
}

#[test]
fn a_program_is_told_where_the_key_comes_from() {
    let stage = Stage::new([FakeReply::text("Hello.")]);
    let ran = stage.run(&["hi", "--output-format", "stream-json", "--verbose"]);
    let init: serde_json::Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (init["subtype"].as_str(), init["apiKeySource"].as_str()),
        (Some("init"), Some("ANTHROPIC_API_KEY"))
    );
}

#[test]
fn models_of_a_local_server_are_listed_where_there_is_no_key() {
    let stage = Stage::new(FakeReply::text("hi"));
    let address = stage.server.url().to_string();
    let ran = |arguments: &[&str], ollama: &str| {
        let mut command = stage.rheon(arguments);
        command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL").env("OLLAMA_HOST", ollama);
        for variable in ["LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"] {
            command.env(variable, "http://127.0.0.1:1");
        }
        let ran = stage.ran(command);
        format!("{:?} {}{}", ran.code, ran.stdout, ran.stderr)
            .replace(address.trim_end_matches('/'), "SERVER")
    };
    let nowhere = "http://127.0.0.1:1";
    let vendors = ran(&["models", "--vendors"], nowhere);
    let ollama = vendors.lines().find(|line| line.starts_with("ollama")).unwrap();
    expect![[r#"
        Some(0) ollama/fake-model
        ollama answers at SERVER/ and serves these models
        Some(1) error: no API key is set and no local server answers; list all models with --all, the key variables with --vendors
        ollama          Ollama                                         0  local  OLLAMA_API_KEY
    "#]].assert_eq(&format!(
        "{}{}{ollama}\n",
        ran(&["models"], &address),
        ran(&["models"], nowhere)
    ));
}
