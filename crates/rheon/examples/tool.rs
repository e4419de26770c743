//! A tool of one's own that changes something, so that it asks first; the stream answers. Offline.
//!
//! Run it with `cargo run -p rheon --example tool`.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use rheon::events::Subject;
use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};

/// A light that the model can set.
#[derive(Clone, Default)]
struct Light {
    percent: Arc<Mutex<u64>>,
}

impl Light {
    fn set(&self, percent: u64) -> u64 {
        std::mem::replace(&mut *self.percent.lock().unwrap_or_else(PoisonError::into_inner), percent)
    }
}

impl Tool for Light {
    fn name(&self) -> &str {
        "set_light"
    }

    fn description(&self) -> &str {
        "Sets how bright the light in the room is, in percent."
    }

    fn parameters_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "percent": { "type": "integer", "minimum": 0, "maximum": 100 } },
            "required": ["percent"],
        })
    }

    /// The same call twice has the effect of one, which is good to know after a crash.
    fn effect(&self) -> Effect {
        Effect::Idempotent
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let percent = arguments.get("percent").and_then(Value::as_u64);
            let percent = percent.ok_or_else(|| ToolError::InvalidArgs("percent is missing".into()))?;
            let before = self.set(percent);
            Ok(ToolResult::text(format!("the light went from {before} to {percent} percent")))
        })
    }
}

/// What a careful person would answer.
fn decide(request: &ApprovalRequest) -> PermissionResponse {
    let bright = match &request.subject {
        Subject::Arguments { arguments } => arguments.get("percent").and_then(Value::as_u64) > Some(80),
        Subject::Command { .. } | Subject::Diff { .. } | Subject::Questions { .. } | Subject::Plan { .. } => {
            true
        }
    };
    if bright {
        PermissionResponse::denied("not so bright, the baby is asleep")
    } else {
        PermissionDecision::Allow.into()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::new()
        .turn(Turn::say("Light!").tool_call("set_light", json!({ "percent": 500 })))
        .turn(Turn::say("Then as bright as it gets.").tool_call("set_light", json!({ "percent": 100 })))
        .turn(Turn::say("A little, then.").tool_call("set_light", json!({ "percent": 20 })))
        .turn("Done: {{last_tool_result}}.");
    let light = Light::default();
    let agent = Agent::builder().provider(ScriptedProvider::new(scenario)).tool(light.clone()).build()?;

    let mut stream = agent.run_stream("I cannot see anything.")?;
    while let Some(event) = stream.next().await {
        match &event.kind {
            AgentEvent::Message(MessageEvent::End { message }) => {
                if let Some(answer) = message.as_assistant() {
                    println!("model: {}", answer.text());
                }
            }
            AgentEvent::Approval(ApprovalEvent::Required { request }) => {
                let response = decide(request);
                println!("  asked: {}? {:?}", request.tool_name, response.decision);
                stream.respond_permission(&request.id, response)?;
            }
            AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) => println!("  not run: {reason}"),
            AgentEvent::Tool(ToolEvent::End { result, .. }) => println!("  {}", result.as_text()),
            _ => {}
        }
    }
    println!("the light is at {} percent", light.set(0));
    Ok(())
}
