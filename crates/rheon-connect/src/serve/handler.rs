//! `ServiceHandler`: a service behind the SDK's server.

use std::sync::Arc;

#[expect(deprecated, reason = "older clients set the level of log messages")]
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, InputResponses, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::caller::Link;
use super::round::{CallRound, RoundEnd, WaitingCalls};
use super::service::{McpRequest, McpService};

type Context = RequestContext<RoleServer>;

/// A service, and its calls that wait for input.
#[derive(Clone)]
pub(super) struct ServiceHandler {
    service: Arc<dyn McpService>,
    waiting: Arc<WaitingCalls>,
}

impl ServiceHandler {
    pub(super) fn new(service: Arc<dyn McpService>) -> Self {
        Self { service, waiting: Arc::default() }
    }

    /// Answers a request that asks nothing in between.
    async fn plain<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
        context: Context,
    ) -> Result<T, ErrorData> {
        let request = McpRequest { method: method.to_owned(), params: value(params)? };
        let round = self.round(request, &context, None);
        match round.run(&self.waiting).await? {
            RoundEnd::Complete(result) => typed(result),
            RoundEnd::InputRequired(_) => {
                Err(ErrorData::internal_error("the service asks for input where it cannot", None))
            }
        }
    }

    /// Answers a request, or says which input it needs.
    async fn rounds(
        &self,
        request: McpRequest,
        input: GivenInput,
        context: &Context,
    ) -> Result<RoundEnd, ErrorData> {
        let round = match &input.state {
            Some(state) => {
                let answers = input.answers.unwrap_or_default();
                self.waiting.resume(state, &request, Link::of(context), answers)?
            }
            None => self.round(request, context, input.answers),
        };
        round.run(&self.waiting).await
    }

    fn round(&self, request: McpRequest, context: &Context, early: Option<InputResponses>) -> CallRound {
        let service = Arc::clone(&self.service);
        CallRound::new(request, Link::of(context), early.unwrap_or_default(), |request, caller| {
            service.answer(request, caller)
        })
    }
}

/// What a repeated request contains besides its parameters.
struct GivenInput {
    state: Option<String>,
    answers: Option<InputResponses>,
}

fn value(params: impl Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(params).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A complete result. The SDK leaves the word for it out where older clients would not know it.
fn typed<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    if let Some(result) = result.as_object_mut() {
        result.entry("resultType").or_insert_with(|| "complete".into());
    }
    serde_json::from_value(result)
        .map_err(|error| ErrorData::internal_error(format!("the service's answer is invalid: {error}"), None))
}

#[expect(deprecated, reason = "older clients set the level of log messages and subscribe to resources")]
impl ServerHandler for ServiceHandler {
    fn get_info(&self) -> ServerConfig {
        let about = self.service.about();
        let capabilities = serde_json::from_value(about.capabilities).unwrap_or_default();
        let mut info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(about.name, about.version))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        info.instructions = about.instructions;
        info
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.service.tool_changes().map(|_| SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(mut changes) = self.service.tool_changes() else { return Ok(()) };
        let wants_tools = context.accepted().tools_list_changed == Some(true);
        changes.mark_unchanged();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => if changed.is_err() { return Ok(()) },
            }
            if wants_tools && context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
        }
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        self.plain("tools/list", params, context).await
    }

    async fn call_tool(
        &self,
        mut params: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let input = GivenInput { state: params.request_state.take(), answers: params.input_responses.take() };
        let request = McpRequest { method: "tools/call".to_owned(), params: value(params)? };
        Ok(match self.rounds(request, input, &context).await? {
            RoundEnd::Complete(result) => CallToolResponse::Complete(typed(result)?),
            RoundEnd::InputRequired(required) => CallToolResponse::InputRequired(required),
        })
    }

    async fn list_prompts(
        &self,
        params: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.plain("prompts/list", params, context).await
    }

    async fn get_prompt(
        &self,
        mut params: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let input = GivenInput { state: params.request_state.take(), answers: params.input_responses.take() };
        let request = McpRequest { method: "prompts/get".to_owned(), params: value(params)? };
        Ok(match self.rounds(request, input, &context).await? {
            RoundEnd::Complete(result) => GetPromptResponse::Complete(typed(result)?),
            RoundEnd::InputRequired(required) => GetPromptResponse::InputRequired(required),
        })
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.plain("resources/list", params, context).await
    }

    async fn list_resource_templates(
        &self,
        params: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.plain("resources/templates/list", params, context).await
    }

    async fn read_resource(
        &self,
        mut params: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let input = GivenInput { state: params.request_state.take(), answers: params.input_responses.take() };
        let request = McpRequest { method: "resources/read".to_owned(), params: value(params)? };
        Ok(match self.rounds(request, input, &context).await? {
            RoundEnd::Complete(result) => ReadResourceResponse::Complete(typed(result)?),
            RoundEnd::InputRequired(required) => ReadResourceResponse::InputRequired(required),
        })
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.plain("completion/complete", params, context).await
    }

    async fn set_level(&self, params: SetLevelRequestParams, context: Context) -> Result<(), ErrorData> {
        self.plain::<Value>("logging/setLevel", params, context).await.map(drop)
    }

    async fn subscribe(&self, params: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        self.plain::<Value>("resources/subscribe", params, context).await.map(drop)
    }

    async fn unsubscribe(&self, params: UnsubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        self.plain::<Value>("resources/unsubscribe", params, context).await.map(drop)
    }
}
