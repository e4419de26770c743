//! Journals that earlier versions wrote, kept in `tests/journals`: shown, resumed, and continued in the same file.

use expect_test::expect;
use rheon_testkit::server::{FakeReply, ReplyCondition, Script};
use serde_json::Value;

use crate::stage::Stage;

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Written by the program when events carried a `loop_id`: thinking, a read, an edit, a denied command, two runs.
const BEFORE_RUN_IDS: &str = include_str!("../journals/before-runs-had-ids.jsonl");

/// A message of a request: its role and the kinds of its parts.
fn outline(message: &Value) -> String {
    let kinds: Vec<&str> = match &message["content"] {
        Value::Array(parts) => parts.iter().map(|part| part["type"].as_str().unwrap()).collect(),
        _ => vec!["text"],
    };
    format!("{}: {}\n", message["role"].as_str().unwrap(), kinds.join(", "))
}

#[test]
fn a_journal_of_before_runs_had_ids_is_resumed() {
    let knows = FakeReply::text("You said: elephant.").when(ReplyCondition::contains("Remember: elephant."));
    let stage = Stage::new(Script::new([knows, FakeReply::text("Hello.")]));
    // The first run makes the directory of the project.
    assert_eq!(stage.run(&["Hello"]).stdout, "Hello.\n");
    let projects = stage.path("home/.local/share/rheon/sessions/projects");
    let project = std::fs::read_dir(projects).unwrap().next().unwrap().unwrap().path();
    let journal = project.join(format!("{ID}.jsonl"));
    std::fs::write(&journal, BEFORE_RUN_IDS).unwrap();

    let shown = stage.ran(stage.rheon(&["sessions", "show", ID]));
    assert_eq!((shown.stderr.as_str(), shown.code), ("", Some(0)));
    let headings: String = shown
        .stdout
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.to_owned() + "\n")
        .collect();
    expect![[r#"
        # Session
        ## User · event 4
        ## Assistant · event 8
        ### Call: read
        ### Result: read · event 13
        ## Assistant · event 19
        ### Call: edit
        ### Result: edit · event 25
        ## Assistant · event 31
        ### Call: bash
        ### Result: bash (error) · event 37
        ## Assistant · event 43
        ## User · event 50
        ## Assistant · event 54
    "#]]
    .assert_eq(&headings);

    let resumed = stage.run(&["What did I say?", "-r", "01890a5d"]);
    assert_eq!((resumed.stdout.as_str(), resumed.code), ("You said: elephant.\n", Some(0)));
    let messages = stage.server.requests()[1].json["messages"].clone();
    let outlines: String = messages.as_array().unwrap().iter().map(outline).collect();
    expect![[r#"
        user: text
        assistant: thinking, text, tool_use
        user: tool_result
        assistant: text, tool_use
        user: tool_result
        assistant: text, tool_use
        user: tool_result
        assistant: text
        user: text
        assistant: text
        user: text
    "#]]
    .assert_eq(&outlines);

    let continued = std::fs::read_to_string(&journal).unwrap();
    let added = continued.strip_prefix(BEFORE_RUN_IDS).expect("the old lines stay as they are");
    assert!(!added.contains("loop_id"));
    assert!(added.contains(r#""run_id":"#));
}
