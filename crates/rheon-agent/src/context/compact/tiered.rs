//! `TieredCompaction`: the default strategy: trims first, then summarizes, then drops.

use std::ops::Range;
use std::sync::Arc;

use rheon_types::{AgentMessage, Answer, CutKind, History, Message, ToolName, WindowCut, window};

use super::digest::{digest, shortened, summary_message};
use super::strategy::{CompactionStrategy, Summarizer, WindowView};
use super::stretch::{goal, head, recent, stretches};

/// Trims old tool results. If that is not enough, summarizes old turns, with or without the model. If that is not
/// enough, trims the newest results too and finally drops all but the last messages.
///
/// The first and last user messages and the results of `preserved_tools` always stay.
#[derive(Debug, Clone)]
pub struct TieredCompaction {
    /// Tools whose results stay, for example the one that loads skills.
    pub preserved_tools: Vec<ToolName>,
    /// How the summary is written.
    pub summary: SummarySource,
    /// The maximum size of an old result after trimming.
    pub old_result_bytes_max: u64,
}

/// How the summary of old turns is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SummarySource {
    /// By the model, or as [`Self::Facts`] if the model call fails.
    #[default]
    Model,
    /// As a list of facts, without a model. Costs nothing.
    Facts,
}

impl Default for TieredCompaction {
    fn default() -> Self {
        Self { preserved_tools: Vec::new(), summary: SummarySource::default(), old_result_bytes_max: 1_500 }
    }
}

/// The share of the target for the newest messages, in percent.
const RECENT_PERCENT: u64 = 50;
/// The share of the target for a summary, in percent.
const SUMMARY_PERCENT: u64 = 20;
/// A summary of this length is never cut, whatever the target is: it was paid for, and it stands for everything before it.
const SUMMARY_TOKENS_MIN: u64 = 1_024;
/// The share of the target for the first user message, in percent; a longer one is summarized.
const HEAD_PERCENT: u64 = 10;
/// The sizes to which results of the newest turns are trimmed, in order.
const NEW_RESULT_BYTES: [u64; 3] = [32_000, 8_000, 1_500];

impl CompactionStrategy for TieredCompaction {
    fn name(&self) -> &str {
        "tiers"
    }

    fn compact<'a>(&'a self, view: WindowView<'a>, model: &'a dyn Summarizer) -> Answer<'a, Vec<WindowCut>> {
        let parts = Parts::new(self, &view);
        let trimmed = parts.trimmed(&view);
        // A compaction requested by the user always gets a summary.
        if view.instructions.is_none() && view.tokens_with(&trimmed) <= view.tokens_target {
            return Answer::Now(trimmed);
        }
        match self.summary {
            // There is nothing to summarize.
            SummarySource::Facts | SummarySource::Model if parts.old.is_empty() => {
                Answer::Now(parts.with_summary(&view, ""))
            }
            SummarySource::Facts => Answer::Now(parts.with_summary(&view, &parts.facts(&view))),
            SummarySource::Model => Answer::later(async move {
                let old = parts.old(&view);
                let text = match model.summarize(&old, view.instructions).await {
                    Ok(text) => parts.usable(&view, text).unwrap_or_else(|| parts.facts(&view)),
                    Err(_) => parts.facts(&view),
                };
                parts.with_summary(&view, &text)
            }),
        }
    }
}

/// A conversation in parts.
struct Parts {
    /// The ranges of old messages that may be cut.
    old: Vec<Range<usize>>,
    /// The index of the first recent message.
    recent: usize,
    old_result_bytes_max: u64,
    kept: Vec<usize>,
}

impl Parts {
    fn new(tiers: &TieredCompaction, view: &WindowView<'_>) -> Self {
        let history = view.history;
        let share = |percent: u64| view.tokens_target / 100 * percent;
        let recent = recent(history, share(RECENT_PERCENT), view.count);
        let first = head(history);
        let head_tokens: u64 = history.iter().take(first).map(|message| (view.count)(message)).sum();
        let first = if head_tokens <= share(HEAD_PERCENT) { first } else { 0 };
        let goal = goal(history);
        let is_kept = |message: &AgentMessage| match message.as_llm() {
            Some(Message::ToolResult(result)) => tiers.preserved_tools.contains(&result.tool_name),
            Some(Message::User(_) | Message::Assistant(_)) | None => false,
        };
        let stays = |place: usize, message: &AgentMessage| Some(place) == goal || is_kept(message);
        let old = stretches(history, first.min(recent)..recent, stays);
        let kept = (0..history.len()).filter(|at| history.get(*at).is_some_and(|message| is_kept(message)));
        Self { old, recent, old_result_bytes_max: tiers.old_result_bytes_max, kept: kept.collect() }
    }

    /// Tier 1: trims old results; existing summaries stay.
    fn trimmed(&self, view: &WindowView<'_>) -> Vec<WindowCut> {
        let earlier = view.cuts.iter().filter(|cut| !matches!(cut.kind, CutKind::Trim { .. }));
        let earlier: Vec<WindowCut> = earlier.cloned().collect();
        let covered = earlier.last().map_or(0, |cut| usize::try_from(cut.to).unwrap_or(usize::MAX));
        let kind = CutKind::Trim { bytes_max: self.old_result_bytes_max };
        let open = self.old.iter().map(|stretch| stretch.start.max(covered)..stretch.end);
        let trims = open.filter(|stretch| !stretch.is_empty()).map(|stretch| cut(stretch, kind.clone()));
        let mut cuts = earlier.clone();
        cuts.extend(trims);
        cuts
    }

    /// The old messages, as the model sees them now.
    fn old(&self, view: &WindowView<'_>) -> History {
        let end = self.recent as u64;
        let cuts: Vec<WindowCut> = view.cuts.iter().filter(|cut| cut.to <= end).cloned().collect();
        window(&view.history.prefix(self.recent), &cuts)
    }

    /// A summary without a model.
    fn facts(&self, view: &WindowView<'_>) -> String {
        digest(&self.old(view))
    }

    /// The model's summary, if it is usable.
    fn usable(&self, view: &WindowView<'_>, text: String) -> Option<String> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let tokens_max = (view.tokens_target / 100 * SUMMARY_PERCENT).max(SUMMARY_TOKENS_MIN);
        let tokens = (view.count)(&summary_message(text, &[]));
        if tokens <= tokens_max {
            return Some(text.to_owned());
        }
        let bytes = (text.len() as u64).saturating_mul(tokens_max) / tokens.max(1);
        Some(shortened(text, usize::try_from(bytes).unwrap_or(usize::MAX)))
    }

    /// Tier 2: replaces the old messages with one summary. Then, if needed, tier 3.
    fn with_summary(&self, view: &WindowView<'_>, text: &str) -> Vec<WindowCut> {
        let message = Arc::new(summary_message(text, view.tasks));
        let mut old = self.old.iter().cloned();
        let mut cuts: Vec<WindowCut> = Vec::new();
        cuts.extend(old.next().map(|stretch| cut(stretch, CutKind::Summary { message })));
        cuts.extend(old.map(|stretch| cut(stretch, CutKind::Drop)));
        for bytes_max in NEW_RESULT_BYTES {
            if view.tokens_with(&cuts) <= view.tokens_target {
                return cuts;
            }
            cuts.retain(|cut| !matches!(cut.kind, CutKind::Trim { .. }));
            let kind = CutKind::Trim { bytes_max };
            cuts.extend(self.recent_stretches(view).into_iter().map(|stretch| cut(stretch, kind.clone())));
        }
        if view.tokens_with(&cuts) > view.tokens_target.max(view.tokens_max) {
            self.drop_recent(view, &mut cuts);
        }
        cuts
    }

    fn recent_stretches(&self, view: &WindowView<'_>) -> Vec<Range<usize>> {
        let all = self.recent..view.history.len();
        stretches(view.history, all, |place, _| self.kept.contains(&place))
    }

    /// Tier 3: drops all but the last of the newest messages.
    fn drop_recent(&self, view: &WindowView<'_>, cuts: &mut Vec<WindowCut>) {
        let history = view.history;
        let last = recent(history, 0, view.count).max(self.recent);
        let goal = goal(history);
        let stays = |place: usize, _: &AgentMessage| Some(place) == goal || self.kept.contains(&place);
        let bytes_max = NEW_RESULT_BYTES.last().copied().unwrap_or_default();
        cuts.retain(|cut| !matches!(cut.kind, CutKind::Trim { .. }));
        let dropped = stretches(history, self.recent..last, stays);
        cuts.extend(dropped.into_iter().map(|stretch| cut(stretch, CutKind::Drop)));
        let rest = stretches(history, last..history.len(), |place, _| self.kept.contains(&place));
        cuts.extend(rest.into_iter().map(|stretch| cut(stretch, CutKind::Trim { bytes_max })));
    }
}

fn cut(stretch: Range<usize>, kind: CutKind) -> WindowCut {
    WindowCut { from: stretch.start as u64, to: stretch.end as u64, kind }
}

#[cfg(test)]
#[path = "tiered_tests.rs"]
mod tests;
