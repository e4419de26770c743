//! Talking to a run that is under way: steering, a follow-up, and stopping it. Offline.
//!
//! Run it with `cargo run -p rheon --example steer`.

use std::error::Error;
use std::sync::Arc;

use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};

/// A tool that only takes a look, so nobody has to be asked.
struct Look;

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

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { Ok(ToolResult::text(format!("{} is short", arguments["file"]))) })
    }
}

/// What is said in a run, line by line.
fn print_said(event: &Event) {
    let AgentEvent::MessageEnd { message } = &event.kind else { return };
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
        .turn(Turn::say("Let me think about that").hang());
    let agent =
        Agent::builder().provider(ScriptedProvider::new(scenario)).tool(Look).on_event(print_said).build()?;

    // Heard when the run would otherwise stop.
    agent.follow_up("Now sum up.");
    let mut stream = agent.run_stream("Review my files.")?;
    let mut steered = false;
    while let Some(event) = stream.next().await {
        // Heard at the next pause, before the model speaks again.
        if matches!(event.kind, AgentEvent::TextDelta { .. }) && !steered {
            steered = true;
            stream.inject_message("Actually, look at b.rs instead.");
        }
    }

    // Stopped in the middle of a sentence, the run still ends in order.
    let mut stream = agent.run_stream("And what is the meaning of it all?")?;
    while let Some(event) = stream.next().await {
        if matches!(event.kind, AgentEvent::TextDelta { .. }) {
            stream.cancel();
        }
    }
    println!("the run ended: {:?}", stream.finish().await?.end);
    println!("the conversation has {} messages", agent.messages().len());
    Ok(())
}
