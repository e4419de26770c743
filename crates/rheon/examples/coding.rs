//! The standard tools in a directory of their own: a model reads, edits and runs a test; you are asked before anything changes.
//!
//! `cargo run -p rheon --example coding`. Offline: the model plays a script. Everything else is real, the sandbox included.

use std::error::Error;
use std::fs;

use rheon::ApprovalRequest;
use rheon::events::Subject;
use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    fs::write(dir.path().join("answer.sh"), "echo 41\n")?;

    // Files, search, a shell in a sandbox, a task list, questions, plans. Looks are free, changes ask.
    let tools = default_tools(dir.path()).await?;

    let agent = Agent::builder()
        .provider(ScriptedProvider::new(script()))
        .toolkit(&tools)
        .on_approval(|request| async move { decide(&request) })
        .on_event(|event| match &event.kind {
            AgentEvent::Message(MessageEvent::TextDelta { delta }) => print!("{delta}"),
            AgentEvent::Tool(ToolEvent::Start { name, .. }) => println!("[{name}]"),
            AgentEvent::Tool(ToolEvent::Blocked { name, reason, .. }) => println!("[{name}] {reason}"),
            AgentEvent::Tool(ToolEvent::End { name, result, .. }) if name.as_str() == "bash" => {
                println!("{}", result.as_text())
            }
            _ => {}
        })
        .build()?;

    agent.run("The script should print 42.").await?;
    println!("\nanswer.sh now says: {}", fs::read_to_string(dir.path().join("answer.sh"))?.trim());
    Ok(())
}

/// A careful person reads what would happen: the whole command, the whole difference.
fn decide(request: &ApprovalRequest) -> PermissionResponse {
    match &request.subject {
        Subject::Command { command, .. } if command.contains("rm") => {
            println!("  {command}? no");
            PermissionResponse::denied("nothing is removed here")
        }
        Subject::Command { command, .. } => {
            println!("  {command}? yes");
            PermissionDecision::Allow.into()
        }
        Subject::Diff { diff, .. } => {
            println!("{diff}  yes");
            PermissionDecision::Allow.into()
        }
        Subject::Arguments { .. } | Subject::Questions { .. } | Subject::Plan { .. } => {
            PermissionResponse::denied("not now")
        }
    }
}

fn script() -> Scenario {
    let edits = json!([{ "old_string": "41", "new_string": "42" }]);
    Scenario::new()
        .turn(Turn::say("I look at it.\n").tool_call("read", json!({ "path": "answer.sh" })))
        .turn(Turn::say("I fix it.\n").tool_call("edit", json!({ "path": "answer.sh", "edits": edits })))
        .turn(Turn::say("I try it.\n").tool_call("bash", json!({ "command": "sh answer.sh" })))
        .turn(Turn::say("I tidy up.\n").tool_call("bash", json!({ "command": "rm -r ." })))
        .turn("It prints 42; nothing was removed.")
}
