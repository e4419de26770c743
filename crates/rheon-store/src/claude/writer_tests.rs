//! Writes new transcripts and continues existing ones.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, ChildEvent, Content, ContextEvent, ContinuationKind, CutKind,
    Event, LlmMessage, Message, MessageEvent, RunEvent, Signature, SignatureKind, StopReason, Timestamp,
    ToolCall, ToolResultMessage, TurnEvent, TurnId, Usage, WindowCut,
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
    TranscriptWriter::open(place(dir)).unwrap()
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_millis(1_794_700_000_000 + second * 1_000)
}

/// An event of its own number within the test: entries are named by it.
fn event(kind: AgentEvent) -> Event {
    thread_local!(static SEQ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });
    let seq = SEQ.with(|last| {
        last.set(last.get() + 1);
        last.get()
    });
    Event { seq, at: at(9), session_id: SESSION.into(), run_id: Some("loop".into()), kind }
}

fn said(message: Message) -> Event {
    event(AgentEvent::Message(MessageEvent::End { message: Arc::new(message.into()) }))
}

fn call(id: &str) -> Content {
    let arguments = Arc::new(json!({"path": "x"}));
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments,
        malformed: None,
        key_order: None,
    })
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

/// `text` with entries named in the order in which they appear.
fn named(text: &str) -> String {
    let values = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let uuids: Vec<String> = values.map(|value| value["uuid"].as_str().unwrap().to_owned()).collect();
    uuids.iter().enumerate().fold(text.to_owned(), |text, (nth, uuid)| {
        text.replace(uuid, &format!("entry{nth}")).replace(&uuid.replace('-', ""), &format!("entry{nth}"))
    })
}

/// The lines in short form: how entries are attached and what Claude Code reads.
fn skeleton(path: &Path) -> String {
    let short = |uuid: &Value| uuid.as_str().unwrap_or("-").to_owned();
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
    named(&fs::read_to_string(path).unwrap()).lines().map(line).collect()
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
         "uuid":"entry0",
         "version":"2.1.325"}
        {"apiBlockIndex":0,
         "cwd":"/nowhere/project",
         "entrypoint":"rheon",
         "gitBranch":"main",
         "isSidechain":false,
         "madeBy":"model",
         "message":{"content":[{"text":"Done.",
         "type":"text"}],
         "id":"msg_entry1",
         "model":"claude-test",
         "role":"assistant",
         "stop_reason":"end_turn",
         "stop_sequence":null,
         "type":"message",
         "usage":{"cache_creation_input_tokens":1,
         "cache_read_input_tokens":2,
         "input_tokens":7,
         "output_tokens":3}},
         "parentUuid":"entry0",
         "rheon":{"answer":{"provider":"anthropic",
         "stop_reason":"stop"}},
         "sessionId":"11111111-2222-4333-8444-555555555555",
         "timestamp":"2026-11-14T23:46:42.000Z",
         "type":"assistant",
         "userType":"external",
         "uuid":"entry1",
         "version":"2.1.325"}
    "#]]
    .assert_eq(&named(&fs::read_to_string(writer.path()).unwrap()).replace(",\"", ",\n \""));
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
        user entry0 <- -: "go"
        assistant entry1 <- entry0: [{"signature":"sig","thinking":"hm","type":"thinking"}]
        assistant entry2 <- entry1: [{"id":"t1","input":{"path":"x"},"name":"read","type":"tool_use"}]
        assistant entry3 <- entry2: [{"id":"call_4acbe2252fb5539c2c7503df","input":{"path":"x"},"name":"read","type":"tool_use"}]
        user entry4 <- entry3: [{"content":"two","is_error":false,"tool_use_id":"call_4acbe2252fb5539c2c7503df","type":"tool_result"}]
        user entry5 <- entry2: [{"content":"one","is_error":false,"tool_use_id":"t1","type":"tool_result"}]
        assistant entry6 <- entry5: [{"text":"Done.","type":"text"}]
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
    let mut writer = open(dir.path());
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

/// Writes `events` as a session that is resumed by every process writes them: from the beginning, and only what is missing.
fn resumed(dir: &Path, events: &[Event]) -> TranscriptWriter {
    let mut writer = open(dir);
    writer.begin_replay().unwrap();
    events.iter().for_each(|event| writer.replay(event).unwrap());
    writer.end_replay().unwrap();
    writer
}

fn hidden(from: u64, to: u64, summary: Option<&str>) -> WindowCut {
    let message = |text: &str| Arc::new(AgentMessage::user(text, at(1)));
    let kind = summary.map_or(CutKind::Drop, |text| CutKind::Summary { message: message(text) });
    WindowCut { from, to, kind }
}

fn compacted(summary: Option<&str>, cuts: Vec<WindowCut>) -> Event {
    event(AgentEvent::Context(ContextEvent::CompactionEnd {
        messages_dropped: 1,
        tokens_before: 900,
        tokens_after: 90,
        summary: summary.map(str::to_owned),
        cuts,
        usage: Usage::default(),
        cost: None,
    }))
}

/// A prompt, an answer with two calls, their results, and an answer: five messages.
fn five_messages() -> Vec<Event> {
    let messages = [
        Message::user("one", at(1)),
        answer(vec![call("t1"), call("t2")], StopReason::ToolUse),
        result("t2", "2"),
        result("t1", "1"),
        answer(vec!["Done.".into()], StopReason::Stop),
    ];
    messages.into_iter().map(said).collect()
}

#[test]
fn a_compaction_preserves_the_messages_that_stay_visible() {
    let dir = tempfile::tempdir().unwrap();
    let mut events = five_messages();
    events.push(said(Message::user("two", at(9))));
    drop(resumed(dir.path(), &events));
    // The first prompt and the last messages stay; what is between them is summarized.
    events.push(event(AgentEvent::Context(ContextEvent::CompactionStart {
        trigger: CompactionTrigger::Manual,
        tokens_before: 900,
    })));
    events.push(compacted(Some("It was read."), vec![hidden(1, 4, Some("It was read."))]));
    events.push(said(Message::user("three", at(10))));
    drop(resumed(dir.path(), &events));
    expect![[r#"
        note: "It was read."
        user: "one"
        assistant (Stop): "Done."
        user: "two"
        user: "three"
    "#]]
    .assert_eq(&conversation(dir.path()));
    // One that only trims results hides nothing more.
    let lines = fs::read_to_string(open(dir.path()).path()).unwrap().lines().count();
    let trim = WindowCut { from: 5, to: 6, kind: CutKind::Trim { bytes_max: 9 } };
    events.push(compacted(None, vec![hidden(1, 4, Some("It was read.")), trim.clone()]));
    drop(resumed(dir.path(), &events));
    assert_eq!(fs::read_to_string(open(dir.path()).path()).unwrap().lines().count(), lines);
    events.push(compacted(Some("All."), vec![hidden(0, 6, Some("All."))]));
    drop(resumed(dir.path(), &events));
    assert_eq!(conversation(dir.path()), "note: \"All.\"\nuser: \"three\"\n");
}

#[test]
fn a_resumed_session_writes_each_entry_once_however_often_it_is_killed() {
    let mut events = five_messages();
    events.push(compacted(Some("It was read."), vec![hidden(1, 4, Some("It was read."))]));
    events.push(begun("r.2", Some(ContinuationKind::rerun(at(9)))));
    events.push(said(answer(vec!["Again.".into(), call("t3")], StopReason::ToolUse)));
    events.push(said(result("t3", "3")));
    let whole = tempfile::tempdir().unwrap();
    let path = resumed(whole.path(), &events).path().to_owned();
    let expected = fs::read_to_string(path).unwrap();
    // A process is killed after each byte of what it writes, and the next one goes on.
    for bytes in (0..expected.len()).step_by(41) {
        let dir = tempfile::tempdir().unwrap();
        let path = open(dir.path()).path().to_owned();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &expected.as_bytes()[..bytes]).unwrap();
        drop(resumed(dir.path(), &events));
        let text = fs::read_to_string(&path).unwrap();
        let whole_lines: Vec<&str> =
            text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).collect();
        assert_eq!(whole_lines, expected.lines().collect::<Vec<_>>(), "killed after {bytes} bytes");
    }
}

#[test]
fn what_another_program_adds_is_found_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut events = five_messages();
    let path = resumed(dir.path(), &events).path().to_owned();
    let foreign = |events: &[Event]| {
        let mut writer = open(dir.path());
        writer.begin_replay().unwrap();
        events.iter().for_each(|event| writer.replay(event).unwrap());
        writer.foreign().unwrap()
    };
    assert_eq!(foreign(&events), None);
    let add = |lines: &[Value]| {
        let text = fs::read_to_string(&path).unwrap() + &fixtures::file(lines);
        fs::write(&path, text).unwrap();
    };
    let tip = open(dir.path()).tip().unwrap().to_owned();
    add(&[
        fixtures::user("c1", Some(&tip), "from there"),
        fixtures::answer("c2", Some("c1"), "m", fixtures::text("Yes.")),
        json!({"type": "custom-title", "uuid": "c3", "customTitle": "T", "sessionId": SESSION}),
    ]);
    let part = foreign(&events).unwrap();
    assert_eq!(
        show(&part.messages.iter().map(|said| said.message.clone()).collect::<Vec<_>>()),
        "user: \"from there\"\nassistant (Stop): \"Yes.\"\n"
    );
    assert_eq!((part.kept, part.model.as_deref()), (None, Some("claude-test")));
    // Once it is in the log it is ours.
    let entries: Vec<Vec<String>> = part.messages.iter().map(|said| said.uuids.clone()).collect();
    let Event { kind: AgentEvent::Run(mut start), .. } = begun("s.import.1", None) else { panic!() };
    if let RunEvent::Start { metadata, .. } = &mut start {
        *metadata = Some(Arc::new(crate::claude::imported_metadata(json!({}), &entries)));
    }
    events.push(in_run("s.import.1", AgentEvent::Run(start)));
    for said in &part.messages {
        let message = Arc::new(said.message.clone());
        events.push(in_run("s.import.1", AgentEvent::Message(MessageEvent::End { message })));
    }
    assert_eq!(foreign(&events), None);
    let before = fs::read_to_string(&path).unwrap();
    let mut writer = resumed(dir.path(), &events);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    assert_eq!(writer.tip(), Some("c2"));
    writer.record(&said(Message::user("here again", at(20)))).unwrap();
    events.push(said(Message::user("unused", at(20))));
    // The other program goes back to our first answer and continues from there.
    add(&[fixtures::user("c4", Some(&tip), "something else")]);
    events.pop();
    let part = foreign(&events).unwrap();
    assert_eq!((part.kept, part.messages.len()), (Some(5), 1));
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
    assert!(TranscriptWriter::open(place(dir.path())).is_err());
    fs::remove_file(dir.path().join("projects")).unwrap();
    let mut writer = open(dir.path());
    fs::write(dir.path().join("projects"), "a file").unwrap();
    assert!(writer.record(&said(Message::user("one", at(1)))).is_err());
    fs::remove_file(dir.path().join("projects")).unwrap();
    writer.record(&said(Message::user("one", at(1)))).unwrap();
    assert_eq!(conversation(dir.path()), "user: \"one\"\n");
}
