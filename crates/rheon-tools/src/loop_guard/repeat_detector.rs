//! Calls that go in circles: the same call, or the same few calls in turn, again and again with the same results.

use std::collections::VecDeque;

use serde_json::Value;

use super::normal_form::normal_form;

/// How many calls are looked back at.
const CALLS_MAX: usize = 64;
/// How long a circle may be.
const PERIOD_MAX: usize = 4;
/// After how many rounds the model is warned, somebody is asked, and the call is refused.
const WARN_AFTER: usize = 3;
const ASK_AFTER: usize = 5;
const BLOCK_AFTER: usize = 8;

/// What to do about a call that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepeatAdvice {
    /// Nothing: it is not part of a circle.
    Proceed,
    /// Run it and tell the model this.
    Warn(String),
    /// Somebody should decide.
    Ask(String),
    /// Do not run it; the model is told this.
    Block(String),
}

/// The calls of a run, as far back as a circle could reach.
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
    /// No calls so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// What to do about this call, if it were made now.
    pub fn advise(&self, tool: &str, arguments: &Value) -> RepeatAdvice {
        let call = blake3::hash(normal_form(tool, arguments).as_bytes());
        let longest = (1..=PERIOD_MAX).map(|period| (self.rounds_before(call, period), period)).max();
        let Some((rounds, period)) = longest else { return RepeatAdvice::Proceed };
        let summary = match period {
            1 => format!("{tool} was called with the same arguments {rounds} times in a row"),
            _ => format!("the same {period} calls were made in turn {rounds} times"),
        };
        let message = |advice: &str| format!("{summary}, with the same results; {advice}");
        match rounds {
            0..WARN_AFTER => RepeatAdvice::Proceed,
            WARN_AFTER..ASK_AFTER => RepeatAdvice::Warn(message("try something else")),
            ASK_AFTER..BLOCK_AFTER => RepeatAdvice::Ask(message("it may be going in circles")),
            BLOCK_AFTER.. => {
                RepeatAdvice::Block(message("it is not run again; do something else or tell the user"))
            }
        }
    }

    /// Remembers a call that was made and what came of it.
    pub fn record(&mut self, tool: &str, arguments: &Value, result: &str) {
        let call = blake3::hash(normal_form(tool, arguments).as_bytes());
        self.push(CallRecord { call, result: blake3::hash(result.as_bytes()) });
    }

    /// Remembers a call that was not made, for this reason. It is one more round of the circle it belongs to: a refusal is
    /// no new result.
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

    /// Forgets all calls: the user has said something, so the situation is another.
    pub fn reset(&mut self) {
        self.calls.clear();
    }

    /// How many whole rounds of `period` calls stand before this call, each like the last, of which it would be the next.
    fn rounds_before(&self, call: blake3::Hash, period: usize) -> usize {
        let newest =
            |back: usize| self.calls.len().checked_sub(back + 1).and_then(|index| self.calls.get(index));
        // The call continues the circle only if it is what was called a period ago.
        if newest(period - 1).is_none_or(|record| record.call != call) {
            return 0;
        }
        let same = (0..self.calls.len())
            .take_while(|back| newest(*back).is_some() && newest(*back) == newest(back + period))
            .count();
        // Of a longer circle all parts must differ, or it is a shorter one.
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
    fn the_same_call_is_warned_about_then_asked_about_then_refused() {
        let advice = |count| after(&times(count, &[("make", "error")]), " make ");
        assert_eq!(advice(2), RepeatAdvice::Proceed);
        let message = "bash was called with the same arguments 3 times in a row, with the same results; try something else";
        assert_eq!(advice(3), RepeatAdvice::Warn(message.into()));
        assert!(matches!(advice(5), RepeatAdvice::Ask(_)));
        assert!(matches!(advice(8), RepeatAdvice::Block(_)));
        assert!(matches!(advice(500), RepeatAdvice::Block(_)));
    }

    #[test]
    fn calls_in_turn_are_a_circle_too() {
        let calls = times(3, &[("a", "1"), ("b", "2")]);
        let message = "the same 2 calls were made in turn 3 times, with the same results; try something else";
        assert_eq!(after(&calls, "a"), RepeatAdvice::Warn(message.into()));
        assert_eq!(after(&calls, "b"), RepeatAdvice::Proceed);
        assert_eq!(after(&calls, "c"), RepeatAdvice::Proceed);
        assert!(matches!(after(&times(8, &[("a", ""), ("b", ""), ("c", "")]), "a"), RepeatAdvice::Block(_)));
    }

    #[test]
    fn a_call_whose_result_changes_makes_progress() {
        let polls =
            [("tail log", "1"), ("tail log", "2"), ("tail log", "3"), ("tail log", "4"), ("tail log", "5")];
        assert_eq!(after(&polls, "tail log"), RepeatAdvice::Proceed);
    }

    #[test]
    fn what_the_user_says_begins_anew() {
        let mut detector = RepeatDetector::new();
        for _ in 0..9 {
            detector.record("bash", &json!({"command": "x"}), "");
        }
        detector.reset();
        assert_eq!(detector.advise("bash", &json!({"command": "x"})), RepeatAdvice::Proceed);
    }
}
