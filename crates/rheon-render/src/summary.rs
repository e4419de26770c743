//! `Summary`: the last line of a run: how it ended, and what it took.

use rheon_text::units::{MONEY_EXACT_BELOW, count, duration, grouped, money};
use rheon_types::{AgentOutput, LimitKind, MicroUsd, RunEnd, Timestamp};

use super::page::Ink;

/// What is counted while runs go by.
#[derive(Default)]
pub(super) struct Summary {
    begun: Option<Timestamp>,
    tools: u64,
    /// The most that all runs may cost together.
    budget: Option<MicroUsd>,
    /// What they cost so far; nothing once a price was unknown.
    spent: Spent,
    /// The most tokens of one run.
    tokens_max: Option<u64>,
}

/// Money that is gone.
enum Spent {
    Known(MicroUsd),
    Unknown,
}

impl Default for Spent {
    fn default() -> Self {
        Self::Known(MicroUsd::default())
    }
}

impl Summary {
    pub(super) fn set_budget(&mut self, budget: MicroUsd) {
        self.budget = Some(budget);
    }

    /// A run begins, or goes on.
    pub(super) fn begin(&mut self, at: Timestamp) {
        self.begun.get_or_insert(at);
    }

    pub(super) fn set_tokens_max(&mut self, tokens_max: Option<u64>) {
        self.tokens_max = tokens_max;
    }

    pub(super) fn count_tool(&mut self) {
        self.tools += 1;
    }

    /// The run is over: its figures.
    pub(super) fn end(&mut self, output: &AgentOutput, at: Timestamp) -> String {
        let begun = self.begun.take().unwrap_or(at);
        let usage = &output.usage;
        let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let cached = match usage.cache_read {
            0 => String::new(),
            cached => format!(" ({} cached)", grouped(cached)),
        };
        let mut figures = vec![
            count(if is_unasked(output) { 0 } else { output.turns.into() }, "turn"),
            count(std::mem::take(&mut self.tools), "tool"),
            format!("{} in{cached} / {} out tokens", grouped(prompt), grouped(usage.output)),
            cost(output).map_or_else(|| "cost unknown".into(), |cost| money(cost.0)),
            duration(at.as_millis().saturating_sub(begun.as_millis())),
        ];
        figures.extend(self.left(output));
        figures.join(" · ")
    }

    /// What may still be spent.
    fn left(&mut self, output: &AgentOutput) -> Vec<String> {
        self.spent = match (&self.spent, cost(output)) {
            (Spent::Known(spent), Some(cost)) => Spent::Known(MicroUsd(spent.0.saturating_add(cost.0))),
            (Spent::Known(_) | Spent::Unknown, _) => Spent::Unknown,
        };
        let money = match (self.budget, &self.spent) {
            (Some(budget), Spent::Known(spent)) => {
                let left = budget.0.saturating_sub(spent.0);
                // A cost is rounded up, what is left is rounded down.
                let step = match left {
                    0..MONEY_EXACT_BELOW => 1,
                    MONEY_EXACT_BELOW..1_000_000 => 100,
                    _ => 10_000,
                };
                let left = left - left % step;
                Some(format!("{} of {} left", money(left), money(budget.0)))
            }
            (Some(budget), Spent::Unknown) => {
                Some(format!("unknown how much of {} is left", money(budget.0)))
            }
            (None, _) => None,
        };
        // Every run has a limit of tokens; it is worth a word once half of it is gone.
        let used = output.usage.total();
        let tokens = self
            .tokens_max
            .filter(|max| used >= max / 2)
            .map(|max| format!("{} of {} tokens left", grouped(max.saturating_sub(used)), grouped(max)));
        money.into_iter().chain(tokens).collect()
    }
}

/// What a run cost, if that is known; a budget that covers no call costs nothing.
fn cost(output: &AgentOutput) -> Option<MicroUsd> {
    output.cost.or(is_unasked(output).then(MicroUsd::default))
}

/// Whether the model was never asked, as the budget covers no call.
fn is_unasked(output: &AgentOutput) -> bool {
    output.usage.total() == 0 && matches!(output.end, RunEnd::Limit { limit: LimitKind::Budget, .. })
}

/// How a run ended, unless it simply came to its end.
pub(super) fn end_word(end: &RunEnd) -> (Ink, Option<&'static str>) {
    match end {
        RunEnd::Completed => (Ink::Dim, None),
        RunEnd::Truncated => (Ink::Yellow, Some("cut off")),
        RunEnd::Limit { .. } => (Ink::Yellow, Some("stopped at a limit")),
        RunEnd::Rejected { .. } => (Ink::Red, Some("rejected")),
        RunEnd::Vetoed { .. } => (Ink::Red, Some("stopped by a hook")),
        RunEnd::Aborted => (Ink::Yellow, Some("interrupted")),
        RunEnd::Failed { .. } => (Ink::Red, Some("failed")),
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
