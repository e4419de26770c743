//! Hooks of the user in a whole session, with what each of them reads.

use rheon_testkit::server::FakeReply;
use serde_json::{Value, json};

use crate::stage::{Stage, write};

/// A stage whose user has hooks for these events. Each writes what it reads to `events` of the home directory.
fn stage(replies: Vec<FakeReply>, events: &[&str]) -> Stage {
    let stage = Stage::new(replies);
    let log = stage.path("home/events");
    let hook = json!({ "type": "command", "command": format!("cat >> {}", log.display()) });
    let hooks: Value =
        events.iter().map(|event| ((*event).to_owned(), json!([{ "hooks": [hook] }]))).collect();
    write(&stage.path("home/.claude/settings.json"), &json!({ "hooks": hooks }).to_string());
    stage
}

/// What the hooks read.
fn events(stage: &Stage) -> Vec<Value> {
    let text = std::fs::read_to_string(stage.path("home/events")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["hook_event_name"].as_str()).collect()
}

const EVENTS: [&str; 11] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PostCompact",
    "Stop",
    "StopFailure",
    "SessionEnd",
    "Notification",
];

#[test]
fn hooks_of_the_user_see_the_whole_session() {
    let fails = FakeReply::call("bash", &json!({ "command": "echo out; echo err >&2; exit 3" }));
    let replies = vec![fails, FakeReply::text("It failed."), FakeReply::text("The build fails.")];
    let stage = stage(replies, &EVENTS);
    let ran = stage.run(&["Build it.", "--allowed-tools", "Bash"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let seen = events(&stage);
    let expected =
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure", "Stop", "SessionEnd"];
    assert_eq!(names(&seen), expected);
    let failure = &seen[3];
    assert_eq!(failure["error"], "Exit code 3\nout\nerr");
    assert_eq!((&failure["exit_code"], &failure["tool_response"]["stdout"]), (&json!(3), &json!("out\nerr")));
    let transcript = seen[0]["transcript_path"].as_str().unwrap();
    assert!(transcript.ends_with(".jsonl") && std::path::Path::new(transcript).exists(), "{transcript}");
    assert!(transcript.contains("/.claude/projects/"), "{transcript}");
    for event in &seen {
        assert_eq!(
            (&event["model"], &event["transcript_path"]),
            (&json!("claude-sonnet-4-5"), &json!(transcript))
        );
        assert_eq!(event["prompt_id"], seen[1]["prompt_id"]);
    }
    assert!(seen[1]["prompt_id"].is_string());

    std::fs::remove_file(stage.path("home/events")).unwrap();
    let ran = stage.run(&["-c", "/compact keep the error"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let seen = events(&stage);
    assert_eq!(names(&seen), ["PreCompact", "PostCompact", "SessionStart", "SessionEnd"]);
    assert_eq!(
        (&seen[0]["trigger"], &seen[0]["custom_instructions"]),
        (&json!("manual"), &json!("keep the error"))
    );
    assert!(seen[1]["compact_summary"].as_str().unwrap().contains("The build fails."), "{}", seen[1]);
    assert_eq!(seen[2]["source"], "compact");
}

#[test]
fn hooks_of_events_that_never_happen_give_a_notice() {
    let stage = stage(vec![FakeReply::text("Hi.")], &["SubagentStop", "WorktreeCreate", "Stop"]);
    let ran = stage.run(&["hi"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Hi.\n", Some(0)), "{}", ran.stderr);
    for told in [
        "hooks for SubagentStop do not run yet: sessions start no sub-agents",
        "hooks for WorktreeCreate never run: Rheon does not support this event",
    ] {
        assert_eq!(ran.stderr.matches(told).count(), 1, "{}", ran.stderr);
    }
    assert_eq!(names(&events(&stage)), ["Stop"]);
}

#[test]
fn a_hook_that_blocks_a_compaction_says_why() {
    let stage = Stage::new(vec![FakeReply::text("Hi."), FakeReply::text("Summary.")]);
    let hook = json!({ "type": "command", "command": "echo finish first >&2; exit 2" });
    let hooks = json!({ "hooks": { "PreCompact": [{ "hooks": [hook] }] } });
    write(&stage.path("home/.claude/settings.json"), &hooks.to_string());
    assert_eq!(stage.run(&["hi"]).code, Some(0));
    let ran = stage.run(&["-c", "/compact"]);
    assert!(ran.stderr.contains("a hook stopped the run: finish first"), "{}", ran.stderr);
    assert_eq!(stage.server.requests().len(), 1);
}
