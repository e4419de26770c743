//! `PromptBuilder`: builds the system prompt from sections, ordered by band.

use std::sync::Arc;

use rheon_types::{SystemPrompt, SystemSection};

use super::section::{Band, PromptSection, cut};
use crate::context::tokens::TokenCounter;

/// The base prompt.
const BASE: &str = include_str!("base.md");

/// The default and maximum size of a section.
const SECTION_BYTES_MAX: usize = 256 << 10;
/// The separator between two sections of a band.
const BETWEEN: &str = "\n\n";

/// The base prompt of a coding agent, the same for every model and service.
pub fn base_prompt() -> &'static str {
    BASE.trim_end()
}

/// Collects the sections of a system prompt.
///
/// The order is static, semi-static, dynamic, and within a band the order in which names were first added. Empty
/// sections are dropped; a section replaces an earlier one with the same name.
#[derive(Debug, Clone, Default)]
pub struct PromptBuilder {
    counter: TokenCounter,
    sections: Vec<PromptSection>,
}

impl PromptBuilder {
    /// An empty builder that counts tokens with `counter`.
    pub fn new(counter: TokenCounter) -> Self {
        Self { counter, sections: Vec::new() }
    }

    /// Adds a section or replaces the one with this name. Empty text removes it.
    #[must_use]
    pub fn section(self, name: &str, band: Band, text: &str) -> Self {
        self.section_within(name, band, text, SECTION_BYTES_MAX)
    }

    /// Like [`Self::section`], with a size limit: longer text is cut, with a note to the model.
    #[must_use]
    pub fn section_within(mut self, name: &str, band: Band, text: &str, bytes_max: usize) -> Self {
        let text = cut(trim_lines(text), bytes_max.min(SECTION_BYTES_MAX));
        let tokens = self.counter.text(&text);
        let section = PromptSection { name: name.into(), band, text: Arc::from(&*text), tokens };
        let index = self.sections.iter().position(|other| *other.name == *name);
        match index.and_then(|index| self.sections.get_mut(index)) {
            Some(slot) => *slot = section,
            None => self.sections.push(section),
        }
        self
    }

    /// The non-empty sections, in the order of the prompt.
    pub fn sections(&self) -> Vec<PromptSection> {
        let in_band = |band| self.sections.iter().filter(move |one| one.band == band && !one.text.is_empty());
        Band::ALL.into_iter().flat_map(in_band).cloned().collect()
    }

    /// The system prompt: one section per non-empty band, so that services can set cache breakpoints at the ends of the
    /// stable ones.
    pub fn build(&self) -> SystemPrompt {
        let sections = self.sections();
        let of_band = |band: Band| {
            let texts: Vec<&str> =
                sections.iter().filter(|one| one.band == band).map(|one| &*one.text).collect();
            (!texts.is_empty())
                .then(|| SystemSection { text: texts.join(BETWEEN).into(), stable: band.is_stable() })
        };
        Band::ALL.into_iter().filter_map(of_band).collect()
    }
}

/// `text` without leading blank lines and trailing whitespace; the indent of its first line stays.
fn trim_lines(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let start = text.get(..blank).and_then(|lead| lead.rfind('\n')).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or(text)
}
