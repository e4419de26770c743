//! `OpenCalls`: the tool calls of an answer that are not complete yet, on wires that cut answers into numbered blocks.

use std::collections::{BTreeMap, VecDeque};

use rheon_types::{Chunk, DeltaText, ProviderError, StopReason, ToolCallId, ToolName};

use crate::error;

/// The most tool calls one answer may have open, or may have where they are all remembered.
pub(super) const CALLS_MAX: usize = 1_024;

/// The error of an answer that has more.
pub(super) fn too_many_calls() -> ProviderError {
    error::malformed(format_args!("it has more than {CALLS_MAX} tool calls"))
}

/// The open calls, by the numbers of their blocks.
///
/// A call whose block ended without a word of arguments stays open until the answer goes on or says why it ended: cut
/// off at the token limit, it must not pass for a call without arguments.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    calls: BTreeMap<u32, OpenCall>,
}

#[derive(Debug, Default)]
struct OpenCall {
    /// Arguments that came with the start; those that come in pieces replace them.
    given: Option<DeltaText>,
    /// Whether a piece has come.
    written: bool,
    /// Whether its block has ended.
    ended: bool,
}

impl OpenCalls {
    /// A call begins, with its arguments if they are there already.
    pub(super) fn start(
        &mut self,
        index: u32,
        id: ToolCallId,
        name: ToolName,
        given: Option<DeltaText>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        if self.calls.len() >= CALLS_MAX {
            return Err(too_many_calls());
        }
        if let Some(earlier) = self.calls.remove(&index) {
            earlier.end(index, chunks);
        }
        chunks.push_back(Chunk::ToolCallStart { index, id, name });
        self.calls.insert(index, OpenCall { given, ..OpenCall::default() });
        Ok(())
    }

    /// A piece of arguments. Without a call that it belongs to, it says nothing.
    pub(super) fn write(&mut self, index: u32, delta: DeltaText, chunks: &mut VecDeque<Chunk>) {
        if let Some(call) = self.calls.get_mut(&index)
            && !call.ended
            && !delta.is_empty()
        {
            call.written = true;
            chunks.push_back(Chunk::ToolCallDelta { index, delta });
        }
    }

    /// A block ends; the call in it, if there is one, is complete if it says anything.
    pub(super) fn end(&mut self, index: u32, chunks: &mut VecDeque<Chunk>) {
        let Some(call) = self.calls.get_mut(&index) else { return };
        call.ended = true;
        if call.says_anything()
            && let Some(call) = self.calls.remove(&index)
        {
            call.end(index, chunks);
        }
    }

    /// The answer goes on: calls whose blocks have ended are complete.
    pub(super) fn go_on(&mut self, chunks: &mut VecDeque<Chunk>) {
        for (index, call) in self.calls.extract_if(.., |_, call| call.ended) {
            call.end(index, chunks);
        }
    }

    /// The answer is complete. At the token limit, a call without a word of arguments stays without its end.
    pub(super) fn finish(&mut self, stop_reason: StopReason, chunks: &mut VecDeque<Chunk>) {
        for (index, call) in std::mem::take(&mut self.calls) {
            if stop_reason != StopReason::Length || call.says_anything() {
                call.end(index, chunks);
            }
        }
    }
}

impl OpenCall {
    fn says_anything(&self) -> bool {
        self.written || self.given.is_some()
    }

    fn end(self, index: u32, chunks: &mut VecDeque<Chunk>) {
        if let Some(delta) = self.given.filter(|_| !self.written) {
            chunks.push_back(Chunk::ToolCallDelta { index, delta });
        }
        chunks.push_back(Chunk::ToolCallEnd { index });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_calls_are_open_at_once() {
        let (mut calls, mut chunks) = (OpenCalls::default(), VecDeque::new());
        let mut start = |index: usize| {
            calls.start(u32::try_from(index).unwrap(), "i".into(), "n".into(), None, &mut chunks)
        };
        assert!((0..CALLS_MAX).all(|index| start(index).is_ok()));
        assert!(start(CALLS_MAX).is_err());
    }
}
