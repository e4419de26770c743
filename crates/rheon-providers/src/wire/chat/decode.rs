//! OpenAI Chat Completions: responses.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{
    Chunk, DeltaText, ProviderError, ProviderErrorKind, Signature, SignatureKind, StopReason, Usage,
};

use super::calls::Calls;
use super::details::Details;
use super::event::{Choice, Content, Delta, Event};
use super::think_tags::ThinkTags;
use crate::error;
use crate::frame::Frame;
use crate::wire::codec::Decoder;
use crate::wire::lenient::{self, Counts, failed_generation, is_error};

/// Creates a decoder for one response.
pub(in crate::wire) fn decoder(origin: Arc<str>) -> impl Decoder + use<> {
    Decode {
        origin,
        model_told: false,
        tags: ThinkTags::default(),
        details: Details::default(),
        calls: Calls::default(),
        usage: Usage::default(),
        stop_reason: None,
        blank_end: BlankEnd::default(),
        failed: None,
        done: false,
    }
}

struct Decode {
    origin: Arc<str>,
    model_told: bool,
    tags: ThinkTags,
    details: Details,
    calls: Calls,
    usage: Usage,
    stop_reason: Option<StopReason>,
    blank_end: BlankEnd,
    /// What the model wrote, if the service refused it.
    failed: Option<String>,
    done: bool,
}

/// Whether a response without a stop reason has ended: some services end with `finish_reason: ""`, but others send that
/// with every chunk.
#[derive(Default)]
struct BlankEnd {
    /// A chunk without any stop reason came before the first empty one.
    null_first: bool,
    /// An empty stop reason came.
    blank: bool,
    /// Nothing but the end came last: the first empty stop reason of the response, or its usage.
    ended: bool,
}

impl BlankEnd {
    fn chunk(&mut self, finish_reason: Option<&str>, is_empty: bool) {
        match finish_reason {
            None => {
                self.null_first |= !self.blank;
                self.ended &= is_empty;
            }
            Some(word) => {
                let is_first_blank = word.is_empty() && !self.blank;
                self.ended = (self.ended && is_empty) || (is_first_blank && self.null_first);
                self.blank |= word.is_empty();
            }
        }
    }

    fn usage(&mut self, is_empty: bool) {
        self.ended |= self.blank && is_empty;
    }
}

impl Decoder for Decode {
    fn frame(&mut self, frame: Frame<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let data = frame.data.trim();
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.end(chunks);
            return Ok(());
        }
        let event: Event<'_> = match lenient::parse("a chunk of the chat answer", data) {
            Ok(event) => event,
            Err(_) if frame.name == "error" => return Err(self.reported(data)),
            Err(problem) => return Err(problem),
        };
        if let Some(error) = event.error.filter(|error| is_error(error)) {
            return Err(self.reported(error.get()));
        }
        if frame.name == "error" || *event.object == *"error" {
            return Err(self.reported(data));
        }
        if !self.model_told && !event.model.is_empty() {
            self.model_told = true;
            chunks.push_back(Chunk::Model { model: event.model.to_string() });
        }
        if let Some(part) = event.choices.0.as_ref().and_then(Choice::new_part) {
            self.part(part, chunks)?;
        }
        let is_empty = event.choices.0.as_ref().and_then(Choice::new_part).is_none_or(Delta::is_empty);
        if let Some(choice) = &event.choices.0 {
            self.blank_end.chunk(choice.finish_reason.as_deref(), is_empty);
        }
        if let Some(counts) = event.counts() {
            self.blank_end.usage(is_empty);
            self.count(&counts, chunks);
        }
        if let Some(problem) = event.stream_error() {
            return Err(error::in_stream("error", &problem));
        }
        match &event.choices.0 {
            Some(choice) => self.stop(choice, chunks),
            None => Ok(()),
        }
    }

    fn failed_generation(&mut self) -> Option<String> {
        self.failed.take()
    }

    fn whole(&mut self, json: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        self.frame(Frame { name: "", data: json }, chunks)?;
        // A message that came at once is complete, even if the service does not say why the model stopped.
        self.blank_end.ended = self.blank_end.null_first || self.blank_end.blank;
        Ok(())
    }

    fn finish(&mut self, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        // Many servers end the body without `[DONE]`; a response with a stop reason is complete.
        if !self.done && (self.stop_reason.is_some() || self.blank_end.ended) {
            self.end(chunks);
        } else if !self.done {
            self.tags.flush(chunks);
        }
        Ok(())
    }
}

impl Decode {
    fn reported(&mut self, json: &str) -> ProviderError {
        self.failed = failed_generation(json);
        lenient::reported(json)
    }

    fn part(&mut self, part: &Delta<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let thinking_text = part.thinking();
        self.push_thinking(thinking_text, chunks);
        for raw in part.reasoning_details.iter().flatten() {
            let readable = self.details.piece(raw)?;
            if thinking_text.is_empty() {
                self.push_thinking(&readable, chunks);
            }
        }
        match &part.content {
            Content::Nothing => {}
            Content::Text(text) => self.push_text(text, chunks),
            Content::Parts(parts) => {
                for part in parts {
                    if let Some(thinking) = part.thinking() {
                        self.push_thinking_parts(&thinking, chunks);
                    }
                    self.push_text(&part.text, chunks);
                }
            }
        }
        self.push_text(&part.refusal, chunks);
        for piece in &part.tool_calls.0 {
            self.sign(chunks);
            self.tags.flush(chunks);
            self.calls.piece(piece, chunks)?;
        }
        if let Some(function) = &part.function_call {
            self.sign(chunks);
            self.tags.flush(chunks);
            self.calls.function(function, chunks)?;
        }
        Ok(())
    }

    fn push_thinking(&mut self, text: &str, chunks: &mut VecDeque<Chunk>) {
        if !text.is_empty() {
            self.calls.interrupted();
            chunks.push_back(Chunk::Thinking { delta: DeltaText::from(text) });
        }
    }

    fn push_thinking_parts(&mut self, content: &Content<'_>, chunks: &mut VecDeque<Chunk>) {
        match content {
            Content::Nothing => {}
            Content::Text(text) => self.push_thinking(text, chunks),
            Content::Parts(parts) => {
                for part in parts {
                    self.push_thinking(&part.text, chunks);
                }
            }
        }
    }

    fn push_text(&mut self, text: &str, chunks: &mut VecDeque<Chunk>) {
        if !text.is_empty() {
            self.sign(chunks);
            self.calls.interrupted();
            self.tags.text(text, chunks);
        }
    }

    /// Signs the reasoning so far. Must happen before other content, or the signature would stand alone.
    fn sign(&mut self, chunks: &mut VecDeque<Chunk>) {
        if let Some(data) = self.details.take() {
            let origin = self.origin.to_string();
            let signature = Signature { data, kind: SignatureKind::Proof, id: None, origin };
            chunks.push_back(Chunk::Signature { signature: Box::new(signature) });
        }
    }

    fn count(&mut self, counts: &Counts, chunks: &mut VecDeque<Chunk>) {
        let usage = counts.usage();
        if usage != self.usage {
            self.usage = usage;
            chunks.push_back(Chunk::Usage { usage });
        }
    }

    fn stop(&mut self, choice: &Choice<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if let Some(error) = choice.error.filter(|error| is_error(error)) {
            return Err(lenient::reported(error.get()));
        }
        if let Some(reason) = stop_reason(choice.finish_reason.as_deref().unwrap_or_default())? {
            self.calls.end(Some(reason), chunks);
            self.stop_reason = Some(reason);
        }
        Ok(())
    }

    fn end(&mut self, chunks: &mut VecDeque<Chunk>) {
        self.tags.flush(chunks);
        self.sign(chunks);
        // A response that ended without a reason is complete, and so are its calls.
        let reason = self.stop_reason.or(self.blank_end.ended.then_some(StopReason::Stop));
        self.calls.end(reason, chunks);
        self.done = true;
        chunks.push_back(Chunk::Done { stop_reason: self.stop_reason.unwrap_or(StopReason::Stop) });
    }
}

/// The stop reason, in OpenAI's words and those of compatible services.
fn stop_reason(word: &str) -> Result<Option<StopReason>, ProviderError> {
    match word.to_ascii_lowercase().as_str() {
        "" | "null" | "none" => Ok(None),
        "length" | "model_length" | "max_tokens" | "max_output_tokens" | "token_limit" => {
            Ok(Some(StopReason::Length))
        }
        "tool_calls" | "function_call" | "tool_use" => Ok(Some(StopReason::ToolUse)),
        "content_filter" | "sensitive" => Err(ProviderError::new(
            ProviderErrorKind::ContentFilter,
            "the service's content filter stopped the answer; rephrase the request",
        )),
        "error" => Err(error::in_stream("error", "the service stopped the response with an error")),
        "network_error" => {
            Err(ProviderError::new(ProviderErrorKind::Network, "the service lost its model (network_error)"))
        }
        "insufficient_system_resource" => Err(ProviderError::new(
            ProviderErrorKind::Overloaded,
            "the service has no capacity for the rest of the answer (insufficient_system_resource)",
        )),
        _ => Ok(Some(StopReason::Stop)),
    }
}
