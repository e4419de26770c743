//! `TranscriptFacts`: the metadata of a transcript, collected line by line.

use rheon_text::TextContext;
use rheon_types::{MicroUsd, Timestamp};
use serde_json::Value;

use super::compose::ENTRYPOINT;
use super::entry::text;
use super::timestamp;

pub const TITLE_CHARS_MAX: usize = 200;

/// The metadata of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptFacts {
    /// The session id in its lines.
    pub session_id: Option<String>,
    /// The last working directory.
    pub cwd: Option<String>,
    /// The last git branch.
    pub git_branch: Option<String>,
    /// The version of the program that wrote last.
    pub version: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    pub title: Option<String>,
    /// The first user message.
    pub first_prompt: Option<String>,
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    /// The cost, if the transcript states it.
    pub cost: Option<MicroUsd>,
    /// Whether Rheon wrote the last entry.
    pub is_by_rheon: bool,
}

/// Collects facts from lines in file order.
#[derive(Debug, Default)]
pub(super) struct FactsCollector {
    facts: TranscriptFacts,
    /// Titles by priority: set by the user, generated, an old summary, the last prompt.
    titles: [Option<String>; 4],
}

/// The line types outside the chain that hold facts.
pub(super) const FACT_TYPES: [&str; 5] = ["custom-title", "ai-title", "summary", "last-prompt", "cost-state"];

impl FactsCollector {
    pub(super) fn add_line(&mut self, value: &Value) {
        let facts = &mut self.facts;
        let keep = |slot: &mut Option<String>, key: &str| {
            if let Some(found) = text(value, key).filter(|found| !found.is_empty()) {
                *slot = Some(found.to_owned());
            }
        };
        if facts.session_id.is_none() {
            keep(&mut facts.session_id, "sessionId");
        }
        keep(&mut facts.cwd, "cwd");
        keep(&mut facts.git_branch, "gitBranch");
        keep(&mut facts.version, "version");
        if let Some(entrypoint) = text(value, "entrypoint") {
            facts.is_by_rheon = entrypoint == ENTRYPOINT;
        }
        if let Some(at) = text(value, "timestamp").and_then(timestamp::parse) {
            facts.first_at = Some(facts.first_at.map_or(at, |first| first.min(at)));
            facts.last_at = Some(facts.last_at.map_or(at, |last| last.max(at)));
        }
        let [custom, written, summary, last_prompt] = &mut self.titles;
        let keep_title = |slot: &mut Option<String>, key: &str| {
            if let Some(found) = text(value, key).and_then(title) {
                *slot = Some(found);
            }
        };
        match text(value, "type") {
            Some("custom-title") => keep_title(custom, "customTitle"),
            Some("ai-title") => keep_title(written, "aiTitle"),
            Some("summary") => keep_title(summary, "summary"),
            Some("last-prompt") => keep_title(last_prompt, "lastPrompt"),
            Some("cost-state") => {
                facts.cost =
                    value.get("totalCostUSD").and_then(Value::as_f64).and_then(micro_usd).or(facts.cost);
            }
            Some("assistant") => {
                let model = value.get("message").and_then(|message| text(message, "model"));
                if let Some(model) = model.filter(|model| !model.is_empty() && *model != "<synthetic>") {
                    facts.model = Some(model.to_owned());
                }
            }
            Some("user") if facts.first_prompt.is_none() => facts.first_prompt = prompt(value),
            Some(_) | None => {}
        }
    }

    pub(super) fn finish(mut self) -> TranscriptFacts {
        let [custom, written, summary, last_prompt] = self.titles;
        let own = custom.or(written).or(summary);
        self.facts.title = own.or_else(|| self.facts.first_prompt.clone()).or(last_prompt);
        self.facts
    }
}

/// The user's text in an entry, if the user wrote it.
fn prompt(value: &Value) -> Option<String> {
    let is_from_program = ["isMeta", "isCompactSummary", "isSidechain"]
        .iter()
        .any(|key| value.get(key).and_then(Value::as_bool).unwrap_or(false));
    let content = value.get("message")?.get("content")?;
    let words = match content {
        Value::String(words) => words.as_str(),
        Value::Array(blocks) => blocks.iter().find_map(|block| text(block, "text"))?,
        _ => return None,
    };
    // The output of commands starts with a tag.
    if is_from_program || words.starts_with("<command-") || words.starts_with("<local-command") {
        return None;
    }
    title(words)
}

/// Shortens a text to a title on one line.
fn title(words: &str) -> Option<String> {
    let mut title = String::new();
    let mut chars = 0;
    for word in words.split_whitespace() {
        if chars > 0 {
            title.push(' ');
        }
        for letter in word.chars().filter(|letter| !TextContext::Title.forbids(*letter)) {
            title.push(letter);
            chars += 1;
            if chars == TITLE_CHARS_MAX {
                return Some(title);
            }
        }
        chars += 1;
        if chars >= TITLE_CHARS_MAX {
            break;
        }
    }
    (!title.is_empty()).then_some(title)
}

/// Converts dollars; `None` for values that are not an amount.
fn micro_usd(dollars: f64) -> Option<MicroUsd> {
    let micro = (dollars * 1e6).round();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (0.0..1e18).contains(&micro).then_some(MicroUsd(micro as u64))
}
