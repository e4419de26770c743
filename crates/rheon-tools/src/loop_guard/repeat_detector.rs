//! `RepeatDetector`: finds calls that repeat with the same results, one call or a short cycle of calls.

use std::collections::VecDeque;

use serde_json::Value;

use super::normal_form::normal_form;

/// The most calls to look back at.
const CALLS_MAX: usize = 64;
/// The longest cycle, in calls.
const PERIOD_MAX: usize = 4;
/// The number of repetitions after which the model is warned, the user is asked, and the call is blocked.
const WARN_AFTER: usize = 3;
const ASK_AFTER: usize = 5;
const BLOCK_AFTER: usize = 8;

/// What to do about a call that is about to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepeatAdvice {
    Proceed,
    /// Run it, and show this message to the model.
    Warn(String),
    /// Ask the user, for this reason.
    Ask(String),
    /// Do not run it, and show this message to the model.
    Block(String),
}

/// The recent calls of a run.
#[derive(Debug, Clone, Default)]
pub struct RepeatDetector {
    calls: VecDeque<CallRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct CallRecord {
    call: blake3::Hash,
    result: blake3::Hash,
}

impl RepeatDetector {
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether this call would repeat earlier ones, and what to do about it.
    pub fn advise(&self, tool: &str, arguments: &Value) -> RepeatAdvice {
        let call = blake3::hash(normal_form(tool, arguments).as_bytes());
        let longest = (1..=PERIOD_MAX).map(|period| (self.rounds_before(call, period), period)).max();
        let Some((rounds, period)) = longest else { return RepeatAdvice::Proceed };
        let summary = match period {
            1 => format!("{tool} was called with the same arguments {rounds} times in a row"),
            _ => format!("the same {period} calls were repeated {rounds} times"),
        };
        let message = |advice: &str| format!("{summary}, with the same results; {advice}");
        match rounds {
            0..WARN_AFTER => RepeatAdvice::Proceed,
            WARN_AFTER..ASK_AFTER => RepeatAdvice::Warn(message("try something else")),
            ASK_AFTER..BLOCK_AFTER => RepeatAdvice::Ask(message("the model may be stuck in a loop")),
            BLOCK_AFTER.. => {
                RepeatAdvice::Block(message("it was not run again; do something else or tell the user"))
            }
        }
    }

    /// Records a call and its result.
    pub fn record(&mut self, tool: &str, arguments: &Value, result: &str) {
        let call = blake3::hash(normal_form(tool, arguments).as_bytes());
        self.push(CallRecord { call, result: blake3::hash(result.as_bytes()) });
    }

    /// Records a call that was not run, for this reason. It counts as one more repetition, because a denial is not a
    /// new result.
    pub fn record_denied(&mut self, tool: &str, arguments: &Value, reason: &str) {
        let call = blake3::hash(normal_form(tool, arguments).as_bytes());
        let last = self.calls.iter().rev().find(|made| made.call == call).map(|made| made.result);
        self.push(CallRecord { call, result: last.unwrap_or_else(|| blake3::hash(reason.as_bytes())) });
    }

    fn push(&mut self, record: CallRecord) {
        if self.calls.len() == CALLS_MAX {
            self.calls.pop_front();
        }
        self.calls.push_back(record);
    }

    /// Forgets all calls, because a new user message changes the situation.
    pub fn reset(&mut self) {
        self.calls.clear();
    }

    /// How many full rounds of `period` calls precede this call, each equal to the last, if this call would start the
    /// next one.
    fn rounds_before(&self, call: blake3::Hash, period: usize) -> usize {
        let newest =
            |back: usize| self.calls.len().checked_sub(back + 1).and_then(|index| self.calls.get(index));
        // The call continues the cycle only if it was also called one period ago.
        if newest(period - 1).is_none_or(|record| record.call != call) {
            return 0;
        }
        let same = (0..self.calls.len())
            .take_while(|back| newest(*back).is_some() && newest(*back) == newest(back + period))
            .count();
        // If all calls of a longer cycle are equal, it is a shorter cycle.
        let parts: Vec<_> = (0..period).filter_map(newest).collect();
        let is_shorter = period > 1 && parts.windows(2).all(|pair| pair.first() == pair.last());
        if is_shorter { 0 } else { (same + period) / period }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(calls: &[(&str, &str)], next: &str) -> RepeatAdvice {
        let mut detector = RepeatDetector::new();
        for (command, result) in calls {
            detector.record("bash", &json!({ "command": command }), result);
        }
        detector.advise("bash", &json!({ "command": next }))
    }

    fn times(count: usize, calls: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
        calls.iter().copied().cycle().take(count * calls.len()).collect()
    }

    #[test]
    fn a_repeated_call_is_warned_about_then_needs_approval_then_is_blocked() {
        let advice = |count| after(&times(count, &[("make", "error")]), " make ");
        assert_eq!(advice(2), RepeatAdvice::Proceed);
        let message = "bash was called with the same arguments 3 times in a row, with the same results; try something else";
        assert_eq!(advice(3), RepeatAdvice::Warn(message.into()));
        assert!(matches!(advice(5), RepeatAdvice::Ask(_)));
        assert!(matches!(advice(8), RepeatAdvice::Block(_)));
        assert!(matches!(advice(500), RepeatAdvice::Block(_)));
    }

    #[test]
    fn a_cycle_of_calls_counts_as_repetition() {
        let calls = times(3, &[("a", "1"), ("b", "2")]);
        let message = "the same 2 calls were repeated 3 times, with the same results; try something else";
        assert_eq!(after(&calls, "a"), RepeatAdvice::Warn(message.into()));
        assert_eq!(after(&calls, "b"), RepeatAdvice::Proceed);
        assert_eq!(after(&calls, "c"), RepeatAdvice::Proceed);
        assert!(matches!(after(&times(8, &[("a", ""), ("b", ""), ("c", "")]), "a"), RepeatAdvice::Block(_)));
    }

    #[test]
    fn a_call_with_changing_results_is_not_a_repetition() {
        let polls =
            [("tail log", "1"), ("tail log", "2"), ("tail log", "3"), ("tail log", "4"), ("tail log", "5")];
        assert_eq!(after(&polls, "tail log"), RepeatAdvice::Proceed);
    }

    #[test]
    fn a_user_message_resets_the_detector() {
        let mut detector = RepeatDetector::new();
        for _ in 0..9 {
            detector.record("bash", &json!({"command": "x"}), "");
        }
        detector.reset();
        assert_eq!(detector.advise("bash", &json!({"command": "x"})), RepeatAdvice::Proceed);
    }
}
