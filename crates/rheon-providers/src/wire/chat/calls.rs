//! The tool calls of one answer while they stream in, put together from the pieces that services cut them into.

use std::collections::VecDeque;

use rheon_types::{Chunk, DeltaText, ProviderError, StopReason};

use super::event::{Arguments, CallPiece, Function};
use crate::wire::open_calls::{CALLS_MAX, too_many_calls};

/// The calls so far.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<OpenCall>,
    /// Whether nothing came after the last piece of the last call, so that it may be cut.
    writing: bool,
}

struct OpenCall {
    /// Where the service puts it.
    place: Option<u32>,
    id: String,
    name: String,
    stage: Stage,
    has_arguments: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its name is still to come.
    Nameless,
    Open,
    Ended,
}

impl Calls {
    /// Takes in one piece of a call.
    pub(super) fn piece(
        &mut self,
        piece: &CallPiece<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        let nothing = Function::default();
        let function = piece.function.as_ref().unwrap_or(&nothing);
        self.take(piece.index.0, &piece.id, function, chunks)
    }

    /// Takes in a piece of the one call of the older form of this wire.
    pub(super) fn function(
        &mut self,
        function: &Function<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        self.take(Some(0), "", function, chunks)
    }

    fn take(
        &mut self,
        place: Option<u32>,
        id: &str,
        function: &Function<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        let (name, arguments) = (&*function.name, function.arguments());
        let at = match self.find(place, id, name, &arguments) {
            Some(at) => at,
            None => self.add(place, id)?,
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

    /// The call that a piece belongs to, if it is not the first of a new one.
    ///
    /// A piece goes to the call at its place, unless it can only be another one: services give every call the place 0, or
    /// none at all. An id alone starts no call, because services make up a new one for each piece.
    fn find(&self, place: Option<u32>, id: &str, name: &str, arguments: &Arguments<'_>) -> Option<usize> {
        let same_id = |call: &OpenCall| !id.is_empty() && call.id == id;
        if place.is_none() {
            let known = self.calls.iter().rposition(same_id);
            let last = self.calls.len().checked_sub(1).filter(|_| name.is_empty());
            return known.or(last);
        }
        let at = self.calls.iter().rposition(|call| call.place == place)?;
        let call = self.calls.get(at)?;
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        let whole = matches!(arguments, Arguments::Whole(_)) && call.has_arguments;
        let named = !name.is_empty() && !call.name.is_empty();
        let another = named && !same_id(call) && (other_id || call.name != name || whole);
        (!another).then_some(at)
    }

    fn add(&mut self, place: Option<u32>, id: &str) -> Result<usize, ProviderError> {
        if self.calls.len() >= CALLS_MAX {
            return Err(too_many_calls());
        }
        let (id, name) = (id.to_owned(), String::new());
        self.calls.push(OpenCall { place, id, name, stage: Stage::Nameless, has_arguments: false });
        Ok(self.calls.len() - 1)
    }

    /// Something else than a piece of a call came.
    pub(super) fn interrupted(&mut self) {
        self.writing = false;
    }

    /// Ends the calls that are complete now that the model stopped for `reason`, if it said why.
    ///
    /// The one being written when the answer ran into its limit may be cut, so it stays open; so does one without any
    /// arguments where the service never said that the model was done.
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
