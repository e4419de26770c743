//! Step 2: the conversation becomes a request. Shares everything, copies nothing.

use std::sync::Arc;

use rheon_types::Request;

use crate::live::Run;

/// The request of this turn.
pub(crate) fn assemble(run: &Run) -> Request {
    let settings = &run.config.settings;
    Request {
        model: Arc::clone(&settings.model),
        system: Arc::clone(&settings.system_prompt),
        messages: run.history().clone(),
        tools: run.config.tools.definitions(),
        thinking: settings.thinking,
        tokens_max: settings.tokens_max,
        temperature: settings.temperature,
    }
}
