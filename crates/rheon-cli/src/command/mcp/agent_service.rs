//! `AgentService`: agents for other programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::mcp::{McpCaller, McpQuestion, McpRefusal, McpRequest, McpService, McpServiceInfo};
use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse, Subject};
use rheon_types::protocol::{CloseReason, OpenRequest, SessionChoice};
use rheon_types::{
    AgentEvent, ApprovalEvent, BoxFuture, Command, Event, Host, RunEnd, RunEvent, Subscription, ToolEvent,
};
use serde_json::{Value, json};

use super::serve_text::{approval_text, progress_line, tools};
use crate::connection::Connection;

/// The name of the answer to a question about a call.
const APPROVAL: &str = "approval";

/// Runs agents for other programs.
pub(super) struct AgentService {
    pub(super) host: Arc<dyn Host>,
    pub(super) model: Option<String>,
}

impl McpService for AgentService {
    fn about(&self) -> McpServiceInfo {
        McpServiceInfo {
            name: "rheon".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            instructions: Some(include_str!("serve_instructions.md").trim_end().into()),
            capabilities: json!({ "tools": {} }),
        }
    }

    fn answer(
        self: Arc<Self>,
        request: McpRequest,
        caller: McpCaller,
    ) -> BoxFuture<'static, Result<Value, McpRefusal>> {
        Box::pin(async move {
            match request.method.as_str() {
                "tools/list" => Ok(tools()),
                "tools/call" => self.call(&request.params, &caller).await,
                _ => Err(McpRefusal::unknown_method()),
            }
        })
    }
}

impl AgentService {
    async fn call(&self, params: &Value, caller: &McpCaller) -> Result<Value, McpRefusal> {
        if params.get("name").and_then(Value::as_str) != Some("run_agent") {
            return Err(McpRefusal::invalid("unknown tool; the only tool is run_agent"));
        }
        let prompt = params.pointer("/arguments/prompt").and_then(Value::as_str);
        let Some(prompt) = prompt.filter(|prompt| !prompt.trim().is_empty()) else {
            return Err(McpRefusal::invalid("`prompt` is missing"));
        };
        let session = params.pointer("/arguments/session_id").and_then(Value::as_str);
        let ran = self.run(prompt, session, caller).await;
        Ok(ran.unwrap_or_else(
            |problem| json!({ "content": [{ "type": "text", "text": problem }], "isError": true }),
        ))
    }

    /// Runs an agent; the result of the call, or what went wrong.
    async fn run(&self, prompt: &str, session: Option<&str>, caller: &McpCaller) -> Result<Value, String> {
        let session = match session {
            Some(id) => SessionChoice::Named { id: id.to_owned() },
            None => SessionChoice::New { session_id: None },
        };
        let request = OpenRequest {
            session,
            task: Some(prompt.to_owned()),
            model: self.model.clone(),
            ..OpenRequest::default()
        };
        let session = Connection::open(&*self.host, request).await.map_err(|failure| failure.to_string())?;
        let facts = session.facts().await.map_err(|error| error.to_string())?;
        let events = Subscription::after(facts.opened_at);
        let can_ask = caller.has_capability("elicitation");
        let mut events = session.events(if can_ask { events.answering() } else { events });
        let prompt = Command::Prompt { content: vec![rheon_types::Content::text(prompt)] };
        session.send(prompt).await.map_err(|error| error.to_string())?;
        let (mut steps, mut is_canceled) = (0, false);
        let output = loop {
            let cancellation = caller.cancellation();
            let event = tokio::select! {
                event = events.next() => event,
                () = cancellation.cancelled(), if !is_canceled => {
                    is_canceled = true;
                    session.send(Command::Cancel { child: None }).await.map_err(|error| error.to_string())?;
                    continue;
                }
            };
            let event = event.ok_or("the session ended")?.map_err(|error| error.to_string())?;
            if let AgentEvent::Run(RunEvent::End { output }) = &event.kind {
                break Arc::clone(output);
            }
            if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
                let response = ask(caller, request).await;
                let answer = Command::RespondPermission { request_id: request.id.clone(), response };
                // Another client may have answered.
                drop(session.send(answer).await);
            }
            report(&event, caller, &mut steps).await;
        };
        session.close(CloseReason::Other).await.map_err(|failure| failure.to_string())?;
        let is_error = output.end != RunEnd::Completed;
        let text = if output.text.is_empty() {
            format!("the run ended: {:?}", output.end)
        } else {
            output.text.clone()
        };
        Ok(json!({
            "content": [{ "type": "text", "text": text }],
            "structuredContent": { "session_id": facts.session_id, "text": output.text, "turns": output.turns },
            "isError": is_error,
        }))
    }
}

async fn report(event: &Event, caller: &McpCaller, steps: &mut u32) {
    let AgentEvent::Tool(ToolEvent::Start { name, args, .. }) = &event.kind else { return };
    *steps += 1;
    caller.progress(f64::from(*steps), None, Some(&progress_line(name.as_str(), args))).await;
}

/// Asks the other program's user about a call.
async fn ask(caller: &McpCaller, request: &ApprovalRequest) -> PermissionResponse {
    if let Subject::Questions { .. } = request.subject {
        return PermissionResponse::denied("the program that runs this agent cannot answer questions");
    }
    let schema = json!({
        "type": "object",
        "properties": { "allow": { "type": "boolean", "title": "Allow this call" } },
        "required": ["allow"],
    });
    let question = McpQuestion::form(&approval_text(request), &schema);
    let answers = caller.ask(BTreeMap::from([(APPROVAL.to_owned(), question)])).await.unwrap_or_default();
    let answer = answers.get(APPROVAL).unwrap_or(&Value::Null);
    let is_allowed = answer.get("action").and_then(Value::as_str) == Some("accept")
        && answer.pointer("/content/allow").and_then(Value::as_bool) == Some(true);
    if is_allowed {
        return PermissionResponse {
            digest: Some(request.digest.clone()),
            ..PermissionDecision::Allow.into()
        };
    }
    PermissionResponse::denied("the user of the calling program did not allow it")
}
