//! `AnswerStream`: the answer for a reader of a pipe, as it is written.
//!
//! What a model says before it calls a tool is usually one paragraph, and not part of the answer. So the first paragraph of
//! a message waits until it is known what follows; from the second one on, the text goes out as it arrives.

/// What ends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerEnd {
    /// Its text is an answer.
    Answer,
    /// Tool calls follow.
    Calls,
    /// It broke off and will be asked for again, or the run ends.
    Failure,
}

/// The state of the message that is being written.
#[derive(Debug, Default)]
pub(super) struct AnswerStream {
    /// The text so far.
    text: String,
    /// How many bytes of it have gone out.
    written: usize,
    /// What went out of a message that broke off. The next one may repeat it.
    broken: String,
    /// Whether an empty line comes before the next text.
    needs_gap: bool,
}

/// What the end of a message adds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AnswerRest {
    pub(super) answer: String,
    /// The text that turned out not to be the answer, and has not gone out.
    pub(super) aside: String,
}

impl AnswerStream {
    /// Takes the next piece of text and returns what can go out.
    pub(super) fn push(&mut self, delta: &str) -> String {
        self.text.push_str(delta);
        if self.written == 0 && !self.is_under_way() {
            return String::new();
        }
        self.release()
    }

    /// Ends the message, whose text is `whole`.
    pub(super) fn end(&mut self, whole: &str, end: AnswerEnd) -> AnswerRest {
        let is_out = self.written > 0;
        // Without deltas, or with other ones, the message itself is what counts.
        if whole.starts_with(&self.text) || !is_out {
            whole.clone_into(&mut self.text);
        }
        let rest = match (end, is_out) {
            (AnswerEnd::Answer, _) | (AnswerEnd::Calls | AnswerEnd::Failure, true) => {
                self.broken = match (end, is_out) {
                    (AnswerEnd::Failure, true) => self.text.clone(),
                    (AnswerEnd::Answer | AnswerEnd::Calls | AnswerEnd::Failure, _) => String::new(),
                };
                let mut answer = self.release();
                let is_open = !self.text.is_empty() && !self.text.ends_with('\n');
                if is_open && end != AnswerEnd::Failure {
                    answer.push('\n');
                }
                self.needs_gap = end == AnswerEnd::Calls;
                AnswerRest { answer, aside: String::new() }
            }
            (AnswerEnd::Calls | AnswerEnd::Failure, false) => {
                AnswerRest { answer: String::new(), aside: std::mem::take(&mut self.text) }
            }
        };
        self.text.clear();
        self.written = 0;
        rest
    }

    /// Whether a second paragraph has begun, beyond what a broken message has already said.
    fn is_under_way(&self) -> bool {
        if !self.broken.is_empty() {
            return !self.broken.starts_with(&self.text);
        }
        let text = self.text.trim_start();
        ["\n\n", "\n\r\n"]
            .iter()
            .any(|gap| text.find(gap).is_some_and(|at| !text.split_at(at).1.trim().is_empty()))
    }

    /// The text that has not gone out, after what must stand before it.
    fn release(&mut self) -> String {
        let mut out = String::new();
        if self.written == 0 {
            let broken = std::mem::take(&mut self.broken);
            if !broken.is_empty() && self.text.starts_with(&broken) {
                // The same beginning: the answer goes on where it broke off.
                self.written = broken.len();
            } else if !broken.is_empty() {
                out.push_str(if broken.ends_with('\n') { "\n" } else { "\n\n" });
            } else if std::mem::take(&mut self.needs_gap) && !self.text.is_empty() {
                out.push('\n');
            }
        }
        out.push_str(self.text.get(self.written..).unwrap_or_default());
        self.written = self.text.len();
        out
    }

    /// The end of a run: a line that broke off is ended.
    pub(super) fn finish(&mut self) -> String {
        let open = match self.written {
            0 => std::mem::take(&mut self.broken),
            _ => std::mem::take(&mut self.text),
        };
        *self = Self::default();
        if open.is_empty() || open.ends_with('\n') { String::new() } else { "\n".into() }
    }
}

#[cfg(test)]
#[path = "answer_stream_tests.rs"]
mod tests;
