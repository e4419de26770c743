//! `ModelInfo`: the limits, abilities and prices of a model.

use crate::usage::{MicroUsd, Usage};

/// The limits, abilities and prices of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its name, as its provider names it.
    pub id: String,
    /// Whether the figures are documented for this model; otherwise they are cautious defaults.
    pub known: bool,
    /// The size of the context window: prompt and answer combined.
    pub context_tokens: u64,
    /// The maximum number of answer tokens.
    pub output_tokens_max: u32,
    /// Token prices, if known.
    pub prices: Option<Prices>,
    /// Whether it accepts images.
    pub images: bool,
    /// Whether it can think before it answers.
    pub reasoning: bool,
    /// Whether it calls tools.
    pub tools: bool,
}

impl ModelInfo {
    /// The context window assumed for an unknown model.
    pub const CONTEXT_TOKENS_UNKNOWN: u64 = 128_000;
    /// The answer limit assumed for an unknown model.
    pub const OUTPUT_TOKENS_UNKNOWN: u32 = 8_192;

    /// An unknown model: a common window size, no price, and everything allowed until the service rejects it.
    pub fn unknown(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            known: false,
            context_tokens: Self::CONTEXT_TOKENS_UNKNOWN,
            output_tokens_max: Self::OUTPUT_TOKENS_UNKNOWN,
            prices: None,
            images: true,
            reasoning: true,
            tools: true,
        }
    }

    /// The cost of `usage`; `None` without prices or without a report.
    pub fn cost(&self, usage: &Usage) -> Option<MicroUsd> {
        let prices = self.prices.as_ref()?;
        if usage.total() == 0 { None } else { Some(prices.cost(usage)) }
    }
}

/// The usual price of a cached prompt token, in percent of an ordinary one.
const USUAL_CACHE_READ_PERCENT: u128 = 10;

/// The token prices of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prices {
    /// The ordinary rates.
    pub base: Rates,
    /// The rates of a call whose prompt has more tokens than this.
    pub long: Option<(u64, Rates)>,
}

/// Millionths of a US dollar for a million tokens, by kind of token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rates {
    /// Prompt tokens processed.
    pub input: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
}

impl Prices {
    /// The price of a prompt token read from the cache, in percent of an ordinary one. A model whose prices do not say
    /// it counts a tenth, as most services charge.
    pub fn cache_read_percent(prices: Option<&Self>) -> u8 {
        let rates = prices.map(|prices| prices.base).filter(|rates| rates.input > 0);
        let percent = rates.map_or(USUAL_CACHE_READ_PERCENT, |rates| {
            u128::from(rates.cache_read) * 100 / u128::from(rates.input)
        });
        u8::try_from(percent.min(100)).unwrap_or(100)
    }

    /// The cost of one call, rounded up.
    pub fn cost(&self, usage: &Usage) -> MicroUsd {
        let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let rates = match &self.long {
            Some((above, rates)) if prompt > *above => rates,
            Some(_) | None => &self.base,
        };
        let part = |tokens: u64, rate: u64| u128::from(tokens) * u128::from(rate);
        let sum = part(usage.input, rates.input)
            .saturating_add(part(usage.output, rates.output))
            .saturating_add(part(usage.cache_read, rates.cache_read))
            .saturating_add(part(usage.cache_write, rates.cache_write));
        MicroUsd(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates =
        Rates { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };

    fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
        Usage { input, output, cache_read, cache_write, total_tokens: 0 }
    }

    #[test]
    fn every_kind_of_token_has_its_rate_and_the_sum_is_rounded_up() {
        let prices = Prices { base: RATES, long: None };
        assert_eq!(prices.cost(&usage(1_000, 100, 10_000, 2_000)), MicroUsd(3_000 + 1_500 + 3_000 + 7_500));
        assert_eq!(prices.cost(&usage(0, 0, 1, 0)), MicroUsd(1));
        assert_eq!(prices.cost(&usage(u64::MAX, u64::MAX, u64::MAX, u64::MAX)), MicroUsd(u64::MAX));
    }

    #[test]
    fn a_long_prompt_has_its_own_rates() {
        let dear = Rates { input: 6_000_000, ..RATES };
        let prices = Prices { base: RATES, long: Some((200_000, dear)) };
        assert_eq!(prices.cost(&usage(200_000, 0, 0, 0)), MicroUsd(600_000));
        assert_eq!(prices.cost(&usage(100_000, 0, 0, 100_001)), MicroUsd(600_000 + 375_004));
    }

    #[test]
    fn without_prices_or_without_a_report_the_cost_is_unknown() {
        let unknown = ModelInfo::unknown("m");
        assert_eq!(unknown.cost(&usage(1, 1, 0, 0)), None);
        let priced = ModelInfo { prices: Some(Prices { base: RATES, long: None }), ..unknown };
        assert_eq!(priced.cost(&Usage::default()), None);
        assert_eq!(priced.cost(&usage(1, 1, 0, 0)), Some(MicroUsd(18)));
    }
}
