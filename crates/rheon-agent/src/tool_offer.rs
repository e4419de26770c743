//! `ToolOffer`: the tools offered to the model in a turn, with their instructions.

use std::sync::Arc;

use rheon_types::event::ToolSetVersion;
use rheon_types::{SystemPrompt, SystemSection};

use crate::config::RunConfig;
use crate::tool_sources::CurrentTools;
use crate::toolbox::Toolbox;

/// The tools offered to the model in a turn.
pub(crate) struct ToolOffer {
    pub(crate) tools: Toolbox,
    /// The system prompt, with the instructions of the sources.
    pub(crate) system: SystemPrompt,
    /// The log entry; `None` if the tools never change.
    pub(crate) set: Option<Arc<ToolSetVersion>>,
}

impl ToolOffer {
    /// The tools `config` offers now.
    pub(crate) fn now(config: &RunConfig) -> Self {
        let system = config.settings.request.system_prompt.clone();
        match config.context.tool_sources.current(&config.tools) {
            None => Self { tools: config.tools.clone(), system, set: None },
            Some(CurrentTools { tools, sections, set }) => {
                let add =
                    |system: SystemPrompt, section: &SystemSection| system.with_section(section.clone());
                Self { tools, system: sections.iter().fold(system, add), set: Some(set) }
            }
        }
    }

    /// Whether both are the same set of the sources.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.set, &other.set) {
            (Some(set), Some(other)) => Arc::ptr_eq(set, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}
