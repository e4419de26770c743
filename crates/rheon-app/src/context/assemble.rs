//! `assemble`: values in, the system prompt and its report out. Pure.

use std::path::PathBuf;

use rheon_agent::{Band, ContextUsage, PromptBuilder, PromptSection, TokenCounter};
use rheon_types::SystemPrompt;

use super::sources::{ContextSource, ContextSources, ROWS};

/// The texts of all sources. An empty text is omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptParts {
    pub base: String,
    /// The instructions of the user and of the project, as [`RuleFiles`](super::RuleFiles) has them.
    pub rules: String,
    /// The files that they come from.
    pub rule_files: Vec<PathBuf>,
    pub tool_notes: String,
    pub skills: String,
    pub memory: String,
    /// Learnings of earlier sessions; at most five are used.
    pub learnings: Vec<String>,
    pub code_map: String,
    /// The facts, as [`EnvironmentFacts::text`](super::EnvironmentFacts::text) has them.
    pub environment: String,
    /// The effort, as the model reads it.
    pub effort: String,
}

/// How many learnings are in the prompt, and how much of each.
const LEARNINGS_MAX: usize = 5;
const LEARNING_CHARS_MAX: usize = 500;

/// The system prompt and what it is made of.
#[derive(Debug, Clone)]
pub struct AssembledPrompt {
    builder: PromptBuilder,
}

/// Assembles the system prompt: static, semi-static, dynamic parts, without the sources that are off. The same parts give the same
/// bytes, and a change in a lower band leaves those above as they were.
pub fn assemble(parts: &PromptParts, sources: &ContextSources, counter: TokenCounter) -> AssembledPrompt {
    let mut builder = PromptBuilder::new(counter);
    for row in ROWS.iter().filter(|row| sources.has(row.source)) {
        let text = parts.text(row.source);
        builder = builder.section_within(row.name, row.band, &text, row.bytes_max);
    }
    AssembledPrompt { builder }
}

impl PromptParts {
    fn text(&self, source: ContextSource) -> String {
        match source {
            ContextSource::Base => self.base.clone(),
            ContextSource::Rules => self.rules.clone(),
            ContextSource::ToolNotes => self.tool_notes.clone(),
            ContextSource::Skills => below(include_str!("texts/skills.md"), &self.skills),
            ContextSource::Memory => below(include_str!("texts/memory.md"), &self.memory),
            ContextSource::Learnings => below(include_str!("texts/learnings.md"), &self.learnt()),
            ContextSource::CodeMap => below(include_str!("texts/code_map.md"), &self.code_map),
            ContextSource::Environment => self.environment.clone(),
            ContextSource::Effort => self.effort.clone(),
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

impl AssembledPrompt {
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
