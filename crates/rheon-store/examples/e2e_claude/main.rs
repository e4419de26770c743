//! Compares transcripts with the real Claude Code; `cargo xtask e2e-claude` calls it step by step.
//!
//! - `write <projects> <cwd> <plain|compacted>` writes a Rheon session and prints its id;
//! - `request <log> <plain|compacted|continued>` checks the last request in a log of the fake model server;
//! - `session <projects> <id> <plain|real>` checks how a session that Claude Code wrote to is read;
//! - `append <projects> <cwd> <id>` continues such a session;
//! - `odd`, `odd write <projects> <cwd> <id> <case>`, `odd compare <log> <case>`: see `odd.rs`;
//! - `show <file>` prints the conversation in any transcript, one message per line.

mod odd;
mod request;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rheon_store::claude::{self, Transcript, TranscriptLocation, TranscriptWriter};
use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, Content, ContextEvent, CutKind, Event, Message, MessageEvent,
    SessionId, Signature, SignatureKind, StopReason, Timestamp, ToolCall, ToolResultMessage, Usage,
    UserMessage, WindowCut,
};
use serde_json::{Value, json};

use crate::request::{same, sent_blocks};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Not a UUID, so that one has to be derived.
const SESSION: &str = "e2e-session";
/// 2026-11-14T20:00:00Z.
const START_MS: u64 = 1_794_686_400_000;
/// One black pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", projects, cwd, scenario] => write(projects, cwd, scenario),
        ["append", projects, cwd, id] => append(projects, cwd, id),
        ["request", log, scenario] => check_request(Path::new(log), scenario),
        ["odd"] => {
            odd::print_cases();
            Ok(())
        }
        ["odd", "write", projects, cwd, id, case] => odd::write(projects, cwd, id, case),
        ["odd", "compare", log, case] => odd::compare(Path::new(log), case),
        ["show", file] => show(Path::new(file)),
        ["session", projects, id, scenario] => check_session(Path::new(projects), id, scenario),
        _ => {
            Err("usage: e2e_claude write|append|request|session|odd|show ..; see the top of the file".into())
        }
    }
}

fn writer(projects: &str, cwd: &str, id: &str) -> Outcome<TranscriptWriter> {
    let position = TranscriptLocation {
        projects_dir: projects.into(),
        cwd: cwd.into(),
        session_id: id.into(),
        git_branch: None,
    };
    Ok(TranscriptWriter::open(position)?)
}

/// An event of its own number: entries are named by it.
fn event(session: &str, kind: AgentEvent) -> Event {
    static SEQ: AtomicU64 = AtomicU64::new(1);
    let at = Timestamp::from_millis(START_MS + 60_000);
    let seq = SEQ.fetch_add(1, Ordering::Relaxed);
    Event { seq, at, session_id: session.into(), run_id: Some("loop".into()), kind }
}

fn said(session: &str, message: AgentMessage) -> Event {
    event(session, AgentEvent::Message(MessageEvent::End { message: Arc::new(message) }))
}

fn write(projects: &str, cwd: &str, scenario: &str) -> Outcome {
    let mut writer = writer(projects, cwd, SESSION)?;
    for message in history() {
        writer.record(&said(SESSION, message))?;
    }
    if scenario == "compacted" {
        let summary = Some("Two files were asked for.".to_owned());
        let summary_message = AgentMessage::user("Two files were asked for.", Timestamp::default());
        let cuts =
            vec![WindowCut { from: 0, to: 1, kind: CutKind::Summary { message: Arc::new(summary_message) } }];
        writer.record(&event(
            SESSION,
            AgentEvent::Context(ContextEvent::CompactionEnd {
                messages_dropped: 1,
                tokens_before: 900,
                tokens_after: 90,
                summary,
                cuts,
                usage: Usage::default(),
                cost: None,
            }),
        ))?;
    }
    println!("{}", claude::transcript_id(&SessionId::from(SESSION)));
    Ok(())
}

fn append(projects: &str, cwd: &str, id: &str) -> Outcome {
    let mut writer = writer(projects, cwd, id)?;
    let at = Timestamp::from_millis(START_MS);
    writer.record(&said(id, AgentMessage::user("Said in Rheon", at)))?;
    writer.record(&said(id, answer(vec!["Answered in Rheon".into()], StopReason::Stop).into()))?;
    Ok(())
}

fn answer(content: Vec<Content>, stop_reason: StopReason) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        stop_reason,
        model: "claude-sonnet-4-5".to_owned(),
        provider: "anthropic".to_owned(),
        usage: Usage::default(),
        timestamp: Timestamp::from_millis(START_MS + 1_000),
        error_message: (stop_reason == StopReason::Error).then(|| "the service was overloaded".to_owned()),
    })
}

/// Everything the format can express, and some content it cannot.
fn history() -> Vec<AgentMessage> {
    let timestamp = Timestamp::from_millis(START_MS);
    let thought = |origin: &str| Content::Thinking {
        thinking: format!("a thought of {origin}"),
        signature: Some(Signature {
            data: "c2lnbmF0dXJl".to_owned(),
            kind: SignatureKind::Proof,
            id: None,
            origin: origin.to_owned(),
        }),
    };
    let call = |id: &str| {
        let arguments = Arc::new(json!({"file_path": id}));
        Content::ToolCall(ToolCall {
            id: id.into(),
            name: "read_file".into(),
            arguments,
            malformed: None,
            key_order: None,
        })
    };
    let result = |id: &str, text: &str, is_error| {
        let (tool_call_id, tool_name, content) = (id.into(), "read_file".into(), vec![text.into()]);
        Message::ToolResult(ToolResultMessage { tool_call_id, tool_name, content, is_error, timestamp })
    };
    let image = Content::Image { data: PIXEL.to_owned(), mime_type: "image/png".to_owned() };
    let prompt = UserMessage {
        content: vec!["Read two files 🙂".into(), image],
        timestamp,
        author: Default::default(),
    };
    let thoughts = [thought("anthropic/claude-sonnet-4-5"), thought("openai/gpt-5")];
    let blocks = thoughts.into_iter().chain(["I will.".into(), call("call_a"), call("call_b")]).collect();
    let messages = vec![
        Message::User(prompt),
        answer(blocks, StopReason::ToolUse),
        result("call_b", "content of b", false),
        result("call_a", "no such file", true),
        answer(vec!["half a sen".into()], StopReason::Error),
        Message::user("Go on", timestamp),
        answer(vec!["Only b could be read.".into()], StopReason::Stop),
    ];
    messages.into_iter().map(AgentMessage::from).collect()
}

/// The blocks that Claude Code has to send, each with its role, up to the prompt "hi".
fn expected_blocks(scenario: &str) -> Outcome<Vec<Value>> {
    let text = |role: &str, text: &str| json!([role, {"type": "text", "text": text}]);
    let call = |id: &str| json!(["assistant", {"type": "tool_use", "id": id, "name": "read_file", "input": {"file_path": id}}]);
    let result = |id: &str, content: &str, is_error: bool| json!(["user", {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}]);
    let source = json!({"type": "base64", "media_type": "image/png", "data": PIXEL});
    let beginning = match scenario {
        "plain" => {
            vec![text("user", "Read two files 🙂"), json!(["user", {"type": "image", "source": source}])]
        }
        "compacted" => vec![text("user", "Two files were asked for.")],
        "continued" => Vec::new(),
        _ => return Err(format!("no scenario {scenario:?}").into()),
    };
    let rest = match scenario {
        "continued" => vec![text("user", "Said in Rheon"), text("assistant", "Answered in Rheon")],
        _ => vec![
            json!(["assistant", {
                "type": "thinking",
                "thinking": "a thought of anthropic/claude-sonnet-4-5",
                "signature": "c2lnbmF0dXJl",
            }]),
            text("assistant", "I will."),
            call("call_a"),
            call("call_b"),
            result("call_b", "content of b", false),
            result("call_a", "no such file", true),
            text("user", "Go on"),
            text("assistant", "Only b could be read."),
        ],
    };
    Ok(beginning.into_iter().chain(rest).chain([text("user", "hi")]).collect())
}

fn check_request(log: &Path, scenario: &str) -> Outcome {
    let sent = sent_blocks(log)?;
    let expected = expected_blocks(scenario)?;
    // What Claude Code itself added before does not matter.
    let skipped = if scenario == "continued" { sent.len().saturating_sub(expected.len()) } else { 0 };
    same("the blocks of the request", &sent.into_iter().skip(skipped).collect::<Vec<_>>(), &expected)
}

fn check_session(projects: &Path, id: &str, scenario: &str) -> Outcome {
    let path = claude::find(projects, id)?.ok_or("the transcript is not found")?;
    let transcript = Transcript::open(&path)?;
    let messages = transcript.messages();
    match scenario {
        "plain" => {
            let mut expected: Vec<Value> =
                history().iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
            let mut read: Vec<Value> = messages.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
            let said_since = read.split_off(expected.len().min(read.len()));
            same("our own messages", &read, &expected)?;
            expected = vec![json!("hi"), json!("All done.")];
            let texts =
                messages.iter().skip(history().len()).filter_map(AgentMessage::as_llm).map(Message::text);
            same("what was said since", &texts.map(Value::from).collect::<Vec<_>>(), &expected)?;
            println!("   {} messages of ours and {} of the real program", history().len(), said_since.len());
        }
        "real" => {
            let shape: Vec<Value> = messages.iter().filter_map(AgentMessage::as_llm).map(shape).collect();
            let turn = ["call", "result"];
            let expected: Vec<&str> = ["user: two tools"]
                .into_iter()
                .chain(turn)
                .chain(turn)
                .chain(["assistant: All done."])
                .collect();
            let expected: Vec<Value> = expected.into_iter().map(Value::from).collect();
            same("the conversation", &shape, &expected)?;
            let facts = transcript.facts();
            same("the title", &[json!(facts.title)], &[json!("two tools")])?;
            same("the id", &[json!(facts.session_id)], &[json!(id)])?;
        }
        _ => return Err(format!("no scenario {scenario:?}").into()),
    }
    let odd: Vec<Value> =
        transcript.unrecognized_lines().iter().map(|odd| json!(format!("{odd:?}"))).collect();
    same("odd lines", &odd, &[])?;
    same(
        "repairs",
        &[json!(format!("{:?}", transcript.repairs()))],
        &[json!(format!("{:?}", claude::Repairs::default()))],
    )
}

fn show(file: &Path) -> Outcome {
    for message in Transcript::open(file)?.messages() {
        println!("{}", serde_json::to_string(&message)?);
    }
    Ok(())
}

fn shape(message: &Message) -> Value {
    match message {
        Message::User(_) => json!(format!("user: {}", message.text())),
        Message::Assistant(answer) if answer.tool_calls().next().is_some() => json!("call"),
        Message::Assistant(_) => json!(format!("assistant: {}", message.text())),
        Message::ToolResult(_) => json!("result"),
    }
}
