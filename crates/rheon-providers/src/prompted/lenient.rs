//! `Lenient`: chunks in, chunks out, where calls that the model wrote as text become calls.
//!
//! Text is held back only while it may still become calls, and at most [`HELD_BYTES_MAX`] of it. What comes out does not depend
//! on how the text was cut into pieces.

use std::collections::VecDeque;
use std::sync::Arc;

use compact_str::CompactString;
use rheon_types::{Chunk, StopReason, ToolCallId, ToolDefinition};

use super::recover::{AnswerIs, Recovered, TAGS, Verdict, tagged, whole};

/// The most text that is held back. Calls that take more stay text.
pub(super) const HELD_BYTES_MAX: usize = 64 * 1024;

/// Text shorter than this is looked at with every piece; longer text only when it has grown by a quarter, so that many small
/// pieces do not make the work quadratic.
const CHECK_BYTES: usize = 256;

/// Whether JSON without a tag may be a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BareCalls {
    Recovered,
    /// The answer itself is JSON.
    Text,
}

/// Finds calls in the text of one answer.
pub(super) struct Lenient {
    offered: Arc<[ToolDefinition]>,
    stage: Stage,
    held: String,
    /// How much of the held text has been shown while the last piece was read.
    start: usize,
    /// Blanks that the answer begins with.
    waiting: String,
    /// How long the held text must be before it is looked at again.
    check_at: usize,
    shown: Shown,
    /// How many calls came out.
    calls: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// All of the answer so far is held: it may be calls as a whole.
    Beginning,
    /// The held text is the beginning of a tag, or empty.
    Prose,
    /// The held text begins with a tag.
    Tagged,
    /// Whatever comes is text.
    Text,
}

/// What the text shown so far means for a tag that follows it.
#[derive(Debug, Default)]
struct Shown {
    any: bool,
    last: Option<char>,
    ticks: u32,
    fenced: bool,
}

impl Lenient {
    pub(super) fn new(offered: Arc<[ToolDefinition]>, bare: BareCalls) -> Self {
        let stage = match bare {
            BareCalls::Recovered => Stage::Beginning,
            BareCalls::Text => Stage::Prose,
        };
        Self {
            offered,
            stage,
            held: String::new(),
            start: 0,
            waiting: String::new(),
            check_at: 0,
            shown: Shown::default(),
            calls: 0,
        }
    }

    /// Takes in one chunk and adds what it leads to.
    pub(super) fn push(&mut self, chunk: Chunk, out: &mut VecDeque<Chunk>) {
        match chunk {
            Chunk::Text { delta } if self.stage == Stage::Text => out.push_back(Chunk::Text { delta }),
            Chunk::Text { delta } => {
                self.held.push_str(&delta);
                self.advance(out);
            }
            // A native call shows that the server reads calls itself: what it left as text is text.
            Chunk::ToolCallStart { .. } | Chunk::ToolCallDelta { .. } | Chunk::ToolCallEnd { .. } => {
                self.stage = Stage::Text;
                self.show_all(out);
                out.push_back(chunk);
            }
            Chunk::Thinking { ref delta } if delta.is_empty() => out.push_back(chunk),
            Chunk::Thinking { .. } | Chunk::Signature { .. } | Chunk::Block { .. } => {
                self.end_block(out);
                out.push_back(chunk);
            }
            Chunk::Model { .. } | Chunk::Provider { .. } | Chunk::Usage { .. } => out.push_back(chunk),
            Chunk::Done { stop_reason } => {
                let stop_reason = self.finish(stop_reason, out);
                out.push_back(Chunk::Done { stop_reason });
            }
        }
    }

    /// The stream was cut. If nothing was shown yet, nothing is: the call can then be made again unnoticed.
    pub(super) fn cut(&mut self, out: &mut VecDeque<Chunk>) {
        if self.shown.any {
            self.show_all(out);
        }
    }

    /// Another block begins, so the text before it is not the end of the answer.
    fn end_block(&mut self, out: &mut VecDeque<Chunk>) {
        if !self.pending().trim().is_empty() {
            self.show_all(out);
            self.stage = if self.stage == Stage::Text { Stage::Text } else { Stage::Prose };
        }
    }

    /// The answer is complete: what is held is calls, or it is text. An answer that was stopped short has no calls.
    fn finish(&mut self, stop_reason: StopReason, out: &mut VecDeque<Chunk>) -> StopReason {
        let complete = match stop_reason {
            StopReason::Stop | StopReason::ToolUse => true,
            StopReason::Length | StopReason::Error | StopReason::Aborted => false,
        };
        loop {
            self.check_at = 0;
            self.advance(out);
            let verdict = match self.stage {
                Stage::Beginning if complete => whole(self.pending(), &self.offered, AnswerIs::Complete),
                Stage::Tagged if complete => tagged(self.pending(), &self.offered, AnswerIs::Complete),
                Stage::Beginning | Stage::Prose | Stage::Tagged | Stage::Text => Verdict::More,
            };
            match verdict {
                Verdict::Calls(calls) => {
                    self.held.clear();
                    self.start = 0;
                    for call in calls {
                        self.call(call, out);
                    }
                    return StopReason::ToolUse;
                }
                Verdict::More | Verdict::Text(_) if self.stage == Stage::Beginning => {
                    self.stage = Stage::Prose
                }
                Verdict::More | Verdict::Text(_) => {
                    self.show_all(out);
                    self.show_waiting(out);
                    return stop_reason;
                }
            }
        }
    }

    /// Shows what can no longer be part of a call.
    fn advance(&mut self, out: &mut VecDeque<Chunk>) {
        self.show_settled(out);
        self.held.drain(..self.start);
        self.start = 0;
    }

    fn show_settled(&mut self, out: &mut VecDeque<Chunk>) {
        loop {
            match self.stage {
                Stage::Beginning => match self.check(whole) {
                    Verdict::Calls(_) | Verdict::More => return,
                    Verdict::Text(_) => self.stage = Stage::Prose,
                },
                Stage::Prose => match find_tag(self.pending()) {
                    Some(Tag::Whole(at)) => {
                        self.show(at, out);
                        if self.shown.quotes() {
                            self.show(1, out);
                        } else {
                            self.stage = Stage::Tagged;
                            self.check_at = 0;
                        }
                    }
                    Some(Tag::Begun(at)) => return self.show(at, out),
                    None => return self.show_all(out),
                },
                Stage::Tagged => match self.check(tagged) {
                    Verdict::Calls(_) | Verdict::More => return,
                    Verdict::Text(offset) => {
                        self.show(offset.max(1), out);
                        self.stage = Stage::Prose;
                    }
                },
                Stage::Text => return self.show_all(out),
            }
        }
    }

    fn check(&mut self, read: fn(&str, &[ToolDefinition], AnswerIs) -> Verdict) -> Verdict {
        let pending = self.pending().len();
        let window = self.pending().floor_char_boundary(HELD_BYTES_MAX);
        if window == pending && window < self.check_at {
            return Verdict::More;
        }
        self.check_at = if window < CHECK_BYTES { 0 } else { window + window / 4 };
        match read(self.pending().get(..window).unwrap_or_default(), &self.offered, AnswerIs::Open) {
            Verdict::More if pending > window => Verdict::Text(window),
            verdict @ (Verdict::Calls(_) | Verdict::More | Verdict::Text(_)) => verdict,
        }
    }

    /// What is neither shown nor known to be a call.
    fn pending(&self) -> &str {
        self.held.get(self.start..).unwrap_or_default()
    }

    fn show_all(&mut self, out: &mut VecDeque<Chunk>) {
        self.show(self.pending().len(), out);
    }

    /// Shows the first `bytes` of what is pending. Blanks at the very beginning wait for what follows them: before a call
    /// they would be a text of their own.
    fn show(&mut self, bytes: usize, out: &mut VecDeque<Chunk>) {
        let text = self.held.get(self.start..).and_then(|pending| pending.get(..bytes)).unwrap_or_default();
        self.start += text.len();
        self.waiting.push_str(text);
        let waits = !self.shown.any && self.waiting.len() <= HELD_BYTES_MAX;
        if !(waits && self.waiting.trim().is_empty()) {
            self.show_waiting(out);
        }
    }

    fn show_waiting(&mut self, out: &mut VecDeque<Chunk>) {
        if !self.waiting.is_empty() {
            let delta = CompactString::from(std::mem::take(&mut self.waiting));
            self.shown.push(&delta);
            out.push_back(Chunk::Text { delta });
        }
    }

    fn call(&mut self, call: Recovered, out: &mut VecDeque<Chunk>) {
        let index = self.calls;
        self.calls += 1;
        let id = ToolCallId::from(format!("call_{index}"));
        out.push_back(Chunk::ToolCallStart { index, id, name: call.name });
        out.push_back(Chunk::ToolCallDelta { index, delta: call.arguments.into() });
        out.push_back(Chunk::ToolCallEnd { index });
    }
}

impl Shown {
    fn push(&mut self, text: &str) {
        for character in text.chars() {
            self.ticks = if character == '`' { self.ticks + 1 } else { 0 };
            if self.ticks == 3 {
                self.fenced = !self.fenced;
            }
        }
        self.any = true;
        self.last = text.chars().next_back().or(self.last);
    }

    /// Whether what follows is a quotation: in a fenced block, or right after a quotation mark.
    fn quotes(&self) -> bool {
        self.fenced || matches!(self.last, Some('`' | '"' | '\'' | '“' | '‘' | '«' | '\\'))
    }
}

enum Tag {
    /// A tag begins here.
    Whole(usize),
    /// The text ends in what may become one.
    Begun(usize),
}

fn find_tag(text: &str) -> Option<Tag> {
    memchr::memchr2_iter(b'<', b'[', text.as_bytes()).find_map(|at| {
        let rest = text.get(at..)?;
        if TAGS.iter().any(|tag| rest.starts_with(tag)) {
            Some(Tag::Whole(at))
        } else if TAGS.iter().any(|tag| tag.starts_with(rest)) {
            Some(Tag::Begun(at))
        } else {
            None
        }
    })
}
