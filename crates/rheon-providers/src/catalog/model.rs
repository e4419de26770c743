//! `Model`: the properties of a model that encoders need.

use std::sync::Arc;

use rheon_types::{ModelInfo, Prices, Rates, ThinkingLevel};

use crate::compat::ToolStyle;

/// The properties of a model that encoders need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The public properties.
    pub info: Arc<ModelInfo>,
    /// How its thinking is configured.
    pub thinking: ThinkingStyle,
    /// How it receives tools, if that differs from its vendor's default.
    pub tool_style: Option<ToolStyle>,
}

/// How a model's thinking is configured, independent of the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThinkingStyle {
    /// It does not think, or thinking cannot be configured.
    None,
    /// By a token budget.
    Budget {
        /// The minimum that the service accepts.
        min: u32,
        /// The maximum.
        max: u32,
        /// Whether thinking can be disabled.
        can_disable: bool,
    },
    /// By one of these levels, lowest first. Other levels are mapped to the nearest one.
    Levels(Vec<ThinkingLevel>),
    /// On or off.
    Toggle,
    /// It always thinks; there is no setting.
    Always,
}

impl Model {
    /// A model without a catalog entry.
    pub fn unknown(id: &str) -> Self {
        Self { info: Arc::new(ModelInfo::unknown(id)), thinking: ThinkingStyle::None, tool_style: None }
    }

    /// The base for a model described by a file: without images, unless the file enables them.
    pub(super) fn blank(id: &str) -> Self {
        let info = ModelInfo { images: false, ..ModelInfo::unknown(id) };
        Self { info: Arc::new(info), thinking: ThinkingStyle::None, tool_style: None }
    }

    /// The same model with a context window of `tokens`, as reported by a server. The output limit is at most half of
    /// it.
    pub fn with_context(&self, tokens: u64) -> Self {
        let half = u32::try_from(tokens / 2).unwrap_or(u32::MAX).max(1);
        let info = ModelInfo {
            context_tokens: tokens,
            output_tokens_max: self.info.output_tokens_max.min(half),
            ..ModelInfo::clone(&self.info)
        };
        Self { info: Arc::new(info), thinking: self.thinking.clone(), tool_style: self.tool_style }
    }

    /// The same model under the name `id`, without prices: another service has its own.
    pub(super) fn without_prices(&self, id: &str) -> Self {
        let info = ModelInfo { id: id.to_owned(), prices: None, ..ModelInfo::clone(&self.info) };
        Self { info: Arc::new(info), thinking: self.thinking.clone(), tool_style: self.tool_style }
    }

    /// The same model under the name `id`, free of charge.
    pub(super) fn free_of_charge(&self, id: &str) -> Self {
        let prices = Some(Prices { base: Rates::default(), long: None });
        let info = ModelInfo { id: id.to_owned(), prices, ..ModelInfo::clone(&self.info) };
        Self { info: Arc::new(info), thinking: self.thinking.clone(), tool_style: self.tool_style }
    }

    /// The same model under the name `id`.
    pub(super) fn with_id(&self, id: &str) -> Self {
        let info = ModelInfo { id: id.to_owned(), ..ModelInfo::clone(&self.info) };
        Self { info: Arc::new(info), thinking: self.thinking.clone(), tool_style: self.tool_style }
    }
}
