//! `Steps`: chunks in, chunks out, where the steps that a model writes as JSON become text and calls while they stream in.

use std::collections::VecDeque;
use std::sync::Arc;

use compact_str::CompactString;
use rheon_types::{Chunk, StopReason, ToolCallId, ToolDefinition, ToolName};

use super::head::{self, Head};
use super::json::{Reach, StringGoes, Unescape, ValueEnd};
use super::lenient::{BareCalls, Lenient};

/// What the final answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerValue {
    /// A string, of which the inside is shown.
    Text,
    /// JSON, shown as it stands.
    Json,
}

/// Reads the steps of one answer.
pub(super) struct Steps {
    offered: Arc<[ToolDefinition]>,
    answer: AnswerValue,
    stage: Stage,
    /// How many steps are complete.
    steps: u32,
    /// How many calls have begun.
    calls: u32,
    /// Whether text was shown.
    shown: bool,
}

enum Stage {
    /// Between steps, or in the beginning of one, of which this much is there.
    Head(String),
    /// Inside the string that is the final answer.
    AnswerText(Unescape),
    /// Inside the JSON that is the final answer.
    AnswerJson(ValueEnd),
    /// Inside the arguments of the last call.
    Arguments(ValueEnd),
    /// The same where they are a string of JSON.
    ArgumentsText(Unescape),
    /// After the value of an answer.
    AfterAnswer,
    /// After the arguments of a call.
    AfterArguments,
    /// In what else a call says, which nobody needs.
    Surplus(ValueEnd),
    /// Whatever comes is text.
    Text,
    /// It is no step; it may be a call that is written in another way.
    Other(Box<Lenient>),
}

impl Steps {
    pub(super) fn new(offered: Arc<[ToolDefinition]>, answer: AnswerValue) -> Self {
        Self { offered, answer, stage: Stage::Head(String::new()), steps: 0, calls: 0, shown: false }
    }

    /// Takes in one chunk and adds what it leads to.
    pub(super) fn push(&mut self, chunk: Chunk, out: &mut VecDeque<Chunk>) {
        if let Stage::Other(lenient) = &mut self.stage {
            return lenient.push(chunk, out);
        }
        match chunk {
            Chunk::Text { delta } => self.read(&delta, out),
            Chunk::Model { .. }
            | Chunk::Provider { .. }
            | Chunk::Thinking { .. }
            | Chunk::Signature { .. }
            | Chunk::Block { .. }
            | Chunk::Usage { .. } => {
                out.push_back(chunk);
            }
            Chunk::ToolCallStart { index, id, name } => {
                self.give_up(out);
                out.push_back(Chunk::ToolCallStart { index: index.saturating_add(self.calls), id, name });
            }
            Chunk::ToolCallDelta { index, delta } => {
                out.push_back(Chunk::ToolCallDelta { index: index.saturating_add(self.calls), delta });
            }
            Chunk::ToolCallEnd { index } => {
                out.push_back(Chunk::ToolCallEnd { index: index.saturating_add(self.calls) });
            }
            Chunk::Done { stop_reason } => self.finish(stop_reason, out),
        }
    }

    /// The stream was cut. If nothing was shown yet, nothing is: the call can then be made again unnoticed.
    pub(super) fn cut(&mut self, out: &mut VecDeque<Chunk>) {
        match &mut self.stage {
            Stage::Other(lenient) => lenient.cut(out),
            Stage::Head(_) if self.shown || self.calls > 0 => self.give_up(out),
            Stage::Head(_)
            | Stage::AnswerText(_)
            | Stage::AnswerJson(_)
            | Stage::Arguments(_)
            | Stage::ArgumentsText(_)
            | Stage::AfterAnswer
            | Stage::AfterArguments
            | Stage::Surplus(_)
            | Stage::Text => {}
        }
    }

    fn finish(&mut self, stop_reason: StopReason, out: &mut VecDeque<Chunk>) {
        let fence_only = if let Stage::Head(head) = &self.stage {
            self.steps > 0 && matches!(head.trim(), "" | "```")
        } else {
            false
        };
        if self.steps == 0
            && let Stage::Head(head) = &mut self.stage
        {
            let head = std::mem::take(head);
            self.read_otherwise(head, out);
        }
        if let Stage::Other(lenient) = &mut self.stage {
            return lenient.push(Chunk::Done { stop_reason }, out);
        }
        if !fence_only {
            self.give_up(out);
        }
        let stop_reason = match stop_reason {
            StopReason::Stop if self.calls > 0 => StopReason::ToolUse,
            // The limit was reached in the blanks after a complete call.
            StopReason::Length if self.calls > 0 && fence_only => StopReason::ToolUse,
            StopReason::Stop
            | StopReason::Length
            | StopReason::ToolUse
            | StopReason::Error
            | StopReason::Aborted => stop_reason,
        };
        out.push_back(Chunk::Done { stop_reason });
    }

    /// What is held back is text.
    fn give_up(&mut self, out: &mut VecDeque<Chunk>) {
        if let Stage::Head(head) = &mut self.stage {
            let head = std::mem::take(head);
            self.stage = Stage::Text;
            if !head.is_empty() {
                self.separate(out);
                self.show(head, out);
            }
        }
    }

    fn read(&mut self, delta: &str, out: &mut VecDeque<Chunk>) {
        let mut rest = delta;
        while !rest.is_empty() {
            let used = match &mut self.stage {
                Stage::Head(head) if head.is_empty() && rest.starts_with(char::is_whitespace) => {
                    rest.len() - rest.trim_start().len()
                }
                Stage::Head(head) => {
                    let head = std::mem::take(head);
                    self.read_head(head, rest, out)
                }
                Stage::Text => {
                    self.show(rest.to_owned(), out);
                    rest.len()
                }
                Stage::Other(lenient) => return lenient.push(Chunk::Text { delta: rest.into() }, out),
                Stage::AnswerText(_)
                | Stage::AnswerJson(_)
                | Stage::Arguments(_)
                | Stage::ArgumentsText(_)
                | Stage::AfterAnswer
                | Stage::AfterArguments
                | Stage::Surplus(_) => self.read_value(rest, out),
            };
            rest = rest.get(used..).unwrap_or_default();
        }
    }

    /// Goes on with the beginning of a step; returns how much of `rest` it took.
    fn read_head(&mut self, mut head: String, rest: &str, out: &mut VecDeque<Chunk>) -> usize {
        let before = head.len();
        // A little more than a head may have, so that one that is too long shows.
        let taken = rest.floor_char_boundary((head::HEAD_BYTES_MAX + 4).saturating_sub(before));
        head.push_str(rest.get(..taken).unwrap_or_default());
        let quoted = |at: usize| head.get(at..).is_some_and(|value| value.starts_with('"'));
        match head::read(&head, &self.offered) {
            Head::More => {
                self.stage = Stage::Head(head);
                taken
            }
            Head::Answer { at } => {
                self.separate(out);
                if self.answer == AnswerValue::Text && quoted(at) {
                    self.stage = Stage::AnswerText(Unescape::default());
                    (at + 1).saturating_sub(before)
                } else {
                    self.stage = Stage::AnswerJson(ValueEnd::default());
                    at.saturating_sub(before)
                }
            }
            Head::Call { name, at } => {
                self.begin_call(name, out);
                if quoted(at) {
                    self.stage = Stage::ArgumentsText(Unescape::default());
                    (at + 1).saturating_sub(before)
                } else {
                    self.stage = Stage::Arguments(ValueEnd::default());
                    at.saturating_sub(before)
                }
            }
            Head::Bare { name, end } => {
                self.begin_call(name, out);
                self.write_call("{}".to_owned(), out);
                self.end_call(out);
                end.saturating_sub(before)
            }
            Head::Other if self.steps == 0 => {
                self.read_otherwise(head, out);
                taken
            }
            Head::Other => {
                self.stage = Stage::Head(head);
                self.give_up(out);
                taken
            }
        }
    }

    fn read_otherwise(&mut self, head: String, out: &mut VecDeque<Chunk>) {
        let bare = match self.answer {
            AnswerValue::Text => BareCalls::Recovered,
            AnswerValue::Json => BareCalls::Text,
        };
        let mut lenient = Lenient::new(Arc::clone(&self.offered), bare);
        lenient.push(Chunk::Text { delta: head.into() }, out);
        self.stage = Stage::Other(Box::new(lenient));
    }

    /// Reads up to the end of the stage; returns how much of `text` it took.
    fn read_value(&mut self, text: &str, out: &mut VecDeque<Chunk>) -> usize {
        let mut piece = String::new();
        let mut next = None;
        let mut used = text.len();
        for (at, character) in text.char_indices() {
            next = self.step(character, &mut piece);
            match next {
                Some(Next::After(_) | Next::EndCall | Next::EndAnswer) => used = at + character.len_utf8(),
                Some(Next::Before(_)) => used = at,
                None => continue,
            }
            break;
        }
        match &self.stage {
            Stage::AnswerText(_) | Stage::AnswerJson(_) => self.show(piece, out),
            Stage::Arguments(_) | Stage::ArgumentsText(_) => self.write_call(piece, out),
            Stage::Head(_)
            | Stage::AfterAnswer
            | Stage::AfterArguments
            | Stage::Surplus(_)
            | Stage::Text
            | Stage::Other(_) => {}
        }
        match next {
            Some(Next::After(stage) | Next::Before(stage)) => self.stage = stage,
            Some(Next::EndCall) => self.end_call(out),
            Some(Next::EndAnswer) => self.end_step(),
            None => {}
        }
        used
    }

    /// One character of a value or of what follows it. What it adds to the value goes to `piece`.
    fn step(&mut self, character: char, piece: &mut String) -> Option<Next> {
        let (value, after) = match &mut self.stage {
            Stage::AnswerText(string) => {
                return (string.push(character, piece) == StringGoes::Ended)
                    .then_some(Next::After(Stage::AfterAnswer));
            }
            Stage::ArgumentsText(string) => {
                return (string.push(character, piece) == StringGoes::Ended)
                    .then_some(Next::After(Stage::AfterArguments));
            }
            Stage::AfterAnswer | Stage::AfterArguments if character.is_whitespace() => return None,
            Stage::AfterAnswer if character == '}' => return Some(Next::EndAnswer),
            Stage::AfterArguments if character == '}' => return Some(Next::EndCall),
            Stage::AfterAnswer => return Some(Next::Before(Stage::Text)),
            Stage::AfterArguments => return Some(Next::Before(Stage::Surplus(ValueEnd::in_object()))),
            Stage::Surplus(object) => {
                return (object.push(character) == Reach::Last).then_some(Next::EndCall);
            }
            Stage::AnswerJson(value) => (value, Stage::AfterAnswer),
            Stage::Arguments(value) => (value, Stage::AfterArguments),
            Stage::Head(_) | Stage::Text | Stage::Other(_) => return None,
        };
        let reach = value.push(character);
        if reach == Reach::Past {
            return Some(Next::Before(after));
        }
        piece.push(character);
        (reach == Reach::Last).then_some(Next::After(after))
    }

    /// Answers that follow each other stand on lines of their own.
    fn separate(&mut self, out: &mut VecDeque<Chunk>) {
        if self.shown {
            self.show("\n".to_owned(), out);
        }
    }

    fn show(&mut self, text: String, out: &mut VecDeque<Chunk>) {
        if !text.is_empty() {
            self.shown = true;
            out.push_back(Chunk::Text { delta: CompactString::from(text) });
        }
    }

    fn begin_call(&mut self, name: ToolName, out: &mut VecDeque<Chunk>) {
        let index = self.calls;
        self.calls += 1;
        out.push_back(Chunk::ToolCallStart { index, id: ToolCallId::from(format!("call_{index}")), name });
    }

    fn write_call(&mut self, json: String, out: &mut VecDeque<Chunk>) {
        if !json.is_empty() {
            out.push_back(Chunk::ToolCallDelta { index: self.calls.saturating_sub(1), delta: json.into() });
        }
    }

    fn end_call(&mut self, out: &mut VecDeque<Chunk>) {
        out.push_back(Chunk::ToolCallEnd { index: self.calls.saturating_sub(1) });
        self.end_step();
    }

    fn end_step(&mut self) {
        self.steps += 1;
        self.stage = Stage::Head(String::new());
    }
}

/// Where reading goes on.
enum Next {
    /// After this character, in this stage.
    After(Stage),
    /// With this character, in this stage.
    Before(Stage),
    /// After this character, which completes a call.
    EndCall,
    /// After this character, which completes an answer.
    EndAnswer,
}
