//! Reads transcripts as Claude Code writes them, and damaged ones.

use std::io::{self, BufReader, Read};

use expect_test::expect;
use rheon_types::{MicroUsd, Timestamp};
use serde_json::{Value, json};

use super::super::fixtures::{SESSION, answer, call, file, read, result, show, shown, text, user, with};
use super::{LineIssue, LinePosition, Transcript, UNRECOGNIZED_LINES_MAX, UnrecognizedLine};
use crate::claude::{Repairs, TranscriptFacts};

#[test]
fn an_answer_is_assembled_from_its_blocks() {
    let lines = [
        user("u", None, "Fix it"),
        answer("a1", Some("u"), "m", json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"})),
        answer("a2", Some("a1"), "m", json!({"type": "redacted_thinking", "data": "xx"})),
        answer("a3", Some("a2"), "m", text("I will.")),
        answer("a4", Some("a3"), "m", call("t1")),
        result(
            "r1",
            Some("a4"),
            "t1",
            json!([
                text("see"),
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aWI="}},
            ]),
        ),
        answer("a5", Some("r1"), "n", text("Done.")),
    ];
    expect![[r#"
        user: "Fix it"
        assistant (ToolUse): thinking "hm" signed Some("Proof c2ln anthropic/claude-test") + thinking "" signed Some("Redacted xx anthropic/claude-test") + "I will." + call t1 Bash {"command":"true"}
        result of Bash t1: "see" + image image/png aWI=
        assistant (Stop): "Done."
    "#]]
    .assert_eq(&shown(&lines));
    let transcript = read(&file(&lines));
    let usage = transcript.messages()[1].as_assistant().unwrap().usage;
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (7, 3, 2, 1));
    assert_eq!(transcript.entries()[1].uuids, ["a1", "a2", "a3", "a4"]);
    assert_eq!((transcript.tip(), transcript.repairs()), (Some("a5"), Repairs::default()));
}

#[test]
fn results_of_parallel_tools_are_joined_in_file_order() {
    let lines = [
        user("u", None, "go"),
        answer("a1", Some("u"), "m", call("t1")),
        answer("a2", Some("a1"), "m", call("t2")),
        result("r2", Some("a2"), "t2", json!("two")),
        result("r1", Some("a1"), "t1", json!("one")),
        answer("b", Some("r1"), "n", text("Done.")),
    ];
    expect![[r#"
        user: "go"
        assistant (ToolUse): call t1 Bash {"command":"true"} + call t2 Bash {"command":"true"}
        result of Bash t2: "two"
        result of Bash t1: "one"
        assistant (Stop): "Done."
    "#]]
    .assert_eq(&shown(&lines));
    // The same if it ends there, and if results were written before the answer was complete.
    assert_eq!(read(&file(&lines[..5])).messages(), read(&file(&lines)).messages()[..4]);
    let early = [
        user("u", None, "go"),
        answer("a1", Some("u"), "m", call("t1")),
        result("r1", Some("a1"), "t1", json!("one")),
        answer("a2", Some("r1"), "m", call("t2")),
        result("r2", Some("a2"), "t2", json!("two")),
    ];
    expect![[r#"
        user: "go"
        assistant (ToolUse): call t1 Bash {"command":"true"} + call t2 Bash {"command":"true"}
        result of Bash t1: "one"
        result of Bash t2: "two"
    "#]]
    .assert_eq(&shown(&early));
}

#[test]
fn answers_are_separated_even_if_all_have_the_same_id() {
    let lines = [
        user("u", None, "one"),
        answer("a", Some("u"), "m", text("1")),
        user("v", Some("a"), "two"),
        answer("b", Some("v"), "m", text("2")),
    ];
    assert_eq!(
        shown(&lines),
        "user: \"one\"\nassistant (Stop): \"1\"\nuser: \"two\"\nassistant (Stop): \"2\"\n"
    );
}

#[test]
fn the_branch_written_last_counts_regardless_of_timestamps() {
    let lines = [
        user("u", None, "root"),
        with(answer("a", Some("u"), "m", text("old")), "timestamp", json!("2026-12-01T00:00:00.000Z")),
        user("v", Some("u"), "again"),
        answer("b", Some("v"), "n", text("new")),
    ];
    assert_eq!(shown(&lines), "user: \"root\"\nuser: \"again\"\nassistant (Stop): \"new\"\n");
}

#[test]
fn parents_decide_the_order_not_lines() {
    let mut lines = vec![
        user("u", None, "one"),
        answer("a", Some("u"), "m", text("1")),
        user("v", Some("a"), "two"),
        answer("b", Some("v"), "n", text("2")),
    ];
    let expected = shown(&lines);
    lines.swap(0, 3);
    lines.swap(1, 2);
    assert_eq!(shown(&lines), expected);
}

#[test]
fn an_unknown_parent_is_the_preceding_entry_and_none_starts_a_root() {
    let lines = |parent: Option<&str>| {
        shown(&[user("u", None, "one"), answer("a", Some("u"), "m", text("1")), user("v", parent, "two")])
    };
    assert_eq!(lines(Some("lost")), "user: \"one\"\nassistant (Stop): \"1\"\nuser: \"two\"\n");
    assert_eq!(lines(None), "user: \"two\"\n");
}

#[test]
fn cyclic_parents_terminate() {
    let lines = [user("u", Some("v"), "one"), user("v", Some("u"), "two"), user("w", Some("w"), "self")];
    assert_eq!(shown(&lines[..2]), "user: \"one\"\nuser: \"two\"\n");
    assert_eq!(shown(&lines[2..]), "user: \"self\"\n");
}

#[test]
fn sub_agents_and_environment_are_ignored_and_user_attachments_stay() {
    let attachment = |uuid: &str, parent: &str, kind: &str, words: &str| {
        let entry = with(user(uuid, Some(parent), ""), "type", json!("attachment"));
        let mode = if kind == "queued_command" { "prompt" } else { "other" };
        let entry = with(entry, "attachment", json!({"type": kind, "prompt": words, "commandMode": mode}));
        with(entry, "rendered", json!([{"content": format!("<system-reminder>{words}")}]))
    };
    let lines = [
        user("u", None, "one"),
        attachment("x", "u", "skill_listing", "skills"),
        attachment("f", "x", "file", "content"),
        attachment("y", "f", "queued_command", "and quickly"),
        with(user("s", Some("y"), "sub-agent"), "isSidechain", json!(true)),
        with(user("m", Some("y"), "caveat"), "isMeta", json!(true)),
        answer("a", Some("m"), "n", text("1")),
    ];
    assert_eq!(
        shown(&lines),
        "user: \"one\"\nnote: \"<system-reminder>content\"\nuser: \"and quickly\"\nnote: \"caveat\"\nassistant (Stop): \"1\"\n"
    );
}

#[test]
fn after_a_compaction_the_conversation_is_summary_preserved_and_later_messages() {
    let boundary = |parent: Option<&str>, kept: &[&str]| {
        let entry = with(user("c", parent, ""), "type", json!("system"));
        let entry = with(entry, "subtype", json!("compact_boundary"));
        let kept = json!({"preservedMessages": {"anchorUuid": "s", "uuids": kept, "allUuids": kept}});
        with(entry, "compactMetadata", kept)
    };
    let summary = |parent: Option<&str>| with(user("s", parent, "Summary"), "isCompactSummary", json!(true));
    let before = [user("u", None, "one"), answer("a", Some("u"), "m", text("1"))];
    let after = user("v", Some("s"), "two");
    let conversation =
        |middle: &[serde_json::Value]| shown(&[&before, middle, std::slice::from_ref(&after)].concat());
    let cut = "note: \"Summary\"\nuser: \"two\"\n";
    assert_eq!(conversation(&[boundary(None, &[]), summary(Some("c"))]), cut);
    assert_eq!(conversation(&[boundary(Some("a"), &[]), summary(Some("c"))]), cut);
    assert_eq!(conversation(&[summary(None)]), cut);
    assert_eq!(
        conversation(&[boundary(None, &["a"]), summary(Some("c"))]),
        "note: \"Summary\"\nassistant (Stop): \"1\"\nuser: \"two\"\n"
    );
}

#[test]
fn a_call_without_result_gets_one_and_a_result_without_call_is_dropped() {
    let lines = [
        user("u", None, "go"),
        result("o", Some("u"), "t0", json!("orphan")),
        answer("a1", Some("o"), "m", call("t1")),
        answer("a2", Some("a1"), "m", call("t2")),
        result("r2", Some("a2"), "t2", json!("two")),
        result("d2", Some("a2"), "t2", json!("twice")),
        user("v", Some("d2"), "and?"),
    ];
    expect![[r#"
        user: "go"
        assistant (ToolUse): call t1 Bash {"command":"true"} + call t2 Bash {"command":"true"}
        result of Bash t2: "two"
        result of Bash t1 error: "[Tool call interrupted: the session ended before the result of this call was recorded, so its outcome is unknown. It may have run in part or in full. Check before you repeat it.]"
        user: "and?"
    "#]]
    .assert_eq(&shown(&lines));
    let repairs = read(&file(&lines)).repairs();
    assert_eq!(repairs, Repairs { calls_without_result: 1, results_without_call: 2 });
}

#[test]
fn stray_results_are_moved_to_their_calls() {
    let mut later = result("r1", Some("v"), "t1", json!("one"));
    later["sourceToolAssistantUUID"] = json!(null);
    later["message"]["content"].as_array_mut().unwrap().push(text("said with it"));
    let lines = [
        user("u", None, "go"),
        answer("a1", Some("u"), "m", call("t1")),
        user("v", Some("a1"), "hurry"),
        later,
    ];
    expect![[r#"
        user: "go"
        assistant (ToolUse): call t1 Bash {"command":"true"}
        result of Bash t1: "one"
        user: "hurry"
        user: "said with it"
    "#]]
    .assert_eq(&shown(&lines));
}

#[test]
fn tombstones_delete_entries_in_every_spelling() {
    let lines = [
        user("u", None, "one"),
        answer("a", Some("u"), "m", text("secret")),
        user("v", Some("a"), "two"),
        answer("b", Some("v"), "n", text("2")),
    ];
    let spellings = [
        json!({"type": "tombstone", "tombstoneUuids": ["a"]}),
        json!({"type": "tombstone", "uuid": "a"}),
        json!({"type": "tombstone", "targetUuid": "a"}),
        json!({"type": "tombstone", "uuids": ["a", "nobody"]}),
        json!({"type": "tombstone", "message": {"uuid": "a"}}),
    ];
    for tombstone in spellings {
        let lines: Vec<_> = lines.iter().cloned().chain([tombstone]).collect();
        assert_eq!(shown(&lines), "user: \"one\"\nuser: \"two\"\nassistant (Stop): \"2\"\n");
    }
    let end = json!({"type": "tombstone", "tombstoneUuids": ["v", "b"]});
    let transcript = read(&file(&[&lines[..], &[end]].concat()));
    assert_eq!(show(&transcript.messages()), "user: \"one\"\nassistant (Stop): \"secret\"\n");
    assert_eq!(transcript.tip(), Some("a"));
}

#[test]
fn an_error_of_the_service_is_an_answer_that_failed() {
    let lines = [
        user("u", None, "one"),
        with(answer("a", Some("u"), "m", text("API Error: 500")), "isApiErrorMessage", json!(true)),
    ];
    assert_eq!(shown(&lines), "user: \"one\"\nassistant (Error):  error: API Error: 500\n");
}

#[test]
fn unrecognized_lines_are_reported_with_their_position_and_harmless() {
    let long = format!("{{\"type\":\"user\",\"x\":\"{}\"}}", "x".repeat(1_000));
    let good = [user("u", None, "one"), answer("a", Some("u"), "m", json!({"type": "server_tool_use"}))];
    let text = format!(
        "garbage\n{}\n\n{{\"type\":\"novelty\",\"x\":1}}\n{long}\n{{\"type\":\"user\",\"uuid\":\"w\"}}\n\
         {{\"type\":\"mode\",\"mode\":\"normal\"}}\n{}\n{{\"type\":\"us",
        good[0], good[1]
    );
    let transcript = Transcript::read_with(text.as_bytes(), 900).unwrap();
    let odd: Vec<(u64, LineIssue)> =
        transcript.unrecognized_lines().iter().map(|odd| (odd.position.number, odd.issue.clone())).collect();
    assert_eq!(
        odd,
        [
            (1, LineIssue::Garbage),
            (4, LineIssue::UnknownType("novelty".to_owned())),
            (5, LineIssue::TooLong),
            (6, LineIssue::Incomplete("user".to_owned())),
            (8, LineIssue::UnreadBlocks(vec!["server_tool_use".to_owned()])),
            (9, LineIssue::Garbage),
        ]
    );
    for UnrecognizedLine { position: LinePosition { offset, bytes, .. }, .. } in
        transcript.unrecognized_lines()
    {
        let (start, length) = (usize::try_from(*offset).unwrap(), usize::try_from(*bytes).unwrap());
        assert!(start == 0 || text.as_bytes()[start - 1] == b'\n');
        assert!(text.as_bytes().get(start + length).is_none_or(|next| *next == b'\n'));
    }
    assert_eq!(show(&transcript.messages()), "user: \"one\"\nassistant (Stop): \n");
}

#[test]
fn unrecognized_lines_over_the_limit_are_counted() {
    let transcript = read(&"?\n".repeat(UNRECOGNIZED_LINES_MAX + 5));
    assert_eq!(
        (transcript.unrecognized_lines().len(), transcript.unrecognized_lines_count()),
        (UNRECOGNIZED_LINES_MAX, UNRECOGNIZED_LINES_MAX + 5)
    );
}

#[test]
fn a_transcript_has_a_title_and_other_facts() {
    let mut lines = vec![
        json!({"type": "queue-operation", "sessionId": SESSION}),
        with(user("m", None, "caveat"), "isMeta", json!(true)),
        user("u", Some("m"), "  Fix\n the\tbug \u{1b}[31m  "),
        with(answer("a", Some("u"), "n", text("1")), "timestamp", json!("2026-11-14T23:51:35.712Z")),
        json!({"type": "cost-state", "sessionId": SESSION, "totalCostUSD": 0.001_8}),
        json!({"type": "last-prompt", "lastPrompt": "later"}),
    ];
    let facts = TranscriptFacts {
        is_by_rheon: false,
        session_id: Some(SESSION.to_owned()),
        cwd: Some("/home/dev/project".to_owned()),
        git_branch: Some("main".to_owned()),
        version: Some("2.1.325".to_owned()),
        model: Some("claude-test".to_owned()),
        title: Some("Fix the bug [31m".to_owned()),
        first_prompt: Some("Fix the bug [31m".to_owned()),
        first_at: read(&file(&lines[..2])).facts().first_at,
        last_at: Some(Timestamp::from_millis(1_794_700_295_712)),
        cost: Some(MicroUsd(1_800)),
    };
    assert_eq!(read(&file(&lines)).facts(), &facts);
    lines.push(json!({"type": "ai-title", "aiTitle": "A bug"}));
    assert_eq!(read(&file(&lines)).facts().title.as_deref(), Some("A bug"));
    lines.insert(0, json!({"type": "custom-title", "customTitle": "Mine"}));
    assert_eq!(read(&file(&lines)).facts().title.as_deref(), Some("Mine"));
}

#[test]
fn reading_fails_only_if_the_reader_fails() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let text = file(&[user("u", None, "one")]);
    let error = Transcript::read(BufReader::new(text.as_bytes().chain(Broken))).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the transcript after line 1: the disk is gone");
}

#[test]
fn a_title_at_the_end_of_a_fork_is_not_the_end_of_the_conversation() {
    // As `fork_session` of the SDK writes it: copied entries, then entries with a uuid that are no messages.
    let copied = |entry: Value, from: &str| {
        let from = json!({"sessionId": "another", "messageUuid": from});
        with(entry, "forkedFrom", from)
    };
    let lines = file(&[
        copied(user("n1", None, "go"), "o1"),
        copied(answer("n2", Some("n1"), "m", text("Done.")), "o2"),
        json!({"type": "content-replacement", "sessionId": "f", "replacements": [], "uuid": "n3", "timestamp": "2026-11-14T20:00:00.000Z"}),
        json!({"type": "custom-title", "sessionId": "f", "customTitle": "go (fork)", "uuid": "n4", "timestamp": "2026-11-14T20:00:00.000Z"}),
    ]);
    let transcript = read(&lines);
    assert_eq!(show(&transcript.messages()), "user: \"go\"\nassistant (Stop): \"Done.\"\n");
    assert_eq!((transcript.tip(), transcript.facts().title.as_deref()), (Some("n2"), Some("go (fork)")));
    // One that names a parent does not hide the parent either, and connects what follows it.
    let linked =
        |parent: &str| json!({"type": "progress", "uuid": "p", "parentUuid": parent, "sessionId": "f"});
    let lines = file(&[
        user("n1", None, "go"),
        linked("n1"),
        answer("n2", Some("p"), "m", text("Done.")),
        json!({"type": "tag", "uuid": "t", "parentUuid": "n2"}),
    ]);
    assert_eq!(show(&read(&lines).messages()), "user: \"go\"\nassistant (Stop): \"Done.\"\n");
}

#[test]
fn a_fork_keeps_what_a_compaction_preserved() {
    let copied = |entry: Value, from: &str| {
        with(entry, "forkedFrom", json!({"sessionId": "another", "messageUuid": from}))
    };
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "uuid": "n3", "parentUuid": null,
        "compactMetadata": {"preservedMessages": {"uuids": ["o2"], "allUuids": ["o2"]}},
    });
    let summary = with(user("n4", Some("n3"), "They asked."), "isCompactSummary", json!(true));
    let lines = file(&[
        copied(user("n1", None, "go"), "o1"),
        copied(answer("n2", Some("n1"), "m", text("Done.")), "o2"),
        copied(boundary, "o3"),
        copied(summary, "o4"),
        copied(user("n5", Some("n4"), "on"), "o5"),
    ]);
    assert_eq!(
        show(&read(&lines).messages()),
        "note: \"They asked.\"\nassistant (Stop): \"Done.\"\nuser: \"on\"\n"
    );
}
