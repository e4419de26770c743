//! `Lenient`: turns tool calls that the model wrote as text into real calls.
//!
//! Text is held back only while it may still become calls, and at most [`HELD_BYTES_MAX`] of it. The result does not
//! depend on how the text is chunked.

use std::collections::VecDeque;
use std::sync::Arc;

use compact_str::CompactString;
use rheon_types::{Chunk, StopReason, ToolCallId, ToolDefinition};

use super::recover::{RecoveredCall, ResponseState, TAGS, Verdict, tagged, whole};

/// The maximum amount of text to hold back. Longer calls stay text.
pub(super) const HELD_BYTES_MAX: usize = 64 * 1024;

/// Shorter text is checked with every chunk; longer text only after it has grown by a quarter, so that many small
/// chunks do not make the work quadratic.
const CHECK_BYTES: usize = 256;

/// Whether JSON without a tag may be a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BareCalls {
    Recovered,
    /// The answer itself is JSON.
    Text,
}

/// Finds calls in the text of one response.
pub(super) struct Lenient {
    offered: Arc<[ToolDefinition]>,
    stage: Stage,
    held: String,
    /// How much of the held text was shown while the last chunk was read.
    start: usize,
    /// Whitespace at the start of the response.
    waiting: String,
    /// How long the held text must be before it is checked again.
    check_at: usize,
    shown: ShownText,
    /// The number of calls so far.
    calls: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The whole response is held so far: it may consist of calls.
    Beginning,
    /// The held text is the start of a tag, or empty.
    Prose,
    /// The held text starts with a tag.
    Tagged,
    /// Everything that follows is text.
    Text,
}

/// Whether a tag after the shown text would be a quotation.
#[derive(Debug, Default)]
struct ShownText {
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
            shown: ShownText::default(),
            calls: 0,
        }
    }

    /// Processes one chunk and appends the results to `out`.
    pub(super) fn push(&mut self, chunk: Chunk, out: &mut VecDeque<Chunk>) {
        match chunk {
            Chunk::Text { delta } if self.stage == Stage::Text => out.push_back(Chunk::Text { delta }),
            Chunk::Text { delta } => {
                self.held.push_str(&delta);
                self.advance(out);
            }
            // A native call shows that the server parses calls itself: what it left as text is text.
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
            Chunk::Model { .. } | Chunk::Provider { .. } | Chunk::Notice { .. } | Chunk::Usage { .. } => {
                out.push_back(chunk);
            }
            Chunk::Done { stop_reason } => {
                let stop_reason = self.finish(stop_reason, out);
                out.push_back(Chunk::Done { stop_reason });
            }
        }
    }

    /// The stream was cut. If nothing was shown yet, show nothing: the call can then be retried silently.
    pub(super) fn cut(&mut self, out: &mut VecDeque<Chunk>) {
        if self.shown.any {
            self.show_all(out);
        }
    }

    /// Another block starts, so the text before it is not the end of the response.
    fn end_block(&mut self, out: &mut VecDeque<Chunk>) {
        if !self.pending().trim().is_empty() {
            self.show_all(out);
            self.stage = if self.stage == Stage::Text { Stage::Text } else { Stage::Prose };
        }
    }

    /// Ends the response: the held text is either calls or text. A response that was stopped early has no calls.
    fn finish(&mut self, stop_reason: StopReason, out: &mut VecDeque<Chunk>) -> StopReason {
        let complete = match stop_reason {
            StopReason::Stop | StopReason::ToolUse => true,
            StopReason::Length | StopReason::Error | StopReason::Aborted => false,
        };
        loop {
            self.check_at = 0;
            self.advance(out);
            let verdict = match self.stage {
                Stage::Beginning if complete => whole(self.pending(), &self.offered, ResponseState::Complete),
                Stage::Tagged if complete => tagged(self.pending(), &self.offered, ResponseState::Complete),
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

    /// Shows the text that can no longer be part of a call.
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

    fn check(&mut self, read: fn(&str, &[ToolDefinition], ResponseState) -> Verdict) -> Verdict {
        let pending = self.pending().len();
        let window = self.pending().floor_char_boundary(HELD_BYTES_MAX);
        if window == pending && window < self.check_at {
            return Verdict::More;
        }
        self.check_at = if window < CHECK_BYTES { 0 } else { window + window / 4 };
        match read(self.pending().get(..window).unwrap_or_default(), &self.offered, ResponseState::Open) {
            Verdict::More if pending > window => Verdict::Text(window),
            verdict @ (Verdict::Calls(_) | Verdict::More | Verdict::Text(_)) => verdict,
        }
    }

    /// The text that is neither shown nor known to be a call.
    fn pending(&self) -> &str {
        self.held.get(self.start..).unwrap_or_default()
    }

    fn show_all(&mut self, out: &mut VecDeque<Chunk>) {
        self.show(self.pending().len(), out);
    }

    /// Shows the first `bytes` of the pending text. Leading whitespace waits for what follows: before a call it would
    /// become a separate text block.
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

    fn call(&mut self, call: RecoveredCall, out: &mut VecDeque<Chunk>) {
        let index = self.calls;
        self.calls += 1;
        let id = ToolCallId::from(format!("call_{index}"));
        out.push_back(Chunk::ToolCallStart { index, id, name: call.name });
        out.push_back(Chunk::ToolCallDelta { index, delta: call.arguments.into() });
        out.push_back(Chunk::ToolCallEnd { index });
    }
}

impl ShownText {
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
    /// A tag starts here.
    Whole(usize),
    /// The text ends in what may become a tag.
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
