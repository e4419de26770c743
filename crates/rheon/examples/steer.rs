//! Talking to a run in progress: steering, a follow-up, and stopping it. Offline.
//!
//! Run it with `cargo run -p rheon --example steer`.

use std::error::Error;
use std::sync::Arc;

use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use tokio::sync::Notify;

/// A tool that takes a while: until it receives the signal to finish.
struct Look {
    finish: Arc<Notify>,
}

impl Tool for Look {
    fn name(&self) -> &str {
        "look"
    }

    fn description(&self) -> &str {
        "Looks at a file."
    }

    fn parameters_schema(&self) -> Value {
        json!({ "type": "object", "properties": { "file": { "type": "string" } }, "required": ["file"] })
    }

    /// It only reads, so it needs no approval.
    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            self.finish.notified().await;
            let file = arguments.get("file").and_then(Value::as_str).unwrap_or_default();
            Ok(ToolResult::text(format!("{file} is short")))
        })
    }
}

/// What is said in a run, line by line.
fn print_said(event: &Event) {
    let AgentEvent::Message(MessageEvent::End { message }) = &event.kind else { return };
    match message.as_llm() {
        Some(said @ Message::User(_)) => println!("you:   {}", said.text()),
        Some(said @ Message::Assistant(_)) => println!("model: {}", said.text()),
        Some(Message::ToolResult(_)) | None => {}
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::new()
        .turn(Turn::say("I begin with a.rs.").tool_call("look", json!({ "file": "a.rs" })))
        .turn(Turn::say("As you like; b.rs looks fine.").when_last_text_contains("b.rs"))
        .turn(Turn::say("One file, nothing to fix.").when_last_text_contains("sum up"))
        .turn(Turn::say("Let me think about that").chunked(40).hang().when_last_text_contains("meaning"));
    let finish = Arc::new(Notify::new());
    let agent = Agent::builder()
        .provider(ScriptedProvider::new(scenario))
        .tool(Look { finish: Arc::clone(&finish) })
        .on_event(print_said)
        .build()?;

    // Heard when the run would otherwise stop.
    agent.follow_up("Now sum up.");
    let mut stream = agent.run_stream("Review my files.")?;
    while let Some(event) = stream.next().await {
        if matches!(event.kind, AgentEvent::Tool(ToolEvent::Start { .. })) {
            // Heard once the tool is done, before the model speaks again.
            stream.inject_message("Actually, look at b.rs instead.");
            finish.notify_one();
        }
    }

    // Stopped in the middle of a sentence, the run still ends in order.
    let mut stream = agent.run_stream("And what is the meaning of it all?")?;
    while let Some(event) = stream.next().await {
        if matches!(event.kind, AgentEvent::Message(MessageEvent::TextDelta { .. })) {
            stream.cancel();
        }
    }
    println!("the run ended: {:?}", stream.finish().await?.end);
    println!("the conversation has {} messages", agent.messages().len());
    Ok(())
}
