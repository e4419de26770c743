//! The tool calls of a Responses response while they stream.

use std::collections::VecDeque;

use rheon_types::{Chunk, DeltaText, ProviderError};

use crate::wire::open_calls::{CALLS_MAX, too_many_calls};

#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<OpenCall>,
}

struct OpenCall {
    key: Key<String>,
    has_arguments: bool,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// Its item has ended without arguments: it may be cut.
    Closed,
    Ended,
}

/// How an event identifies its item: some give only one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key<T> {
    pub(super) output_index: Option<u32>,
    pub(super) item_id: T,
}

impl Calls {
    /// Whether both are missing.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Starts a call, unless it has already started.
    pub(super) fn start(
        &mut self,
        key: Key<&str>,
        call_id: &str,
        name: &str,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        if self.find(key).is_some() {
            return Ok(());
        }
        let at = self.calls.len();
        let (Ok(index), true) = (u32::try_from(at), at < CALLS_MAX) else {
            return Err(too_many_calls());
        };
        let key = Key { output_index: key.output_index, item_id: key.item_id.to_owned() };
        self.calls.push(OpenCall { key, has_arguments: false, stage: Stage::Open });
        chunks.push_back(Chunk::ToolCallStart { index, id: call_id.into(), name: name.into() });
        Ok(())
    }

    /// Adds a piece of arguments.
    pub(super) fn arguments(&mut self, key: Key<&str>, delta: &str, chunks: &mut VecDeque<Chunk>) {
        if delta.is_empty() {
            return;
        }
        if let Some((index, call)) = self.open(key) {
            call.has_arguments = true;
            chunks.push_back(Chunk::ToolCallDelta { index, delta: DeltaText::from(delta) });
        }
    }

    /// Sets all arguments of a call; they repeat the streamed pieces.
    pub(super) fn all_arguments(&mut self, key: Key<&str>, json: &str, chunks: &mut VecDeque<Chunk>) {
        if self.open(key).is_some_and(|(_, call)| !call.has_arguments) {
            self.arguments(key, json, chunks);
        }
    }

    /// Ends a call.
    pub(super) fn end(&mut self, key: Key<&str>, chunks: &mut VecDeque<Chunk>) {
        if let Some((index, call)) = self.open(key) {
            call.stage = Stage::Ended;
            chunks.push_back(Chunk::ToolCallEnd { index });
        }
    }

    /// Ends the item of a call. A call without any arguments is complete only if the response is: cut off at the token
    /// limit, it must not pass for a call without arguments.
    pub(super) fn close(&mut self, key: Key<&str>, chunks: &mut VecDeque<Chunk>) {
        match self.open(key) {
            Some((_, call)) if !call.has_arguments => call.stage = Stage::Closed,
            Some(_) | None => self.end(key, chunks),
        }
    }

    /// Ends the response: ends calls that the service closed or gave arguments without an explicit end.
    pub(super) fn end_all(&mut self, chunks: &mut VecDeque<Chunk>) {
        for (call, index) in self.calls.iter_mut().zip(0..) {
            let complete = match call.stage {
                Stage::Open => call.has_arguments,
                Stage::Closed => true,
                Stage::Ended => false,
            };
            if complete {
                call.stage = Stage::Ended;
                chunks.push_back(Chunk::ToolCallEnd { index });
            }
        }
    }

    fn find(&self, key: Key<&str>) -> Option<usize> {
        let same_place = |call: &OpenCall| call.key.output_index == key.output_index;
        let same_id = |call: &OpenCall| call.key.item_id == key.item_id;
        if key.output_index.is_some() {
            self.calls.iter().rposition(same_place)
        } else if !key.item_id.is_empty() {
            self.calls.iter().rposition(same_id)
        } else {
            None
        }
    }

    /// The call that `key` identifies; the last one if it identifies none.
    fn open(&mut self, key: Key<&str>) -> Option<(u32, &mut OpenCall)> {
        let named = key.output_index.is_some() || !key.item_id.is_empty();
        let last = self.calls.len().checked_sub(1).filter(|_| !named);
        let at = self.find(key).or(last)?;
        let call = self.calls.get_mut(at).filter(|call| call.stage != Stage::Ended)?;
        Some((u32::try_from(at).ok()?, call))
    }
}
