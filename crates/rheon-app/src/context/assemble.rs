//! `assemble`: values in, the system prompt and its report out. Pure.

use rheon_agent::{Band, ContextUsage, PromptBuilder, PromptSection, TokenCounter};
use rheon_types::SystemPrompt;

use super::sources::{ContextSources, ROWS, Source};

/// What the sources say, as values. What is empty is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptParts {
    /// The base prompt.
    pub base: String,
    /// The instructions of the user and of the project, as [`Rules`](super::Rules) has them.
    pub rules: String,
    /// What is to be known about tools.
    pub tool_notes: String,
    /// The catalogue of skills.
    pub skills: String,
    /// The notes that fit the task.
    pub memory: String,
    /// What earlier sessions learnt; five count.
    pub learnings: Vec<String>,
    /// The map of the repository.
    pub code_map: String,
    /// The facts, as [`Facts::text`](super::Facts::text) has them.
    pub environment: String,
    /// How hard to try, as the model is told.
    pub effort: String,
    /// How complex the task looks, in a word.
    pub complexity: String,
}

/// How many learnings are told, and how much of each.
const LEARNINGS_MAX: usize = 5;
const LEARNING_CHARS_MAX: usize = 500;

/// The system prompt and what it is made of.
#[derive(Debug, Clone)]
pub struct Assembled {
    builder: PromptBuilder,
}

/// Puts the system prompt together: static, semi-static, dynamic, whatever is turned off left out. The same parts give the same
/// bytes, and a change in a lower band leaves those above as they were.
pub fn assemble(parts: &PromptParts, sources: &ContextSources, counter: TokenCounter) -> Assembled {
    let mut builder = PromptBuilder::new(counter);
    for row in ROWS.iter().filter(|row| sources.has(row.source)) {
        let text = parts.text(row.source);
        builder = builder.section_within(row.name, row.band, &text, row.bytes_max);
    }
    Assembled { builder }
}

impl PromptParts {
    fn text(&self, source: Source) -> String {
        match source {
            Source::Base => self.base.clone(),
            Source::Rules => self.rules.clone(),
            Source::ToolNotes => self.tool_notes.clone(),
            Source::Skills => below(include_str!("texts/skills.md"), &self.skills),
            Source::Memory => below(include_str!("texts/memory.md"), &self.memory),
            Source::Learnings => below(include_str!("texts/learnings.md"), &self.learnt()),
            Source::CodeMap => below(include_str!("texts/code_map.md"), &self.code_map),
            Source::Environment => self.environment.clone(),
            Source::Effort => self.effort.clone(),
            Source::Complexity if self.complexity.trim().is_empty() => String::new(),
            Source::Complexity => {
                include_str!("texts/complexity.md").replace("{complexity}", self.complexity.trim())
            }
        }
    }

    fn learnt(&self) -> String {
        let line = |text: &String| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let short: String = line.chars().take(LEARNING_CHARS_MAX).collect();
            if short.len() < line.len() { format!("- {short} […]") } else { format!("- {short}") }
        };
        let said = self.learnings.iter().filter(|text| !text.trim().is_empty());
        said.take(LEARNINGS_MAX).map(line).collect::<Vec<_>>().join("\n")
    }
}

/// `text` below its heading; nothing if it says nothing.
fn below(heading: &str, text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("{}\n{text}", heading.trim_end()),
    }
}

impl Assembled {
    /// The system prompt: one section for each band that says something.
    pub fn prompt(&self) -> SystemPrompt {
        self.builder.build()
    }

    /// The named sections, in the order of the prompt.
    pub fn sections(&self) -> Vec<PromptSection> {
        self.builder.sections()
    }

    /// What takes how much of a window, with these tokens of tools and messages.
    pub fn report(&self, tools: u64, messages: u64, window: u64) -> ContextUsage {
        ContextUsage::new(&self.sections(), tools, messages, window)
    }

    /// What people read to see what the model reads: each section below its name, with the marks of the cache.
    pub fn outline(&self) -> String {
        let sections = self.sections();
        let mut text = String::new();
        for band in Band::ALL {
            let mut of_band = sections.iter().filter(|section| section.band == band).peekable();
            if of_band.peek().is_none() {
                continue;
            }
            text.push_str(&format!("======== {} ========\n", band.as_str()));
            for section in of_band {
                text.push_str(&format!("-------- {} --------\n{}\n\n", section.name, section.text));
            }
            match band {
                Band::Static | Band::SemiStatic => text.push_str("[cached up to here]\n\n"),
                Band::Dynamic => text.push_str("[not cached]\n"),
            }
        }
        text
    }
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
