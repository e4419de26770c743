//! The recorded compaction: applies the recorded cuts and usage.

use std::future::pending;
use std::sync::Arc;

use rheon_types::{AgentEvent, Answer, ContextEvent, History, Reminder, ReminderContext, WindowCut};

use super::director::{Director, ScriptPosition};
use crate::context::{CompactionStrategy, Summarizer, WindowView};

/// Applies the recorded cuts.
pub(super) struct RecordedStrategy(pub(super) Arc<Director>);

/// Adds no text, because reminders are not in the log; panics where a reminder panicked.
pub(super) struct RecordedReminder(pub(super) Arc<Director>);

impl CompactionStrategy for RecordedStrategy {
    fn name(&self) -> &str {
        "recorded"
    }

    fn compact<'a>(&'a self, _view: WindowView<'a>, model: &'a dyn Summarizer) -> Answer<'a, Vec<WindowCut>> {
        let ScriptPosition::At(place) = self.0.reached() else { return Answer::later(pending()) };
        match self.0.script.kind(place) {
            Some(AgentEvent::Context(ContextEvent::CompactionEnd { cuts, usage, .. }))
                if usage.total() == 0 =>
            {
                Answer::Now(cuts.clone())
            }
            Some(AgentEvent::Context(ContextEvent::CompactionEnd { cuts, .. })) => {
                Answer::later(async move {
                    // Only to count its usage; the text is in the cuts.
                    model.summarize(&History::new(), None).await.ok();
                    cuts.clone()
                })
            }
            Some(_) => {
                if let Some(stopped) = self.0.script.stopped() {
                    self.0.stop_or_panic(stopped);
                }
                Answer::later(pending())
            }
            None => Answer::later(pending()),
        }
    }
}

impl Reminder for RecordedReminder {
    fn name(&self) -> &str {
        "recorded"
    }

    fn remind(&self, _situation: &ReminderContext<'_>) -> Option<String> {
        self.0.reached();
        None
    }
}
