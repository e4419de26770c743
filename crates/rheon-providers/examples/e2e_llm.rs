//! End-to-end test with a real server and a small model: streaming, and tool calls in prompted mode. Run by `cargo
//! xtask e2e-llm`.

use std::error::Error;
use std::sync::Arc;

use futures::StreamExt;
use rheon_providers::{Registry, RegistryParts};
use rheon_testkit::TestClock;
use rheon_types::{
    AgentMessage, AssistantMessage, Chunk, Content, Draft, Finished, History, Message, Provider, Request,
    StopReason, Timestamp, ToolDefinition, ToolResultMessage,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A prompt, and the tool that the model should call; `None` for an answer without tools.
const CASES: [(&str, Option<&str>); 6] = [
    ("What does the file src/main.rs say?", Some("read_file")),
    ("Which files are in the directory docs?", Some("list_directory")),
    ("Create the file hello.txt with the text: good morning", Some("write_file")),
    ("Where in the project is the function parse_date used?", Some("search")),
    ("Run the tests with cargo test.", Some("run_command")),
    ("What is 2 + 2? Answer with the number only.", None),
];

/// A user's file that defines a second name for the same model.
const MODELS: &str = r#"
[models."llamacpp/prompted"]
tool_style = "prompted"
"#;

/// The models of the server at `base_url` (`http://127.0.0.1:8080/v1`).
fn registry(base_url: &str) -> Outcome<Registry> {
    let environment = [("LLAMACPP_BASE_URL", base_url)].into_iter().collect();
    let parts = RegistryParts::builtin(environment, Arc::new(TestClock::default()))?;
    let catalog = parts.catalog.with(MODELS, "e2e_llm.rs")?;
    Ok(Registry::new(RegistryParts { catalog, ..parts }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let base_url =
        std::env::args().nth(1).ok_or("usage: e2e_llm <base url>, for instance http://127.0.0.1:8080/v1")?;
    let registry = registry(&base_url)?;
    let context =
        registry.probe("llamacpp/local").await?.ok_or("the server does not report its context window")?;
    let chat = registry.resolve("llamacpp/local")?;
    println!("context: {context} tokens");
    check(chat.info.context_tokens == context, "the reported context window is not used")?;
    text_streams(&*chat.provider).await?;
    let prompted = registry.resolve("llamacpp/prompted")?.provider;
    tools_are_picked(&*prompted).await?;
    a_result_is_used(&*prompted).await
}

async fn text_streams(chat: &dyn Provider) -> Outcome<()> {
    let (deltas, finished) = ask(chat, request([user("Count from one to ten, in words.")])).await?;
    println!("streaming: {deltas} pieces, {:?}, usage {:?}", finished.stop_reason, finished.usage);
    check(deltas >= 5, "the text came in too few deltas")?;
    check(finished.usage.output > 0, "no usage was reported")
}

async fn tools_are_picked(prompted: &dyn Provider) -> Outcome<()> {
    let mut right = 0;
    for (question, expected_calls) in CASES {
        let (_, finished) = ask(prompted, Request { tools: tools(), ..request([user(question)]) }).await?;
        let picked = finished.content.iter().find_map(|block| match block {
            Content::ToolCall(call) => Some(call.name.as_str()),
            Content::Text { .. } | Content::Image { .. } | Content::Thinking { .. } => None,
        });
        right += usize::from(picked == expected_calls);
        println!("{question}\n  wanted {expected_calls:?}: {:?}", finished.content);
    }
    println!("tools: {right} of {} right", CASES.len());
    check(right == CASES.len(), "the model called a wrong tool")
}

async fn a_result_is_used(prompted: &dyn Provider) -> Outcome<()> {
    let question = user("What does the file motto.txt say?");
    let (_, finished) = ask(prompted, Request { tools: tools(), ..request([question.clone()]) }).await?;
    let Some(Content::ToolCall(call)) = finished.content.first().cloned() else {
        return Err("the model did not read a file".into());
    };
    let answer = Message::Assistant(AssistantMessage {
        content: finished.content,
        stop_reason: StopReason::ToolUse,
        model: "local".into(),
        provider: "local".into(),
        usage: finished.usage,
        timestamp: Timestamp::default(),
        error_message: None,
    });
    let result = Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id,
        tool_name: call.name,
        content: vec![Content::text("Festina lente.")],
        is_error: false,
        timestamp: Timestamp::default(),
    });
    let (_, finished) =
        ask(prompted, Request { tools: tools(), ..request([question, answer, result]) }).await?;
    println!("with the result: {:?}", finished.content);
    let said = |block: &Content| matches!(block, Content::Text { text } if text.contains("Festina lente"));
    check(finished.content.iter().any(said), "the response does not use the result")
}

/// The whole response, and the number of text deltas.
async fn ask(provider: &dyn Provider, request: Request) -> Outcome<(usize, Finished)> {
    let mut stream = provider.stream(request, CancellationToken::new());
    let (mut draft, mut deltas) = (Draft::new(), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk?;
        deltas += usize::from(matches!(chunk, Chunk::Text { .. }));
        draft.push(&chunk)?;
    }
    check(draft.is_done(), "the response was cut")?;
    Ok((deltas, draft.finish(StopReason::Error)))
}

fn check(holds: bool, otherwise: &str) -> Outcome<()> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

fn request(messages: impl IntoIterator<Item = Message>) -> Request {
    let messages: History =
        messages.into_iter().map(|message| Arc::new(AgentMessage::from(message))).collect();
    Request {
        system: "You are a coding assistant in a project directory.".into(),
        messages,
        tokens_max: Some(200),
        temperature: Some(0.0),
        ..Request::new("local")
    }
}

fn user(text: &str) -> Message {
    Message::user(text, Timestamp::default())
}

fn tools() -> Arc<[ToolDefinition]> {
    const FILE: (&str, &str) = ("path", "the file, relative to the project");
    Arc::from([
        tool("read_file", "Read a text file and return what it says.", &[FILE]),
        tool(
            "write_file",
            "Create or replace a file with the given text.",
            &[FILE, ("text", "all of its new text")],
        ),
        tool(
            "list_directory",
            "List the names of the files in a directory.",
            &[("path", "the directory, relative to the project")],
        ),
        tool(
            "search",
            "Find lines that contain a text, in all files of the project.",
            &[("text", "what to look for")],
        ),
        tool("run_command", "Run a shell command and return its output.", &[("command", "the command line")]),
    ])
}

fn tool(name: &str, description: &str, parameters: &[(&str, &str)]) -> ToolDefinition {
    let required: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
    let property = |(name, description): &(&str, &str)| {
        ((*name).to_owned(), json!({ "type": "string", "description": description }))
    };
    let properties: serde_json::Map<String, Value> = parameters.iter().map(property).collect();
    let parameters = json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    ToolDefinition { name: name.into(), description: description.into(), parameters }
}
