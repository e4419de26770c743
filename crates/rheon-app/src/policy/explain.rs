//! What is decided about a call, and why, without running it.

use rheon_policy::Explanation;
use rheon_types::{Effect, ToolCall};

use crate::config::Config;
use crate::session::{OpenError, Surroundings, Tell, toolkit};

/// What a session here would decide about `call`, and why. Nothing runs.
pub async fn explain(
    surroundings: &Surroundings,
    config: &Config,
    call: &ToolCall,
    tell: &Tell,
) -> Result<Explanation, OpenError> {
    let toolkit = toolkit(surroundings, config, Default::default(), tell).await?;
    let tools = toolkit.tools();
    let tool = tools.iter().find(|tool| tool.name() == call.name.as_str());
    Ok(toolkit.gate().explain(call, tool.map_or(Effect::default(), |tool| tool.effect())))
}
