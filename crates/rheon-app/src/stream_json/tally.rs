//! `Tally`: usage by model, and the denied calls of the current run.

use std::collections::BTreeMap;

use rheon_store::claude::usage_json;
use rheon_types::{MicroUsd, Timestamp, Usage};
use serde_json::{Map, Value, json};

use super::facts::StreamModelInfo;

/// How many denials a result lists; the others are only counted.
pub(super) const DENIALS_MAX: usize = 1_000;

/// The usage since the session was opened.
#[derive(Debug, Default)]
pub(super) struct Tally {
    models: BTreeMap<String, Used>,
    pub(super) results: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Used {
    usage: Usage,
    cost: MicroUsd,
}

/// The totals of one run of the session itself.
#[derive(Debug, Clone, Default)]
pub(super) struct RunTally {
    pub(super) began_at: Timestamp,
    pub(super) api_ms: u64,
    pub(super) first_token_ms: Option<u64>,
    pub(super) denials: Vec<Value>,
}

impl Tally {
    /// Counts a finished call of `model`.
    pub(super) fn count(&mut self, model: &str, usage: Usage, cost: Option<MicroUsd>) {
        let used = self.models.entry(model.to_owned()).or_default();
        used.usage += usage;
        used.cost = MicroUsd(used.cost.0.saturating_add(cost.unwrap_or_default().0));
    }

    /// The total cost.
    pub(super) fn cost_usd(&self) -> f64 {
        dollars(MicroUsd(self.models.values().fold(0, |sum, used| sum.saturating_add(used.cost.0))))
    }

    /// The usage by model.
    pub(super) fn by_model(&self, facts: &StreamModelInfo) -> Value {
        let row = |(model, used): (&String, &Used)| {
            // Usage is counted by the vendor's own model name.
            let is_own =
                facts.id.strip_suffix(model).is_some_and(|vendor| vendor.is_empty() || vendor.ends_with('/'));
            let limit = |limit: u64| if is_own { limit } else { 0 };
            let row = json!({
                "inputTokens": used.usage.input,
                "outputTokens": used.usage.output,
                "cacheReadInputTokens": used.usage.cache_read,
                "cacheCreationInputTokens": used.usage.cache_write,
                "webSearchRequests": 0,
                "costUSD": dollars(used.cost),
                "contextWindow": limit(facts.context_window),
                "maxOutputTokens": limit(facts.output_tokens_max),
            });
            (model.clone(), row)
        };
        Value::Object(self.models.iter().map(row).collect::<Map<_, _>>())
    }
}

impl RunTally {
    /// Notes how long a model call took.
    pub(super) fn time(&mut self, duration_ms: u64, first_token_ms: Option<u64>) {
        self.api_ms = self.api_ms.saturating_add(duration_ms);
        self.first_token_ms = self.first_token_ms.or(first_token_ms);
    }

    /// Notes a call that was refused.
    pub(super) fn deny(&mut self, denial: Value) {
        let id = denial.get("tool_use_id");
        if self.denials.len() < DENIALS_MAX
            && !self.denials.iter().any(|known| known.get("tool_use_id") == id)
        {
            self.denials.push(denial);
        }
    }
}

/// The tokens of a run, with the fields that a result has besides.
pub(super) fn result_usage(usage: &Usage) -> Value {
    let mut counts = usage_json(usage);
    if let Value::Object(fields) = &mut counts {
        let server = json!({ "web_search_requests": 0, "web_fetch_requests": 0 });
        fields.insert("server_tool_use".to_owned(), server);
        fields.insert("service_tier".to_owned(), json!("standard"));
    }
    counts
}

#[allow(clippy::cast_precision_loss, reason = "the format has dollars as a floating-point number")]
fn dollars(amount: MicroUsd) -> f64 {
    amount.0 as f64 / 1e6
}
