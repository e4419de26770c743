//! Step 2: builds the request from the conversation, without copying.

use std::sync::Arc;

use rheon_types::{Request, ThinkingLevel, ToolChoice};

use crate::live::Run;

/// The request of this turn.
pub(crate) fn assemble(run: &Run) -> Request {
    let settings = &run.config.settings.request;
    Request {
        model: Arc::clone(&run.config.settings.model),
        system: run.offer.system.clone(),
        messages: run.state.conversation.window().clone(),
        reminder: run.state.turn.as_ref().and_then(|turn| turn.reminder.clone()),
        tools: run.offer.tools.definitions(),
        tool_choice: ToolChoice::Auto,
        thinking: thinking(run),
        tokens_max: settings.tokens_max,
        temperature: settings.temperature,
        output_schema: settings.output_schema.clone(),
        cache: settings.cache,
        cache_key: Some(run.log.log.session_id().to_shared()),
    }
}

/// The level to request. A default level is not sent to a model that may refuse it.
fn thinking(run: &Run) -> ThinkingLevel {
    let settings = &run.config.settings;
    let is_known = || run.config.provider.describe(&settings.model).is_some_and(|info| info.known);
    if settings.request.thinking_is_default && !is_known() {
        return ThinkingLevel::Off;
    }
    settings.request.thinking
}
