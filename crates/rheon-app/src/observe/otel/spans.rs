//! `Spans`: turns events into spans, by the GenAI conventions. Pure except for random ids.

use std::collections::HashMap;
use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentMessage, ContextEvent, Event, LimitKind, MessageEvent, ModelEvent, ProviderErrorKind,
    Random, RunEnd, RunEvent, RunFailure, RunId, StopReason, Timestamp, ToolCallId, ToolEvent, Usage,
};
use serde_json::Value;

use super::contents::{Contents, messages};
use super::span::{Attribute, Known, Place, Span, SpanKind, number, seconds, text, truth};

/// The name of the agent.
pub(super) const AGENT: &str = "rheon";

/// The open spans of a session.
pub(super) struct Spans {
    random: Arc<dyn Random>,
    contents: Contents,
    runs: HashMap<RunId, OpenRun>,
}

/// A run that has not ended.
struct OpenRun {
    place: Place,
    began: Timestamp,
    agent_id: String,
    model: String,
    provider: String,
    /// The model that really answered last.
    answered_by: Option<String>,
    call: Option<OpenCall>,
    tools: HashMap<ToolCallId, OpenTool>,
    /// The new input of the model and its answer, if contents are exported.
    heard: Vec<Value>,
    answer: Option<Value>,
}

/// A model call that has not ended.
struct OpenCall {
    began: Timestamp,
    model: String,
}

/// A tool call that has not ended.
struct OpenTool {
    began: Timestamp,
    name: String,
    /// Its arguments and result, if contents are exported.
    contents: Vec<Attribute>,
}

/// A span that has ended.
pub(super) struct Finished {
    pub(super) span: Span,
    pub(super) what: OperationKind,
}

/// A finished operation, as far as it is measured.
pub(super) enum OperationKind {
    Run,
    Tool { name: String },
    Call(Call),
}

/// The measurements of a model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) answered_by: Option<String>,
    pub(super) usage: Usage,
    pub(super) duration_ms: u64,
    pub(super) first_token_ms: Option<u64>,
}

/// How a model call ended.
struct CallEnd {
    usage: Usage,
    stop_reason: StopReason,
    duration_ms: u64,
    first_token_ms: Option<u64>,
}

impl Spans {
    pub(super) fn new(random: Arc<dyn Random>, contents: Contents) -> Self {
        Self { random, contents, runs: HashMap::new() }
    }

    /// Handles an event and returns the spans it ended.
    pub(super) fn observe(&mut self, event: &Event) -> Vec<Finished> {
        let Some(run_id) = &event.run_id else { return Vec::new() };
        if let AgentEvent::Run(RunEvent::Start { agent_id, model, .. }) = &event.kind {
            let place = Place { trace_id: self.trace_id(), span_id: self.span_id(), parent_id: None };
            let run = OpenRun::new(place, event.at, agent_id.as_str(), model);
            self.runs.insert(run_id.clone(), run);
            return Vec::new();
        }
        let Some(mut run) = self.runs.remove(run_id) else { return Vec::new() };
        if let AgentEvent::Run(RunEvent::End { output }) = &event.kind {
            return self.end(run, event, &output.end, output.usage);
        }
        let finished = self.within(&mut run, event);
        self.runs.insert(run_id.clone(), run);
        finished.into_iter().collect()
    }

    fn within(&self, run: &mut OpenRun, event: &Event) -> Option<Finished> {
        match &event.kind {
            AgentEvent::Model(ModelEvent::Start { model, .. }) => {
                run.call = Some(OpenCall { began: event.at, model: model.as_ref().into() });
                None
            }
            AgentEvent::Message(MessageEvent::End { message }) => {
                run.hear(message, self.contents.message(message));
                None
            }
            AgentEvent::Model(ModelEvent::End {
                usage, stop_reason, duration_ms, first_token_ms, ..
            }) => {
                let (usage, stop_reason) = (*usage, *stop_reason);
                let (duration_ms, first_token_ms) = (*duration_ms, *first_token_ms);
                self.answered(run, event, CallEnd { usage, stop_reason, duration_ms, first_token_ms })
            }
            AgentEvent::Context(ContextEvent::CompactionStart { .. }) => {
                run.call = Some(OpenCall { began: event.at, model: run.model.clone() });
                None
            }
            // Compaction without a model is not a model call.
            AgentEvent::Context(ContextEvent::CompactionEnd { usage, .. }) => {
                let call = run.call.take().filter(|_| usage.total() > 0)?;
                Some(self.call(run, event, &call, CallEnd::now(&call, event, *usage, StopReason::Stop)))
            }
            AgentEvent::Tool(ToolEvent::Start { call_id, name, args, .. }) => {
                let contents = self.contents.arguments(args).into_iter().collect();
                let tool = OpenTool { began: event.at, name: name.to_string(), contents };
                run.tools.insert(call_id.clone(), tool);
                None
            }
            AgentEvent::Tool(ToolEvent::End { call_id, is_error, result, .. }) => {
                let mut tool = run.tools.remove(call_id)?;
                tool.contents.extend(self.contents.result(&result.content));
                let error = is_error.then(|| "tool_error".to_owned());
                Some(self.tool(run, event, call_id, tool, error))
            }
            _ => None,
        }
    }

    fn answered(&self, run: &mut OpenRun, event: &Event, end: CallEnd) -> Option<Finished> {
        let call = run.call.take()?;
        let content = run.take_content();
        let mut finished = self.call(run, event, &call, end);
        finished.span.attributes.extend(content);
        Some(finished)
    }

    fn call(&self, run: &OpenRun, event: &Event, call: &OpenCall, end: CallEnd) -> Finished {
        let error = match end.stop_reason {
            StopReason::Stop | StopReason::Length | StopReason::ToolUse => None,
            StopReason::Error => Some("provider_error".to_owned()),
            StopReason::Aborted => Some("cancelled".to_owned()),
        };
        let mut attributes = run.attributes("chat", event);
        attributes.push(text("gen_ai.request.model", &call.model));
        attributes.push(truth("gen_ai.request.stream"));
        attributes.extend(run.answered_by.as_ref().map(|model| text("gen_ai.response.model", model)));
        attributes.push(Attribute {
            name: "gen_ai.response.finish_reasons".into(),
            value: Known::Texts(vec![finish_reason(end.stop_reason).into()]),
        });
        attributes.extend(end.first_token_ms.map(|ms| seconds("gen_ai.response.time_to_first_chunk", ms)));
        attributes.extend(used(end.usage));
        let counted = Call {
            provider: run.provider.clone(),
            model: call.model.clone(),
            answered_by: run.answered_by.clone(),
            usage: end.usage,
            duration_ms: end.duration_ms,
            first_token_ms: end.first_token_ms,
        };
        let span = Span {
            place: self.beneath(run),
            name: format!("chat {}", call.model),
            kind: SpanKind::Client,
            began: call.began,
            ended: event.at,
            attributes,
            error,
        };
        Finished { span, what: OperationKind::Call(counted) }
    }

    fn tool(
        &self,
        run: &OpenRun,
        event: &Event,
        call_id: &ToolCallId,
        tool: OpenTool,
        error: Option<String>,
    ) -> Finished {
        let mut attributes = vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.conversation.id", event.session_id.as_str()),
            text("gen_ai.agent.name", AGENT),
            text("gen_ai.tool.name", &tool.name),
            text("gen_ai.tool.call.id", call_id.as_str()),
            text("gen_ai.tool.type", "function"),
        ];
        attributes.extend(tool.contents);
        let span = Span {
            place: self.beneath(run),
            name: format!("execute_tool {}", tool.name),
            kind: SpanKind::Internal,
            began: tool.began,
            ended: event.at,
            attributes,
            error,
        };
        Finished { span, what: OperationKind::Tool { name: tool.name } }
    }

    /// Open spans end with their run.
    fn end(&self, mut run: OpenRun, event: &Event, end: &RunEnd, usage: Usage) -> Vec<Finished> {
        let tools: Vec<(ToolCallId, OpenTool)> = run.tools.drain().collect();
        let unfinished =
            |(call_id, tool)| self.tool(&run, event, &call_id, tool, Some("unfinished".to_owned()));
        let mut finished: Vec<Finished> = tools.into_iter().map(unfinished).collect();
        if let Some(call) = run.call.take() {
            let end = CallEnd::now(&call, event, Usage::default(), StopReason::Aborted);
            finished.push(self.call(&run, event, &call, end));
        }
        let mut attributes = run.attributes("invoke_agent", event);
        attributes.push(text("gen_ai.agent.name", AGENT));
        attributes.push(text("gen_ai.agent.id", &run.agent_id));
        attributes.push(text("gen_ai.agent.version", env!("CARGO_PKG_VERSION")));
        attributes.push(text("gen_ai.request.model", &run.model));
        attributes.extend(used(usage));
        let span = Span {
            place: run.place,
            name: format!("invoke_agent {AGENT}"),
            kind: SpanKind::Internal,
            began: run.began,
            ended: event.at,
            attributes,
            error: trouble(end),
        };
        finished.push(Finished { span, what: OperationKind::Run });
        finished
    }

    fn beneath(&self, run: &OpenRun) -> Place {
        let parent_id = Some(run.place.span_id);
        Place { trace_id: run.place.trace_id, span_id: self.span_id(), parent_id }
    }

    /// An id of zeros is invalid.
    fn trace_id(&self) -> [u8; 16] {
        let (high, low) = (self.random.next_u64(), self.random.next_u64().max(1));
        (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
    }

    fn span_id(&self) -> [u8; 8] {
        self.random.next_u64().max(1).to_be_bytes()
    }
}

impl OpenRun {
    fn new(place: Place, began: Timestamp, agent_id: &str, model: &str) -> Self {
        Self {
            place,
            began,
            agent_id: agent_id.to_owned(),
            model: model.to_owned(),
            provider: String::new(),
            answered_by: None,
            call: None,
            tools: HashMap::new(),
            heard: Vec::new(),
            answer: None,
        }
    }

    /// The answering model is known once it has answered.
    fn hear(&mut self, message: &AgentMessage, content: Option<Value>) {
        if let Some(answer) = message.as_assistant() {
            self.answer = content.map(|mut content| {
                if let Value::Object(fields) = &mut content {
                    let reason = finish_reason(answer.stop_reason).into();
                    fields.insert("finish_reason".to_owned(), reason);
                }
                content
            });
            provider_name(&answer.provider).clone_into(&mut self.provider);
            self.answered_by = Some(answer.model.clone()).filter(|model| !model.is_empty());
        } else {
            self.heard.extend(content);
        }
    }

    /// Input and output of a call, if contents are exported. The input of earlier calls is in their spans.
    fn take_content(&mut self) -> Vec<Attribute> {
        let input = messages("gen_ai.input.messages", &std::mem::take(&mut self.heard));
        let output = messages("gen_ai.output.messages", self.answer.take().as_slice());
        input.into_iter().chain(output).collect()
    }

    fn attributes(&self, operation: &str, event: &Event) -> Vec<Attribute> {
        let mut attributes = vec![text("gen_ai.operation.name", operation)];
        if !self.provider.is_empty() {
            attributes.push(text("gen_ai.provider.name", &self.provider));
        }
        attributes.push(text("gen_ai.conversation.id", event.session_id.as_str()));
        attributes
    }
}

impl CallEnd {
    /// A call that ends with this event.
    fn now(call: &OpenCall, event: &Event, usage: Usage, stop_reason: StopReason) -> Self {
        let duration_ms = event.at.as_millis().saturating_sub(call.began.as_millis());
        Self { usage, stop_reason, duration_ms, first_token_ms: None }
    }
}

/// Prompt tokens include cached ones, as the conventions require.
fn used(usage: Usage) -> Vec<Attribute> {
    vec![
        number("gen_ai.usage.input_tokens", input_tokens(usage)),
        number("gen_ai.usage.output_tokens", usage.output),
        number("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
        number("gen_ai.usage.cache_creation.input_tokens", usage.cache_write),
    ]
}

/// All tokens of a prompt.
pub(super) fn input_tokens(usage: Usage) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}

fn finish_reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Stop => "stop",
        StopReason::Length => "length",
        StopReason::ToolUse => "tool_call",
        StopReason::Error => "error",
        StopReason::Aborted => "cancelled",
    }
}

/// The kind of failure a run ended with: one of a few words.
fn trouble(end: &RunEnd) -> Option<String> {
    let word = match end {
        RunEnd::Completed | RunEnd::Truncated => return None,
        RunEnd::Limit { limit: LimitKind::Turns, .. } => "limit_turns",
        RunEnd::Limit { limit: LimitKind::Tokens, .. } => "limit_tokens",
        RunEnd::Limit { limit: LimitKind::Duration, .. } => "limit_duration",
        RunEnd::Limit { limit: LimitKind::Budget, .. } => "limit_budget",
        RunEnd::Rejected { .. } => "rejected",
        RunEnd::Vetoed { .. } => "vetoed",
        RunEnd::Stuck { .. } => "stuck",
        RunEnd::Aborted => "cancelled",
        RunEnd::Failed { failure } => failure_word(failure),
    };
    Some(word.to_owned())
}

fn failure_word(failure: &RunFailure) -> &'static str {
    match failure {
        RunFailure::Provider { error } => match error.kind {
            ProviderErrorKind::Auth => "auth",
            ProviderErrorKind::RateLimited => "rate_limited",
            ProviderErrorKind::Overloaded => "overloaded",
            ProviderErrorKind::ContextOverflow => "context_overflow",
            ProviderErrorKind::InvalidRequest => "invalid_request",
            ProviderErrorKind::Network => "network",
            ProviderErrorKind::Timeout => "timeout",
            ProviderErrorKind::ContentFilter => "content_filter",
            ProviderErrorKind::Malformed => "malformed",
            ProviderErrorKind::Cancelled => "cancelled",
            ProviderErrorKind::Api => "api",
        },
        RunFailure::Store { .. } => "store",
        RunFailure::Tool { .. } => "tool",
        RunFailure::Window { .. } => "window",
        RunFailure::Output { .. } => "output",
        RunFailure::NothingToContinue { .. } => "nothing_to_continue",
        RunFailure::Panic { .. } => "panic",
    }
}

/// Our name of a vendor, and the one of the conventions, where they differ.
const NAMES: [(&str, &str); 10] = [
    ("azure", "azure.ai.openai"),
    ("azure-chat", "azure.ai.openai"),
    ("bedrock", "aws.bedrock"),
    ("google", "gcp.gemini"),
    ("mistral", "mistral_ai"),
    ("moonshot", "moonshot_ai"),
    ("openai-chat", "openai"),
    ("vertex", "gcp.vertex_ai"),
    ("vertex-express", "gcp.vertex_ai"),
    ("xai", "x_ai"),
];

/// The name of a vendor by the conventions, or Rheon's if they have none.
fn provider_name(vendor: &str) -> &str {
    NAMES.iter().find(|(ours, _)| *ours == vendor).map_or(vendor, |(_, theirs)| theirs)
}
