//! `PromptBuilder`: sections in, the system prompt out, ordered by band whatever the order they came in.

use std::sync::Arc;

use rheon_types::{SystemPrompt, SystemSection};

use super::section::{Band, PromptSection, cut};
use crate::context::tokens::TokenCounter;

/// What a coding agent is told first.
const BASE: &str = include_str!("base.md");

/// The most bytes one section may have, unless it asks for less.
const SECTION_BYTES_MAX: usize = 256 << 10;
/// What stands between two sections of a band.
const BETWEEN: &str = "\n\n";

/// The base prompt of a coding agent, the same for every model and service.
pub fn base_prompt() -> &'static str {
    BASE.trim_end()
}

/// Collects the sections of a system prompt.
///
/// The order is static, semi-static, dynamic, and within a band that in which names were first added. A section that says
/// nothing is none; one of a name that is there takes its place.
#[derive(Debug, Clone, Default)]
pub struct PromptBuilder {
    counter: TokenCounter,
    sections: Vec<PromptSection>,
}

impl PromptBuilder {
    /// Nothing yet; tokens are counted by `counter`.
    pub fn new(counter: TokenCounter) -> Self {
        Self { counter, sections: Vec::new() }
    }

    /// Adds a section, or replaces the one of this name. Empty text removes it.
    #[must_use]
    pub fn section(self, name: &str, band: Band, text: &str) -> Self {
        self.section_within(name, band, text, SECTION_BYTES_MAX)
    }

    /// The same with a cap: what is longer is cut, with a note to the model.
    #[must_use]
    pub fn section_within(mut self, name: &str, band: Band, text: &str, bytes_max: usize) -> Self {
        let text = cut(trim_lines(text), bytes_max.min(SECTION_BYTES_MAX));
        let tokens = self.counter.text(&text);
        let section = PromptSection { name: name.into(), band, text: Arc::from(&*text), tokens };
        let place = self.sections.iter().position(|other| *other.name == *name);
        match place.and_then(|place| self.sections.get_mut(place)) {
            Some(slot) => *slot = section,
            None => self.sections.push(section),
        }
        self
    }

    /// The sections that say something, in the order of the prompt.
    pub fn sections(&self) -> Vec<PromptSection> {
        let said = |band| self.sections.iter().filter(move |one| one.band == band && !one.text.is_empty());
        Band::ALL.into_iter().flat_map(said).cloned().collect()
    }

    /// The system prompt: one section for each band that says something, so that the ends of the stable ones are the places
    /// where services mark their cache.
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

/// `text` without blank lines at its beginning and blanks at its end; the indent of its first line stays.
fn trim_lines(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let start = text.get(..blank).and_then(|lead| lead.rfind('\n')).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or(text)
}
