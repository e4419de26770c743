//! Assembles the tool calls of a response from the pieces that services stream.

use std::collections::VecDeque;

use rheon_types::{Chunk, DeltaText, ProviderError, StopReason};

use super::event::{Arguments, CallPiece, Function};
use crate::wire::open_calls::{CALLS_MAX, too_many_calls};

#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<OpenCall>,
    /// Whether the last piece belongs to the last call, which may therefore be cut.
    writing: bool,
}

struct OpenCall {
    /// The index that the service gives it.
    position: Option<u32>,
    id: String,
    name: String,
    stage: Stage,
    has_arguments: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The name is not known yet.
    Nameless,
    Open,
    Ended,
}

impl Calls {
    /// Adds a piece of a call.
    pub(super) fn piece(
        &mut self,
        piece: &CallPiece<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        let nothing = Function::default();
        let function = piece.function.as_ref().unwrap_or(&nothing);
        self.take(piece.index.0, &piece.id, function, chunks)
    }

    /// Adds a piece of the single call in the legacy `function_call` format.
    pub(super) fn function(
        &mut self,
        function: &Function<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        self.take(Some(0), "", function, chunks)
    }

    fn take(
        &mut self,
        position: Option<u32>,
        id: &str,
        function: &Function<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        let (name, arguments) = (&*function.name, function.arguments());
        let at = match self.find(position, id, name, &arguments) {
            Some(at) => at,
            None => self.add(position, id)?,
        };
        self.writing = at + 1 == self.calls.len();
        let (Some(call), Ok(index)) = (self.calls.get_mut(at), u32::try_from(at)) else { return Ok(()) };
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        let text = match &arguments {
            Arguments::None => "",
            Arguments::Piece(text) => text,
            Arguments::Whole(json) => json,
        };
        if call.stage == Stage::Nameless && !(call.name.is_empty() && text.is_empty()) {
            let (id, name) = (call.id.as_str().into(), call.name.as_str().into());
            chunks.push_back(Chunk::ToolCallStart { index, id, name });
            call.stage = Stage::Open;
        }
        if call.stage == Stage::Open && !text.is_empty() {
            chunks.push_back(Chunk::ToolCallDelta { index, delta: DeltaText::from(text) });
            call.has_arguments = true;
        }
        Ok(())
    }

    /// The call that a piece belongs to, unless it starts a new one.
    ///
    /// A piece belongs to the call at its index, unless it can only be a new call: some services give every call the
    /// index 0, or none at all. An id alone does not start a call, because some services invent a new one for each
    /// piece.
    fn find(&self, position: Option<u32>, id: &str, name: &str, arguments: &Arguments<'_>) -> Option<usize> {
        let same_id = |call: &OpenCall| !id.is_empty() && call.id == id;
        if position.is_none() {
            let known = self.calls.iter().rposition(same_id);
            let last = self.calls.len().checked_sub(1).filter(|_| name.is_empty());
            return known.or(last);
        }
        let at = self.calls.iter().rposition(|call| call.position == position)?;
        let call = self.calls.get(at)?;
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        let whole = matches!(arguments, Arguments::Whole(_)) && call.has_arguments;
        let named = !name.is_empty() && !call.name.is_empty();
        let another = named && !same_id(call) && (other_id || call.name != name || whole);
        (!another).then_some(at)
    }

    fn add(&mut self, position: Option<u32>, id: &str) -> Result<usize, ProviderError> {
        if self.calls.len() >= CALLS_MAX {
            return Err(too_many_calls());
        }
        let (id, name) = (id.to_owned(), String::new());
        self.calls.push(OpenCall { position, id, name, stage: Stage::Nameless, has_arguments: false });
        Ok(self.calls.len() - 1)
    }

    /// Something other than a piece of a call arrived.
    pub(super) fn interrupted(&mut self) {
        self.writing = false;
    }

    /// Ends the calls that are complete after the model stopped for `reason`, if given.
    ///
    /// The call that was being written when the response hit its limit may be cut, so it stays open; so does one
    /// without arguments if the service gave no stop reason.
    pub(super) fn end(&mut self, reason: Option<StopReason>, chunks: &mut VecDeque<Chunk>) {
        let last = self.calls.len().saturating_sub(1);
        for (at, call) in self.calls.iter_mut().enumerate() {
            let complete = match reason {
                Some(StopReason::Length) => at != last || !self.writing,
                Some(StopReason::Stop | StopReason::ToolUse | StopReason::Error | StopReason::Aborted) => {
                    true
                }
                None => call.has_arguments,
            };
            let Ok(index) = u32::try_from(at) else { return };
            if call.stage == Stage::Open && complete {
                chunks.push_back(Chunk::ToolCallEnd { index });
                call.stage = Stage::Ended;
            }
        }
    }
}
