//! Extracts `<think>` at the start of a response's text, for servers without a reasoning field.

use std::collections::VecDeque;

use rheon_types::{Chunk, DeltaText};

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// How much leading whitespace is held back to see whether a tag follows.
const BLANK_BYTES_MAX: usize = 64;

/// Splits the text of one response; the result does not depend on how it is chunked.
#[derive(Default)]
pub(super) struct ThinkTags {
    stage: Stage,
    /// The possible start of a tag.
    held: String,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before the first word.
    #[default]
    Start,
    /// After the opening tag, before the first word of thinking.
    Opened,
    Inside,
    /// After the closing tag, before the first word of the response.
    Closed,
    Plain,
}

impl ThinkTags {
    /// Adds a piece of text.
    pub(super) fn text(&mut self, delta: &str, chunks: &mut VecDeque<Chunk>) {
        if self.stage == Stage::Plain {
            return push_text(delta, chunks);
        }
        let mut held = std::mem::take(&mut self.held);
        held.push_str(delta);
        let mut rest = held.as_str();
        loop {
            match self.step(rest, chunks) {
                Step::Again(next) => rest = next,
                Step::Hold(held_back) => {
                    held_back.clone_into(&mut self.held);
                    return;
                }
            }
        }
    }

    fn step<'a>(&mut self, rest: &'a str, chunks: &mut VecDeque<Chunk>) -> Step<'a> {
        match self.stage {
            Stage::Start => {
                let word = rest.trim_start();
                if let Some(inside) = word.strip_prefix(OPEN) {
                    self.stage = Stage::Opened;
                    return Step::Again(inside);
                }
                if OPEN.starts_with(word) && rest.len() <= BLANK_BYTES_MAX {
                    return Step::Hold(rest);
                }
                self.stage = Stage::Plain;
                Step::Again(rest)
            }
            Stage::Opened | Stage::Closed => {
                let word = rest.trim_start();
                if word.is_empty() {
                    return Step::Hold("");
                }
                self.stage = if self.stage == Stage::Opened { Stage::Inside } else { Stage::Plain };
                Step::Again(word)
            }
            Stage::Inside => match rest.split_once(CLOSE) {
                Some((thought, after)) => {
                    push_thinking(thought, chunks);
                    self.stage = Stage::Closed;
                    Step::Again(after)
                }
                None => {
                    let (thought, held_back) = split_before_tag(rest);
                    push_thinking(thought, chunks);
                    Step::Hold(held_back)
                }
            },
            Stage::Plain => {
                push_text(rest, chunks);
                Step::Hold("")
            }
        }
    }

    /// Ends the text: passes on what was held back, unless it is blank.
    pub(super) fn flush(&mut self, chunks: &mut VecDeque<Chunk>) {
        let held = std::mem::take(&mut self.held);
        match self.stage {
            Stage::Inside => push_thinking(&held, chunks),
            Stage::Start if held.trim_start().is_empty() => {}
            Stage::Start | Stage::Opened | Stage::Closed | Stage::Plain => push_text(&held, chunks),
        }
    }
}

enum Step<'a> {
    /// The stage has changed: process the rest again.
    Again(&'a str),
    /// Hold this back until more arrives.
    Hold(&'a str),
}

/// Splits off the longest suffix of `text` that may start the closing tag.
fn split_before_tag(text: &str) -> (&str, &str) {
    let lengths = (1..CLOSE.len()).rev().filter_map(|length| text.len().checked_sub(length));
    let mut splits = lengths.filter_map(|at| text.split_at_checked(at));
    splits.find(|(_, end)| CLOSE.starts_with(end)).unwrap_or((text, ""))
}

fn push_text(text: &str, chunks: &mut VecDeque<Chunk>) {
    if !text.is_empty() {
        chunks.push_back(Chunk::Text { delta: DeltaText::from(text) });
    }
}

fn push_thinking(text: &str, chunks: &mut VecDeque<Chunk>) {
    if !text.is_empty() {
        chunks.push_back(Chunk::Thinking { delta: DeltaText::from(text) });
    }
}
