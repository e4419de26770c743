//! `Summary`: the last line of a run: how it ended, and what it used.

use rheon_text::units::{MONEY_EXACT_BELOW, count, duration, grouped, money};
use rheon_types::event::Meter;
use rheon_types::{AgentOutput, LimitKind, MicroUsd, RunEnd, Timestamp, Usage};

use super::page::Ink;

/// Counts across runs.
#[derive(Default)]
pub(super) struct Summary {
    started_at: Option<Timestamp>,
    tools: u64,
    /// The cost limit for all runs together.
    budget: Option<MicroUsd>,
    /// The cost so far; unknown once a price was unknown.
    spent: Spent,
    /// The token limit of one run.
    tokens_max: Option<u64>,
}

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
    /// The budget in millionths of a dollar, with what earlier runs spent.
    pub(super) fn set_budget(&mut self, budget: Meter) {
        self.budget = budget.cap.map(MicroUsd);
        self.spent = Spent::Known(MicroUsd(budget.spent));
    }

    /// Starts or continues a run.
    pub(super) fn begin(&mut self, at: Timestamp) {
        self.started_at.get_or_insert(at);
    }

    pub(super) fn set_tokens_max(&mut self, tokens_max: Option<u64>) {
        self.tokens_max = tokens_max;
    }

    pub(super) fn count_tool(&mut self) {
        self.tools += 1;
    }

    /// The figures of a finished run.
    pub(super) fn end(&mut self, output: &AgentOutput, at: Timestamp) -> String {
        let started_at = self.started_at.take().unwrap_or(at);
        let usage = &output.usage;
        let mut figures = vec![
            count(if stopped_before_first_call(output) { 0 } else { output.turns.into() }, "turn"),
            count(std::mem::take(&mut self.tools), "tool"),
            tokens(usage, reported(output)),
            cost(output).map_or_else(|| "cost unknown".into(), |cost| money(cost.0)),
            duration(at.as_millis().saturating_sub(started_at.as_millis())),
        ];
        figures.extend(self.left(output));
        figures.join(" · ")
    }

    /// What is left of the limits.
    fn left(&mut self, output: &AgentOutput) -> Vec<String> {
        self.spent = match (&self.spent, cost(output)) {
            (Spent::Known(spent), Some(cost)) => Spent::Known(MicroUsd(spent.0.saturating_add(cost.0))),
            (Spent::Known(_) | Spent::Unknown, _) => Spent::Unknown,
        };
        let money = match (self.budget, &self.spent) {
            (Some(budget), Spent::Known(spent)) => {
                let left = budget.0.saturating_sub(spent.0);
                // Costs are rounded up, so round what is left down.
                let step = match left {
                    0..MONEY_EXACT_BELOW => 1,
                    MONEY_EXACT_BELOW..1_000_000 => 100,
                    _ => 10_000,
                };
                let left = left - left % step;
                Some(format!("{} of {} left", money(left), money(budget.0)))
            }
            (Some(budget), Spent::Unknown) => {
                Some(format!("unknown how much of {} remains", money(budget.0)))
            }
            (None, _) => None,
        };
        // Every run has a token limit. Mention it once half is used.
        let used = output.usage.total();
        let tokens = self
            .tokens_max
            .filter(|max| used >= max / 2)
            .map(|max| format!("{} of {} tokens left", grouped(max.saturating_sub(used)), grouped(max)));
        money.into_iter().chain(tokens).collect()
    }
}

/// The tokens of a run. What a service did not report is unknown, not zero.
fn tokens(usage: &Usage, reported: Reported) -> String {
    let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(" ({} cached)", grouped(cached)),
    };
    let at_least = match reported {
        Reported::Nothing => return "tokens unknown".into(),
        Reported::Partly => "at least ",
        Reported::All => "",
    };
    format!("{at_least}{} in{cached} / {} out tokens", grouped(prompt), grouped(usage.output))
}

/// Whether the service said how many tokens its answers took.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reported {
    Nothing,
    Partly,
    All,
}

fn reported(output: &AgentOutput) -> Reported {
    let answers = output.messages.iter().filter_map(|message| message.as_assistant());
    let mut answers = answers.filter(|answer| !answer.content.is_empty());
    match (answers.any(|answer| answer.usage.total() == 0), output.usage.total()) {
        (false, _) => Reported::All,
        (true, 0) => Reported::Nothing,
        (true, _) => Reported::Partly,
    }
}

/// What a run cost, if known. A run that the budget stopped before its first call cost nothing.
fn cost(output: &AgentOutput) -> Option<MicroUsd> {
    output.cost.or(stopped_before_first_call(output).then(MicroUsd::default))
}

/// Whether the budget stopped the run before its first model call.
fn stopped_before_first_call(output: &AgentOutput) -> bool {
    output.usage.total() == 0 && matches!(output.end, RunEnd::Limit { limit: LimitKind::Budget, .. })
}

/// How a run ended, unless it simply completed.
pub(super) fn end_word(end: &RunEnd) -> (Ink, Option<&'static str>) {
    match end {
        RunEnd::Completed => (Ink::Dim, None),
        RunEnd::Truncated => (Ink::Yellow, Some("truncated")),
        RunEnd::Limit { .. } => (Ink::Yellow, Some("stopped at a limit")),
        RunEnd::Rejected { .. } => (Ink::Red, Some("rejected")),
        RunEnd::Vetoed { .. } => (Ink::Red, Some("stopped by a hook")),
        RunEnd::Stuck { .. } => (Ink::Yellow, Some("stopped: the model repeats itself")),
        RunEnd::Aborted => (Ink::Yellow, Some("interrupted")),
        RunEnd::Failed { .. } => (Ink::Red, Some("failed")),
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
