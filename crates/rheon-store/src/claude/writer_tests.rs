//! Writes new transcripts and continues existing ones.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use rheon_testkit::CountingRandom;
use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, ChildEvent, Content, ContextEvent, ContinuationKind, Event,
    LlmMessage, Message, MessageEvent, RunEvent, Signature, SignatureKind, StopReason, Timestamp, ToolCall,
    ToolResultMessage, TurnEvent, TurnId, Usage,
};
use serde_json::{Value, json};

use super::super::fixtures::{self, SESSION, show};
use super::{TranscriptLocation, TranscriptWriter};
use crate::claude::{LINE_BYTES_MAX, Transcript, project_dir_name};

fn place(dir: &Path) -> TranscriptLocation {
    TranscriptLocation {
        projects_dir: dir.join("projects"),
        cwd: "/nowhere/project".into(),
        session_id: SESSION.into(),
        git_branch: Some("main".to_owned()),
    }
}

fn open(dir: &Path) -> TranscriptWriter {
    TranscriptWriter::open(place(dir), Arc::new(CountingRandom::default())).unwrap()
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_millis(1_794_700_000_000 + second * 1_000)
}

fn event(kind: AgentEvent) -> Event {
    Event { seq: 1, at: at(9), session_id: SESSION.into(), run_id: Some("loop".into()), kind }
}

fn said(message: Message) -> Event {
    event(AgentEvent::Message(MessageEvent::End { message: Arc::new(message.into()) }))
}

fn call(id: &str) -> Content {
    let arguments = Arc::new(json!({"path": "x"}));
    Content::ToolCall(ToolCall { id: id.into(), name: "read".into(), arguments, malformed: None })
}

fn answer(content: Vec<Content>, stop_reason: StopReason) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        stop_reason,
        model: "claude-test".to_owned(),
        provider: "anthropic".to_owned(),
        usage: Usage { input: 7, output: 3, cache_read: 2, cache_write: 1, total_tokens: 0 },
        timestamp: at(2),
        error_message: None,
    })
}

fn result(id: &str, text: &str) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content: vec![text.into()],
        is_error: false,
        timestamp: at(3),
    })
}

fn conversation(dir: &Path) -> String {
    show(&Transcript::open(open(dir).path()).unwrap().messages())
}

/// The lines in short form: how entries are attached and what Claude Code reads.
fn skeleton(path: &Path) -> String {
    let short = |uuid: &Value| uuid.as_str().map_or("-".to_owned(), |uuid| uuid.chars().skip(24).collect());
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let content = value["message"]["content"].to_string();
        format!(
            "{} {} <- {}: {content}\n",
            value["type"].as_str().unwrap(),
            short(&value["uuid"]),
            short(&value["parentUuid"])
        )
    };
    fs::read_to_string(path).unwrap().lines().map(line).collect()
}

#[test]
fn an_entry_has_all_envelope_fields_of_claude_code() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let message = Message::user("Fix it", at(1));
    let turn_id = Some(TurnId { run_id: "loop".into(), index: 0 });
    let message = Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id }));
    writer.record(&event(AgentEvent::Message(MessageEvent::End { message }))).unwrap();
    writer.record(&said(answer(vec!["Done.".into()], StopReason::Stop))).unwrap();
    expect![[r#"
        {"cwd":"/nowhere/project",
         "entrypoint":"rheon",
         "gitBranch":"main",
         "isSidechain":false,
         "message":{"content":"Fix it",
         "role":"user"},
         "parentUuid":null,
         "rheon":{"turn_id":{"index":0,
         "run_id":"loop"}},
         "sessionId":"11111111-2222-4333-8444-555555555555",
         "timestamp":"2026-11-14T23:46:41.000Z",
         "type":"user",
         "userType":"external",
         "uuid":"00000000-0000-4000-8000-000000000001",
         "version":"2.1.325"}
        {"apiBlockIndex":0,
         "cwd":"/nowhere/project",
         "entrypoint":"rheon",
         "gitBranch":"main",
         "isSidechain":false,
         "madeBy":"model",
         "message":{"content":[{"text":"Done.",
         "type":"text"}],
         "id":"msg_00000000000040028000000000000003",
         "model":"claude-test",
         "role":"assistant",
         "stop_reason":"end_turn",
         "stop_sequence":null,
         "type":"message",
         "usage":{"cache_creation_input_tokens":1,
         "cache_read_input_tokens":2,
         "input_tokens":7,
         "output_tokens":3}},
         "parentUuid":"00000000-0000-4000-8000-000000000001",
         "rheon":{"answer":{"provider":"anthropic",
         "stop_reason":"stop"}},
         "sessionId":"11111111-2222-4333-8444-555555555555",
         "timestamp":"2026-11-14T23:46:42.000Z",
         "type":"assistant",
         "userType":"external",
         "uuid":"00000000-0000-4004-8000-000000000005",
         "version":"2.1.325"}
    "#]]
    .assert_eq(&fs::read_to_string(writer.path()).unwrap().replace(",\"", ",\n \""));
}

#[test]
fn an_answer_is_one_entry_per_block_and_a_result_is_attached_to_its_call() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let signature = |origin: &str| {
        let (data, origin) = ("sig".to_owned(), origin.to_owned());
        Some(Signature { data, kind: SignatureKind::Proof, id: None, origin })
    };
    let thinking = |origin| Content::Thinking { thinking: "hm".to_owned(), signature: signature(origin) };
    let blocks = vec![
        thinking("anthropic/claude-test"),
        thinking("openai/gpt"),
        call("t1"),
        call("odd id"),
        Content::text(" "),
    ];
    for message in [
        Message::user("go", at(1)),
        answer(blocks, StopReason::ToolUse),
        result("odd id", "two"),
        result("t1", "one"),
        answer(vec!["Done.".into()], StopReason::Stop),
    ] {
        writer.record(&said(message)).unwrap();
    }
    expect![[r#"
        user 000000000001 <- -: "go"
        assistant 000000000005 <- 000000000001: [{"signature":"sig","thinking":"hm","type":"thinking"}]
        assistant 000000000007 <- 000000000005: [{"id":"t1","input":{"path":"x"},"name":"read","type":"tool_use"}]
        assistant 000000000009 <- 000000000007: [{"id":"call_4acbe2252fb5539c2c7503df","input":{"path":"x"},"name":"read","type":"tool_use"}]
        user 00000000000b <- 000000000009: [{"content":"two","is_error":false,"tool_use_id":"call_4acbe2252fb5539c2c7503df","type":"tool_result"}]
        user 00000000000d <- 000000000007: [{"content":"one","is_error":false,"tool_use_id":"t1","type":"tool_result"}]
        assistant 000000000011 <- 00000000000d: [{"text":"Done.","type":"text"}]
    "#]]
    .assert_eq(&skeleton(writer.path()));
    expect![[r#"
        user: "go"
        assistant (ToolUse): thinking "hm" signed Some("Proof sig anthropic/claude-test") + thinking "hm" signed Some("Proof sig openai/gpt") + call t1 read {"path":"x"} + call odd id read {"path":"x"} + " "
        result of read odd id: "two"
        result of read t1: "one"
        assistant (Stop): "Done."
    "#]]
    .assert_eq(&conversation(dir.path()));
}

fn in_run(run: &str, kind: AgentEvent) -> Event {
    Event { run_id: Some(run.into()), ..event(kind) }
}

fn begun(run: &str, continuation: Option<ContinuationKind>) -> Event {
    let start = AgentEvent::Run(RunEvent::Start {
        agent_id: "a".into(),
        parent_run_id: None,
        continuation,
        model: "m".into(),
        metadata: None,
        settings: None,
        history: None,
        cuts: Vec::new(),
    });
    in_run(run, start)
}

fn said_in(run: &str, message: Message) -> Event {
    Event { run_id: Some(run.into()), ..said(message) }
}

#[test]
fn a_rerun_is_attached_to_the_last_user_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let rerun = || Some(ContinuationKind::rerun(at(9)));
    for event in [
        begun("r.1", None),
        said_in("r.1", Message::user("one", at(1))),
        said_in("r.1", answer(vec![call("t1"), call("t2")], StopReason::ToolUse)),
        said_in("r.1", result("t1", "1")),
        said_in("r.1", result("t2", "2")),
        said_in("r.1", answer(vec!["No.".into()], StopReason::Stop)),
        begun("r.2", rerun()),
        said_in("r.2", answer(vec!["Yes.".into()], StopReason::Stop)),
    ] {
        writer.record(&event).unwrap();
    }
    // A later writer knows only what the file contains.
    drop(writer);
    let mut writer = TranscriptWriter::open(place(dir.path()), Arc::new(dice_after(100))).unwrap();
    writer.record(&begun("r.3", rerun())).unwrap();
    writer.record(&said_in("r.3", answer(vec!["Perhaps.".into()], StopReason::Stop))).unwrap();
    expect![[r#"
        user: "one"
        assistant (Stop): "Perhaps."
    "#]]
    .assert_eq(&conversation(dir.path()));
}

#[test]
fn the_selected_parallel_run_is_continued() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let both = vec!["p.1".into(), "p.2".into()];
    for event in [
        said_in("r.1", Message::user("first", at(1))),
        said_in("r.1", answer(vec!["Well.".into()], StopReason::Stop)),
        event(AgentEvent::Child(ChildEvent::ParallelStart { run_ids: both })),
        said_in("p.1", Message::user("go", at(2))),
        said_in("p.2", Message::user("go", at(2))),
        said_in("p.1", answer(vec![call("t1")], StopReason::ToolUse)),
        said_in("p.2", answer(vec![call("t2")], StopReason::ToolUse)),
        said_in("p.1", result("t1", "of p.1")),
        said_in("p.2", result("t2", "of p.2")),
        said_in("p.1", answer(vec!["Mine.".into()], StopReason::Stop)),
        said_in("p.2", answer(vec!["No, mine.".into()], StopReason::Stop)),
        event(AgentEvent::Child(ChildEvent::ParallelEnd {
            selected_run_id: "p.1".into(),
            selected_index: 0,
            evaluation_usage: Usage::default(),
        })),
    ] {
        writer.record(&event).unwrap();
    }
    // Readers see it even before the next message.
    let chosen = conversation(dir.path());
    expect![[r#"
        user: "first"
        assistant (Stop): "Well."
        user: "go"
        assistant (ToolUse): call t1 read {"path":"x"}
        result of read t1: "of p.1"
        assistant (Stop): "Mine."
    "#]]
    .assert_eq(&chosen);
    writer.record(&said_in("r.2", Message::user("thanks", at(3)))).unwrap();
    assert_eq!(conversation(dir.path()), format!("{chosen}user: \"thanks\"\n"));
}

#[test]
fn a_compaction_preserves_the_messages_that_were_not_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let messages = [
        Message::user("one", at(1)),
        answer(vec![call("t1"), call("t2")], StopReason::ToolUse),
        result("t2", "2"),
        result("t1", "1"),
        answer(vec!["Done.".into()], StopReason::Stop),
    ];
    for message in messages {
        writer.record(&said(message)).unwrap();
    }
    // The second writer knows the earlier messages only from the file.
    drop(writer);
    let mut writer = TranscriptWriter::open(place(dir.path()), Arc::new(dice_after(100))).unwrap();
    let compact = |messages_dropped, summary: Option<&str>| {
        let summary = summary.map(str::to_owned);
        event(AgentEvent::Context(ContextEvent::CompactionEnd {
            messages_dropped,
            tokens_before: 900,
            tokens_after: 90,
            summary,
            cuts: Vec::new(),
            usage: Usage::default(),
            cost: None,
        }))
    };
    writer
        .record(&event(AgentEvent::Context(ContextEvent::CompactionStart {
            trigger: CompactionTrigger::Manual,
            tokens_before: 900,
        })))
        .unwrap();
    writer.record(&compact(1, Some("They asked for one."))).unwrap();
    writer.record(&said(Message::user("two", at(10)))).unwrap();
    expect![[r#"
        note: "They asked for one."
        assistant (ToolUse): call t1 read {"path":"x"} + call t2 read {"path":"x"}
        result of read t2: "2"
        result of read t1: "1"
        assistant (Stop): "Done."
        user: "two"
    "#]]
    .assert_eq(&conversation(dir.path()));
    // The summary counts as a message, and a second boundary preserves what the first preserved.
    writer.record(&compact(4, None)).unwrap();
    assert_eq!(conversation(dir.path()), "assistant (Stop): \"Done.\"\nuser: \"two\"\n");
    writer.record(&said(Message::user("three", at(11)))).unwrap();
    writer.record(&compact(3, Some("All."))).unwrap();
    assert_eq!(conversation(dir.path()), "note: \"All.\"\n");
}

/// A source that continues where an earlier one stopped.
fn dice_after(rolls: usize) -> CountingRandom {
    let dice = CountingRandom::default();
    for _ in 0..rolls {
        let _: u64 = rheon_types::Random::next_u64(&dice);
    }
    dice
}

#[test]
fn a_transcript_of_claude_code_is_continued_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = dir.path().join("projects/-another-project");
    fs::create_dir_all(&elsewhere).unwrap();
    let path = elsewhere.join(format!("{SESSION}.jsonl"));
    let real = fixtures::file(&[
        fixtures::user("u", None, "go"),
        fixtures::answer("a1", Some("u"), "m", fixtures::call("t1")),
        fixtures::answer("a2", Some("a1"), "m", fixtures::call("t2")),
        fixtures::result("r2", Some("a2"), "t2", json!("two")),
        json!({"type": "last-prompt", "leafUuid": "u"}),
    ]);
    fs::write(&path, format!("{real}{{\"type\":\"user\",\"uuid\":\"torn")).unwrap();
    let mut writer = open(dir.path());
    assert_eq!((writer.path(), writer.tip()), (path.as_path(), Some("r2")));
    writer.record(&said(result("t1", "one"))).unwrap();
    writer.record(&said(answer(vec!["Done.".into()], StopReason::Stop))).unwrap();
    expect![[r#"
        user: "go"
        assistant (ToolUse): call t1 Bash {"command":"true"} + call t2 Bash {"command":"true"}
        result of Bash t2: "two"
        result of read t1: "one"
        assistant (Stop): "Done."
    "#]]
    .assert_eq(&conversation(dir.path()));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&real), "what was there has changed");
    assert_eq!(Transcript::open(&path).unwrap().unrecognized_lines_count(), 1);
}

#[test]
fn the_end_is_found_after_a_very_long_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    writer.record(&said(Message::user("one", at(1)))).unwrap();
    let bulk = json!({"type": "api-request-shape", "shape": "x".repeat(3_000_000)});
    let mut text = fs::read_to_string(writer.path()).unwrap();
    text.push_str(&fixtures::file(&[bulk]));
    fs::write(writer.path(), text).unwrap();
    assert_eq!(open(dir.path()).tip(), writer.tip());
}

#[test]
fn deleted_entries_disappear_for_every_reader_after_a_new_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    for message in [
        Message::user("one", at(1)),
        answer(vec!["1".into()], StopReason::Stop),
        Message::user("secret", at(3)),
        answer(vec!["2".into()], StopReason::Stop),
    ] {
        writer.record(&said(message)).unwrap();
    }
    let transcript = Transcript::open(writer.path()).unwrap();
    let uuids: Vec<String> = transcript.entries()[2..].iter().flat_map(|said| said.uuids.clone()).collect();
    writer.delete(&uuids, at(5)).unwrap();
    assert_eq!(conversation(dir.path()), "user: \"one\"\nassistant (Stop): \"1\"\n");
    assert_eq!(open(dir.path()).tip(), writer.tip());
    writer.record(&said(Message::user("two", at(6)))).unwrap();
    let expected = "user: \"one\"\nassistant (Stop): \"1\"\nuser: \"two\"\n";
    assert_eq!(conversation(dir.path()), expected);
    // A reader that does not know tombstones follows the branch.
    let text = fs::read_to_string(writer.path()).unwrap();
    let without: String =
        text.lines().filter(|line| !line.contains("tombstone")).map(|line| format!("{line}\n")).collect();
    assert_eq!(show(&fixtures::read(&without).messages()), expected);
}

#[test]
fn a_rewound_conversation_continues_from_the_rewind_point() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    writer.record(&said(Message::user("one", at(1)))).unwrap();
    let first = writer.tip().map(str::to_owned);
    writer.record(&said(answer(vec!["1".into()], StopReason::Stop))).unwrap();
    writer.branch_from(first);
    writer.record(&said(answer(vec!["another".into()], StopReason::Stop))).unwrap();
    assert_eq!(conversation(dir.path()), "user: \"one\"\nassistant (Stop): \"another\"\n");
}

#[test]
fn a_message_too_long_to_read_is_rejected_and_the_next_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    writer.record(&said(Message::user("one", at(1)))).unwrap();
    let error = writer.record(&said(Message::user("x".repeat(LINE_BYTES_MAX), at(2)))).unwrap_err();
    assert!(error.to_string().contains("at most 67108864 are read"), "{error}");
    writer.record(&said(Message::user("two", at(3)))).unwrap();
    assert_eq!(conversation(dir.path()), "user: \"one\"\nuser: \"two\"\n");
}

#[test]
fn no_file_is_created_before_the_first_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let foreign = Event { session_id: "another".into(), ..said(Message::user("one", at(1))) };
    writer.record(&foreign).unwrap();
    writer
        .record(&event(AgentEvent::Turn(TurnEvent::Start {
            turn_index: 0,
            triggered_by: rheon_types::TurnTrigger::User,
        })))
        .unwrap();
    assert!(!dir.path().join("projects").exists());
    let name = project_dir_name(Path::new("/nowhere/project"));
    assert_eq!(writer.path(), dir.path().join("projects").join(name).join(format!("{SESSION}.jsonl")));
}

#[test]
#[cfg(unix)]
fn files_and_directories_are_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    writer.record(&said(Message::user("one", at(1)))).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let project = writer.path().parent().unwrap();
    assert_eq!([mode(writer.path()), mode(project), mode(project.parent().unwrap())], [0o600, 0o700, 0o700]);
}

#[test]
fn a_failed_write_is_an_error_and_later_writes_complete_the_transcript() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("projects"), "a file").unwrap();
    assert!(TranscriptWriter::open(place(dir.path()), Arc::new(CountingRandom::default())).is_err());
    fs::remove_file(dir.path().join("projects")).unwrap();
    let mut writer = open(dir.path());
    fs::write(dir.path().join("projects"), "a file").unwrap();
    assert!(writer.record(&said(Message::user("one", at(1)))).is_err());
    fs::remove_file(dir.path().join("projects")).unwrap();
    writer.record(&said(Message::user("one", at(1)))).unwrap();
    assert_eq!(conversation(dir.path()), "user: \"one\"\n");
}
