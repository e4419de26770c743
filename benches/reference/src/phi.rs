//! phi-core, through its free function `agent_loop`: less around it than its `BasicAgent`.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use phi_core::agent_loop::AgentLoopConfig;
use phi_core::provider::{
    ModelConfig, ProviderError, ResponseFormat, StreamConfig, StreamEvent, StreamProvider,
};
use phi_core::{
    AgentContext, AgentMessage, AgentTool, CacheConfig, Content, LlmMessage, Message, RetryConfig,
    RevertRenderPolicy, StopReason, ThinkingLevel, ToolContext, ToolError, ToolExecutionStrategy, ToolResult,
    TurnTrigger, Usage, agent_loop, now_ms,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::work::{ARGUMENTS, Job, NOOP, NOOP_DESCRIPTION, PROMPT, Reply, Running, System, earlier, schema};

pub(crate) struct Phi;

impl System for Phi {
    fn name(&self) -> &'static str {
        "phi-core 0.15.2"
    }

    fn prepare(&self, job: Job) -> Running {
        let config = config(Arc::new(Model { job, requests: AtomicU32::new(0) }));
        let mut context = AgentContext {
            messages: (0..job.messages()).map(message).collect(),
            tools: vec![Arc::new(Noop)],
            ..AgentContext::default()
        };
        Box::pin(async move {
            for _ in 0..job.runs() {
                let (sender, mut events) = mpsc::unbounded_channel();
                let reader = tokio::spawn(async move { while events.recv().await.is_some() {} });
                let prompt = vec![AgentMessage::Llm(LlmMessage::new(Message::user(PROMPT)))];
                let cancel = CancellationToken::new();
                let produced = agent_loop(prompt, &mut context, &config, sender, cancel).await;
                reader.await.expect("the reader reads to the end");
                check(job, &produced);
            }
            Box::new((context, config)) as Box<dyn Any>
        })
    }
}

fn check(job: Job, produced: &[AgentMessage]) {
    let answers: Vec<&Vec<Content>> = produced
        .iter()
        .filter_map(|message| match message.as_llm() {
            Some(Message::Assistant { content, .. }) => Some(content),
            _ => None,
        })
        .collect();
    let last = answers.last().and_then(|content| content.first());
    let length = match last {
        Some(Content::Text { text }) => text.len(),
        _ => 0,
    };
    assert_eq!((answers.len(), length), (job.turns() as usize, job.text_len()));
}

fn message(index: u32) -> AgentMessage {
    // Its loop sorts messages by time, so the earlier ones need one in their order.
    let (content, timestamp) = (vec![Content::Text { text: earlier(index) }], u64::from(index));
    let message = if index.is_multiple_of(2) {
        Message::User { content, timestamp }
    } else {
        answer(content, timestamp)
    };
    AgentMessage::Llm(LlmMessage::new(message))
}

fn answer(content: Vec<Content>, timestamp: u64) -> Message {
    let calls = content.iter().any(|block| matches!(block, Content::ToolCall { .. }));
    Message::Assistant {
        content,
        stop_reason: if calls { StopReason::ToolUse } else { StopReason::Stop },
        model: "m".into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp,
        error_message: None,
    }
}

/// Everything off that can be.
fn config(provider: Arc<dyn StreamProvider>) -> AgentLoopConfig {
    AgentLoopConfig {
        model_config: ModelConfig::anthropic("m", "m", "key"),
        provider_override: Some(provider),
        thinking_level: ThinkingLevel::Off,
        max_tokens: None,
        temperature: None,
        convert_to_llm: None,
        transform_context: None,
        get_steering_messages: None,
        get_follow_up_messages: None,
        context_config: None,
        execution_limits: None,
        cache_config: CacheConfig::default(),
        tool_execution: ToolExecutionStrategy::default(),
        tool_timeout: None,
        response_format: ResponseFormat::Text,
        provider_wire_sink: None,
        event_log: None,
        progressive_tool_catalog: Default::default(),
        retry_config: RetryConfig::default(),
        before_turn: None,
        after_turn: None,
        on_error: None,
        before_loop: None,
        after_loop: None,
        before_tool_execution: None,
        after_tool_execution: None,
        before_tool_execution_update: None,
        after_tool_execution_update: None,
        before_compaction_start: None,
        after_compaction_end: None,
        input_filters: Vec::new(),
        first_turn_trigger: TurnTrigger::User,
        config_id: None,
        context_translation: None,
        prun_pending: None,
        revert_pending: None,
        current_tool: None,
        revert_render_policy: RevertRenderPolicy::default(),
    }
}

struct Model {
    job: Job,
    requests: AtomicU32,
}

#[async_trait]
impl StreamProvider for Model {
    fn provider_id(&self) -> &str {
        "p"
    }

    async fn stream(
        &self,
        _config: StreamConfig,
        events: mpsc::UnboundedSender<StreamEvent>,
        _cancel: CancellationToken,
    ) -> Result<Message, ProviderError> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let send = |event| events.send(event).expect("the loop reads");
        send(StreamEvent::Start);
        let content = match self.job.reply(number) {
            Reply::Call => {
                let (id, name) = (format!("call_{number}"), NOOP.to_owned());
                send(StreamEvent::ToolCallStart { content_index: 0, id: id.clone(), name: name.clone() });
                send(StreamEvent::ToolCallDelta { content_index: 0, delta: ARGUMENTS.into() });
                send(StreamEvent::ToolCallEnd { content_index: 0 });
                let arguments = serde_json::from_str(ARGUMENTS).expect("the arguments are JSON");
                Content::ToolCall { id, name, arguments }
            }
            Reply::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    text.push_str(piece);
                    send(StreamEvent::TextDelta { content_index: 0, delta: piece.to_owned() });
                }
                Content::Text { text }
            }
        };
        let message = answer(vec![content], now_ms());
        send(StreamEvent::Done { message: message.clone() });
        Ok(message)
    }
}

struct Noop;

#[async_trait]
impl AgentTool for Noop {
    fn name(&self) -> &str {
        NOOP
    }

    fn label(&self) -> &str {
        NOOP
    }

    fn description(&self) -> &str {
        NOOP_DESCRIPTION
    }

    fn parameters_schema(&self) -> Value {
        schema()
    }

    async fn execute(&self, _arguments: Value, _context: ToolContext) -> Result<ToolResult, ToolError> {
        let content = vec![Content::Text { text: "ok".into() }];
        Ok(ToolResult { content, details: Value::Null, child_loop_id: None })
    }
}
