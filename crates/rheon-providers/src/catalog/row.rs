//! `Row`: a model as described in a file. Missing fields fall back to the catalog.

use std::sync::Arc;

use rheon_types::{ModelInfo, Prices, Rates, ThinkingLevel};
use serde::Deserialize;

use super::model::{Model, ThinkingStyle};
use crate::compat::ToolStyle;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Row {
    /// The context window: prompt and response together.
    context_tokens: Option<u64>,
    /// The maximum length of one response.
    output_tokens: Option<u32>,
    /// Prices per million tokens, in US dollars.
    prices: Option<Price>,
    /// Prices for calls with a long prompt.
    long_prices: Option<LongPrice>,
    /// Whether it accepts images.
    images: Option<bool>,
    /// Whether it supports tool calls.
    tools: Option<bool>,
    /// How it receives tools, if that differs from its vendor's default.
    tool_style: Option<ToolStyle>,
    /// How its thinking is configured, if one word is enough.
    thinking: Option<Thinking>,
    thinking_levels: Option<Vec<ThinkingLevel>>,
    thinking_budget: Option<Budget>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Price {
    input: Dollars,
    output: Dollars,
    cache_read: Option<Dollars>,
    cache_write: Option<Dollars>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongPrice {
    above_tokens: u64,
    prices: Price,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Thinking {
    None,
    Toggle,
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    min: u32,
    max: u32,
    #[serde(default)]
    can_disable: bool,
}

/// An amount of US dollars, written as a decimal string to avoid rounding; stored in millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Dollars(u64);

impl TryFrom<String> for Dollars {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_dollars(&text).map(Self).ok_or_else(|| {
            format!("{text:?} is not an amount in dollars; write it like \"0.25\", with at most six decimals")
        })
    }
}

/// Millionths of a dollar.
fn parse_dollars(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 6 {
        return None;
    }
    let decimals: u64 = format!("{decimals:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(decimals)
}

impl Price {
    fn rates(self) -> Rates {
        // Without a cache price, cached tokens cost as much as input tokens.
        let or_input = |price: Option<Dollars>| price.unwrap_or(self.input).0;
        Rates {
            input: self.input.0,
            output: self.output.0,
            cache_read: or_input(self.cache_read),
            cache_write: or_input(self.cache_write),
        }
    }
}

impl Row {
    /// A contradiction in the row.
    pub(super) fn problem(&self) -> Option<String> {
        let settings =
            [self.thinking.is_some(), self.thinking_levels.is_some(), self.thinking_budget.is_some()];
        if settings.into_iter().filter(|given| *given).count() > 1 {
            return Some(
                "set only one of \"thinking\", \"thinking_levels\" and \"thinking_budget\"".to_owned(),
            );
        }
        if self.thinking_levels.as_ref().is_some_and(Vec::is_empty) {
            return Some("\"thinking_levels\" must not be empty; write thinking = \"none\"".to_owned());
        }
        if self.thinking_budget.is_some_and(|budget| budget.min > budget.max) {
            return Some("the minimum budget must not exceed the maximum".to_owned());
        }
        if self.context_tokens == Some(0) || self.output_tokens == Some(0) {
            return Some("a token limit must be at least 1".to_owned());
        }
        if self.long_prices.is_some() && self.prices.is_none() {
            return Some("\"long_prices\" requires \"prices\"; set both".to_owned());
        }
        None
    }

    /// The model `id`: fields of the row, and those of `base` where the row has none.
    pub(super) fn apply_to(&self, base: &Model, id: &str) -> Model {
        let prices = self.prices.map(|price| Prices {
            base: price.rates(),
            long: self.long_prices.map(|long| (long.above_tokens, long.prices.rates())),
        });
        let thinking = self.thinking_style().unwrap_or_else(|| base.thinking.clone());
        let info = ModelInfo {
            id: id.to_owned(),
            known: base.info.known || self.context_tokens.is_some(),
            context_tokens: self.context_tokens.unwrap_or(base.info.context_tokens),
            output_tokens_max: self.output_tokens.unwrap_or(base.info.output_tokens_max),
            prices: prices.or(base.info.prices),
            images: self.images.unwrap_or(base.info.images),
            reasoning: thinking != ThinkingStyle::None,
            tools: self.tools.unwrap_or(base.info.tools),
        };
        Model { info: Arc::new(info), thinking, tool_style: self.tool_style.or(base.tool_style) }
    }

    fn thinking_style(&self) -> Option<ThinkingStyle> {
        let word = self.thinking.map(|thinking| match thinking {
            Thinking::None => ThinkingStyle::None,
            Thinking::Toggle => ThinkingStyle::Toggle,
            Thinking::Always => ThinkingStyle::Always,
        });
        let levels = self.thinking_levels.clone().map(ThinkingStyle::Levels);
        let budget = self.thinking_budget.map(|Budget { min, max, can_disable }| ThinkingStyle::Budget {
            min,
            max,
            can_disable,
        });
        word.or(levels).or(budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_parsed_exactly() {
        for (text, micro_usd) in [
            ("3", Some(3_000_000)),
            ("0.075", Some(75_000)),
            ("12.5", Some(12_500_000)),
            ("0.000001", Some(1)),
            ("0.0000001", None),
            ("", None),
            (".5", None),
            ("1.", None),
            ("-1", None),
            ("1e3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_dollars(text), micro_usd, "{text:?}");
        }
    }
}
