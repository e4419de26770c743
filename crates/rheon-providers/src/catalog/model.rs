//! `Model`: what is known of one model, for those who encode requests to it.

use std::sync::Arc;

use rheon_types::{ModelInfo, Prices, Rates, ThinkingLevel};

use crate::compat::ToolStyle;

/// What is known of a model, for those who encode requests to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// What everyone may know of it.
    pub info: Arc<ModelInfo>,
    /// How its thinking is set.
    pub thinking: ThinkingStyle,
    /// How it gets its tools, where that is not as its vendor's models do.
    pub tool_style: Option<ToolStyle>,
}

/// How the thinking of a model is set, whatever the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThinkingStyle {
    /// It does not think, or cannot be told to.
    None,
    /// By a budget of tokens.
    Budget {
        /// The least the service takes.
        min: u32,
        /// The most.
        max: u32,
        /// Whether it can be switched off.
        can_disable: bool,
    },
    /// By one of these levels, lowest first. A level that is not among them becomes the nearest one.
    Levels(Vec<ThinkingLevel>),
    /// On or off.
    Toggle,
    /// It always thinks; there is nothing to set.
    Always,
}

impl Model {
    /// A model that nothing is known of.
    pub fn unknown(id: &str) -> Self {
        Self { info: Arc::new(ModelInfo::unknown(id)), thinking: ThinkingStyle::None, tool_style: None }
    }

    /// A model of which a file says the rest: it sees no pictures, unless the file says so.
    pub(super) fn blank(id: &str) -> Self {
        let info = ModelInfo { images: false, ..ModelInfo::unknown(id) };
        Self { info: Arc::new(info), thinking: ThinkingStyle::None, tool_style: None }
    }

    /// The same model with a context of `tokens`, as a server reports it. An answer is at most half of it.
    pub fn with_context(&self, tokens: u64) -> Self {
        let half = u32::try_from(tokens / 2).unwrap_or(u32::MAX).max(1);
        let info = ModelInfo {
            context_tokens: tokens,
            output_tokens_max: self.info.output_tokens_max.min(half),
            ..ModelInfo::clone(&self.info)
        };
        Self { info: Arc::new(info), thinking: self.thinking.clone(), tool_style: self.tool_style }
    }

    /// The same model under the name `id`, without prices: another service asks its own.
    pub(super) fn elsewhere(&self, id: &str) -> Self {
        let info = ModelInfo { id: id.to_owned(), prices: None, ..ModelInfo::clone(&self.info) };
        Self { info: Arc::new(info), thinking: self.thinking.clone(), tool_style: self.tool_style }
    }

    /// The same model under the name `id`, under which it costs nothing.
    pub(super) fn for_nothing(&self, id: &str) -> Self {
        let prices = Some(Prices { base: Rates::default(), long: None });
        let info = ModelInfo { id: id.to_owned(), prices, ..ModelInfo::clone(&self.info) };
        Self { info: Arc::new(info), thinking: self.thinking.clone(), tool_style: self.tool_style }
    }

    /// The same model under the name `id`.
    pub(super) fn renamed(&self, id: &str) -> Self {
        let info = ModelInfo { id: id.to_owned(), ..ModelInfo::clone(&self.info) };
        Self { info: Arc::new(info), thinking: self.thinking.clone(), tool_style: self.tool_style }
    }
}
