//! `OpenCalls`: incomplete tool calls of a response, for wires with indexed blocks.

use std::collections::{BTreeMap, VecDeque};

use rheon_types::{Chunk, DeltaText, ProviderError, StopReason, ToolCallId, ToolName};

use crate::error;

/// The maximum number of open tool calls in a response, or of all calls where every one is tracked.
pub(super) const CALLS_MAX: usize = 1_024;

/// The error for too many calls.
pub(super) fn too_many_calls() -> ProviderError {
    error::malformed(format_args!("it has more than {CALLS_MAX} tool calls"))
}

/// The open calls by block index.
///
/// A call whose block ended without any arguments stays open until the response continues or gives a stop reason: cut
/// off at the token limit, it must not pass for a call without arguments.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    calls: BTreeMap<u32, OpenCall>,
}

#[derive(Debug, Default)]
struct OpenCall {
    /// Arguments that came with the start; streamed arguments replace them.
    given: Option<DeltaText>,
    /// Whether a piece of arguments has arrived.
    written: bool,
    /// Whether its block has ended.
    ended: bool,
}

impl OpenCalls {
    /// Starts a call, with its arguments if they are already known.
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

    /// Adds a piece of arguments; ignored if there is no such call.
    pub(super) fn write(&mut self, index: u32, delta: DeltaText, chunks: &mut VecDeque<Chunk>) {
        if let Some(call) = self.calls.get_mut(&index)
            && !call.ended
            && !delta.is_empty()
        {
            call.written = true;
            chunks.push_back(Chunk::ToolCallDelta { index, delta });
        }
    }

    /// Ends a block; a call in it is complete if it has arguments.
    pub(super) fn end(&mut self, index: u32, chunks: &mut VecDeque<Chunk>) {
        let Some(call) = self.calls.get_mut(&index) else { return };
        call.ended = true;
        if call.has_content()
            && let Some(call) = self.calls.remove(&index)
        {
            call.end(index, chunks);
        }
    }

    /// The response continues: calls whose blocks have ended are complete.
    pub(super) fn continue_response(&mut self, chunks: &mut VecDeque<Chunk>) {
        for (index, call) in self.calls.extract_if(.., |_, call| call.ended) {
            call.end(index, chunks);
        }
    }

    /// Ends the response. At the token limit, a call without any arguments stays incomplete.
    pub(super) fn finish(&mut self, stop_reason: StopReason, chunks: &mut VecDeque<Chunk>) {
        for (index, call) in std::mem::take(&mut self.calls) {
            if stop_reason != StopReason::Length || call.has_content() {
                call.end(index, chunks);
            }
        }
    }
}

impl OpenCall {
    fn has_content(&self) -> bool {
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
    fn number_of_open_calls_is_bounded() {
        let (mut calls, mut chunks) = (OpenCalls::default(), VecDeque::new());
        let mut start = |index: usize| {
            calls.start(u32::try_from(index).unwrap(), "i".into(), "n".into(), None, &mut chunks)
        };
        assert!((0..CALLS_MAX).all(|index| start(index).is_ok()));
        assert!(start(CALLS_MAX).is_err());
    }
}
