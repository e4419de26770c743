//! What `rheon mcp serve` says about itself and its calls.

use rheon_text::visible_block;
use rheon_types::event::{ApprovalRequest, Subject};
use serde_json::{Value, json};

/// How much of a call is shown as progress.
const PROGRESS_CHARS_MAX: usize = 200;

/// The answer to `tools/list`.
pub(super) fn tools() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({ "tools": [{
        "name": "run_agent",
        "title": "Run a coding agent",
        "description": include_str!("serve_run_agent.md").trim_end(),
        "inputSchema": {
            "type": "object",
            "properties": {
                "prompt": text("The task, with everything the agent needs to know"),
                "session_id": text("The session to continue, from an earlier result"),
            },
            "required": ["prompt"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "session_id": { "type": "string" }, "text": { "type": "string" }, "turns": { "type": "integer" },
            },
            "required": ["session_id", "text", "turns"],
        },
    }] })
}

/// What a run is doing.
pub(super) fn progress_line(name: &str, arguments: &Value) -> String {
    format!("{name} {arguments}").chars().take(PROGRESS_CHARS_MAX).collect()
}

/// The question about a call: exactly what would happen, and why it is asked.
pub(super) fn approval_text(request: &ApprovalRequest) -> String {
    let what = match &request.subject {
        Subject::Command { command, cwd } => format!("run in {cwd}:\n{command}"),
        Subject::Diff { path, diff } => format!("change {path}:\n{diff}"),
        Subject::Arguments { arguments } => format!("call {} with {arguments}", request.tool_name),
        Subject::Questions { questions } => {
            let texts: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
            format!("ask:\n{}", texts.join("\n"))
        }
        Subject::Plan { plan, .. } => format!("carry out this plan:\n{plan}"),
    };
    visible_block(&format!("The agent wants to {what}\n({})", request.reason))
}
