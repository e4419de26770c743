//! `Steps`: turns the JSON steps that a model writes into text and tool calls while they stream.

use std::collections::VecDeque;
use std::sync::Arc;

use compact_str::CompactString;
use rheon_types::{Chunk, StopReason, ToolCallId, ToolDefinition, ToolName};

use super::head::{self, Head};
use super::json::{CharPosition, StringStatus, Unescape, ValueEnd};
use super::lenient::{BareCalls, Lenient};

/// The form of the final answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerValue {
    /// A string, shown unescaped.
    Text,
    /// JSON, shown verbatim.
    Json,
}

/// Reads the steps of one response.
pub(super) struct Steps {
    offered: Arc<[ToolDefinition]>,
    answer: AnswerValue,
    stage: Stage,
    /// The number of completed steps.
    steps: u32,
    /// The number of started calls.
    calls: u32,
    /// Whether text was shown.
    shown: bool,
}

enum Stage {
    /// Between steps, or in the incomplete head of one.
    Head(String),
    /// Inside the string of the final answer.
    AnswerText(Unescape),
    /// Inside the JSON of the final answer.
    AnswerJson(ValueEnd),
    /// Inside the arguments of the last call.
    Arguments(ValueEnd),
    /// Inside arguments that are a JSON string.
    ArgumentsText(Unescape),
    /// After the value of an answer.
    AfterAnswer,
    /// After the arguments of a call.
    AfterArguments,
    /// In further keys of a call, which are ignored.
    Surplus(ValueEnd),
    /// Everything that follows is text.
    Text,
    /// Not a step; it may be a tool call in another format.
    Other(Box<Lenient>),
}

impl Steps {
    pub(super) fn new(offered: Arc<[ToolDefinition]>, answer: AnswerValue) -> Self {
        Self { offered, answer, stage: Stage::Head(String::new()), steps: 0, calls: 0, shown: false }
    }

    /// Processes one chunk and appends the results to `out`.
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
            | Chunk::Notice { .. }
            | Chunk::Usage { .. } => {
                out.push_back(chunk);
            }
            Chunk::ToolCallStart { index, id, name } => {
                self.flush_as_text(out);
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

    /// The stream was cut. If nothing was shown yet, show nothing: the call can then be retried silently.
    pub(super) fn cut(&mut self, out: &mut VecDeque<Chunk>) {
        match &mut self.stage {
            Stage::Other(lenient) => lenient.cut(out),
            Stage::Head(_) if self.shown || self.calls > 0 => self.flush_as_text(out),
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
            self.switch_to_lenient(head, out);
        }
        if let Stage::Other(lenient) = &mut self.stage {
            return lenient.push(Chunk::Done { stop_reason }, out);
        }
        if !fence_only {
            self.flush_as_text(out);
        }
        let stop_reason = match stop_reason {
            StopReason::Stop if self.calls > 0 => StopReason::ToolUse,
            // The limit was reached in the whitespace after a complete call.
            StopReason::Length if self.calls > 0 && fence_only => StopReason::ToolUse,
            StopReason::Stop
            | StopReason::Length
            | StopReason::ToolUse
            | StopReason::Error
            | StopReason::Aborted => stop_reason,
        };
        out.push_back(Chunk::Done { stop_reason });
    }

    /// Shows the held back text.
    fn flush_as_text(&mut self, out: &mut VecDeque<Chunk>) {
        if let Stage::Head(head) = &mut self.stage {
            let head = std::mem::take(head);
            self.stage = Stage::Text;
            if !head.is_empty() {
                self.push_separator(out);
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

    /// Reads the head of a step; returns how much of `rest` it consumed.
    fn read_head(&mut self, mut head: String, rest: &str, out: &mut VecDeque<Chunk>) -> usize {
        let before = head.len();
        // A little more than the limit, so that a head that is too long is detected.
        let taken = rest.floor_char_boundary((head::HEAD_BYTES_MAX + 4).saturating_sub(before));
        head.push_str(rest.get(..taken).unwrap_or_default());
        let quoted = |at: usize| head.get(at..).is_some_and(|value| value.starts_with('"'));
        match head::read(&head, &self.offered) {
            Head::More => {
                self.stage = Stage::Head(head);
                taken
            }
            Head::Answer { at } => {
                self.push_separator(out);
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
                self.switch_to_lenient(head, out);
                taken
            }
            Head::Other => {
                self.stage = Stage::Head(head);
                self.flush_as_text(out);
                taken
            }
        }
    }

    fn switch_to_lenient(&mut self, head: String, out: &mut VecDeque<Chunk>) {
        let bare = match self.answer {
            AnswerValue::Text => BareCalls::Recovered,
            AnswerValue::Json => BareCalls::Text,
        };
        let mut lenient = Lenient::new(Arc::clone(&self.offered), bare);
        lenient.push(Chunk::Text { delta: head.into() }, out);
        self.stage = Stage::Other(Box::new(lenient));
    }

    /// Reads to the end of the stage; returns how much of `text` it consumed.
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

    /// Reads one character of a value or of what follows it. Characters of the value are appended to `piece`.
    fn step(&mut self, character: char, piece: &mut String) -> Option<Next> {
        let (value, after) = match &mut self.stage {
            Stage::AnswerText(string) => {
                return (string.push(character, piece) == StringStatus::Ended)
                    .then_some(Next::After(Stage::AfterAnswer));
            }
            Stage::ArgumentsText(string) => {
                return (string.push(character, piece) == StringStatus::Ended)
                    .then_some(Next::After(Stage::AfterArguments));
            }
            Stage::AfterAnswer | Stage::AfterArguments if character.is_whitespace() => return None,
            Stage::AfterAnswer if character == '}' => return Some(Next::EndAnswer),
            Stage::AfterArguments if character == '}' => return Some(Next::EndCall),
            Stage::AfterAnswer => return Some(Next::Before(Stage::Text)),
            Stage::AfterArguments => return Some(Next::Before(Stage::Surplus(ValueEnd::in_object()))),
            Stage::Surplus(object) => {
                return (object.push(character) == CharPosition::Last).then_some(Next::EndCall);
            }
            Stage::AnswerJson(value) => (value, Stage::AfterAnswer),
            Stage::Arguments(value) => (value, Stage::AfterArguments),
            Stage::Head(_) | Stage::Text | Stage::Other(_) => return None,
        };
        let reach = value.push(character);
        if reach == CharPosition::Past {
            return Some(Next::Before(after));
        }
        piece.push(character);
        (reach == CharPosition::Last).then_some(Next::After(after))
    }

    /// Consecutive answers are separated by a line break.
    fn push_separator(&mut self, out: &mut VecDeque<Chunk>) {
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

/// Where to continue reading.
enum Next {
    /// After this character, in this stage.
    After(Stage),
    /// At this character, in this stage.
    Before(Stage),
    /// After this character, which completes a call.
    EndCall,
    /// After this character, which completes an answer.
    EndAnswer,
}
