//! OpenAI Responses: responses.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{
    Chunk, DeltaText, ProviderError, ProviderErrorKind, Signature, SignatureKind, StopReason, Usage,
};

use super::calls::{Calls, Key};
use super::event::{Head, Item, ItemEvent, Piece, Response, ResponseEvent};
use crate::frame::Frame;
use crate::wire::codec::Decoder;
use crate::wire::lenient::{self, Text};

/// Creates a decoder for one response.
pub(in crate::wire) fn decoder(origin: Arc<str>) -> impl Decoder + use<> {
    Decode {
        origin,
        model_told: false,
        calls: Calls::default(),
        text_streamed: false,
        has_content: false,
        thought: None,
        done: false,
    }
}

struct Decode {
    origin: Arc<str>,
    model_told: bool,
    calls: Calls,
    /// Whether the current message has streamed text.
    text_streamed: bool,
    /// Whether any text, reasoning or call came.
    has_content: bool,
    /// The part of the current reasoning that was written last.
    thought: Option<ThinkingPart>,
    done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThinkingPart {
    Summary(Option<u32>),
    Text(Option<u32>),
}

impl Decoder for Decode {
    fn frame(&mut self, frame: Frame<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let data = frame.data.trim();
        if self.done || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        if frame.name.starts_with("response.") || frame.name == "error" {
            return self.event(frame.name, data, chunks);
        }
        let head: Head<'_> = lenient::parse("an event of the answer", data)?;
        match &*head.object {
            "response" => self.response(data, chunks),
            _ => self.event(if head.kind.is_empty() { frame.name } else { &head.kind }, data, chunks),
        }
    }

    fn whole(&mut self, json: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let head: Head<'_> = lenient::parse("the answer", json)?;
        let is_event = head.kind.starts_with("response.") || &*head.kind == "error";
        if is_event { self.event(&head.kind, json, chunks) } else { self.response(json, chunks) }
    }

    fn finish(&mut self, _chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        Ok(())
    }
}

impl Decode {
    fn event(&mut self, kind: &str, data: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                let piece: Piece<'_> = lenient::parse(kind, data)?;
                self.push_text(&piece.delta, chunks);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning.delta" => {
                let piece: Piece<'_> = lenient::parse(kind, data)?;
                self.push_thinking(ThinkingPart::Summary(piece.summary_index.0), &piece.delta, chunks);
            }
            "response.reasoning_text.delta" => {
                let piece: Piece<'_> = lenient::parse(kind, data)?;
                self.push_thinking(ThinkingPart::Text(piece.content_index.0), &piece.delta, chunks);
            }
            "response.function_call_arguments.start" => {
                let piece: Piece<'_> = lenient::parse(kind, data)?;
                let id: &Text<'_> = if piece.call_id.is_empty() { &piece.item_id } else { &piece.call_id };
                self.calls.start(key(&piece), id, &piece.name, chunks)?;
            }
            "response.function_call_arguments.delta" => {
                let piece: Piece<'_> = lenient::parse(kind, data)?;
                self.calls.arguments(key(&piece), &piece.delta, chunks);
            }
            "response.function_call_arguments.done" => {
                let piece: Piece<'_> = lenient::parse(kind, data)?;
                self.calls.all_arguments(key(&piece), &piece.arguments, chunks);
            }
            "response.output_item.added" => {
                let event: ItemEvent<'_> = lenient::parse(kind, data)?;
                self.start_item(&event, chunks)?;
            }
            "response.output_item.done" => {
                let event: ItemEvent<'_> = lenient::parse(kind, data)?;
                self.end_item(&event.item, event.output_index.0, chunks)?;
            }
            "response.created" | "response.in_progress" => {
                let event: ResponseEvent<'_> = lenient::parse(kind, data)?;
                self.name_model(&event.response, chunks);
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                let event: ResponseEvent<'_> = lenient::parse(kind, data)?;
                self.missed(&event.response, chunks)?;
                self.end(kind, &event.response, chunks)?;
            }
            "response.done" => {
                let event: ResponseEvent<'_> = lenient::parse(kind, data)?;
                self.missed(&event.response, chunks)?;
                self.end(end_kind(&event.response), &event.response, chunks)?;
            }
            "error" => return Err(lenient::reported(data)),
            _ => {}
        }
        Ok(())
    }

    /// A response that was not streamed.
    fn response(&mut self, data: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let response: Response<'_> = lenient::parse("the answer", data)?;
        self.missed(&response, chunks)?;
        self.end(end_kind(&response), &response, chunks)
    }

    /// The content of a response whose items were not streamed.
    fn missed(&mut self, response: &Response<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if self.has_content {
            return Ok(());
        }
        for (item, index) in response.output().iter().zip(0..) {
            self.end_item(item, Some(index), chunks)?;
        }
        Ok(())
    }

    fn push_text(&mut self, text: &str, chunks: &mut VecDeque<Chunk>) {
        if !text.is_empty() {
            self.text_streamed = true;
            self.has_content = true;
            chunks.push_back(Chunk::Text { delta: DeltaText::from(text) });
        }
    }

    /// Adds to the reasoning, with an empty line between its parts.
    fn push_thinking(&mut self, part: ThinkingPart, text: &str, chunks: &mut VecDeque<Chunk>) {
        if text.is_empty() {
            return;
        }
        if self.thought.is_some_and(|before| before != part) {
            chunks.push_back(Chunk::Thinking { delta: DeltaText::const_new("\n\n") });
        }
        self.thought = Some(part);
        self.has_content = true;
        chunks.push_back(Chunk::Thinking { delta: DeltaText::from(text) });
    }

    fn name_model(&mut self, response: &Response<'_>, chunks: &mut VecDeque<Chunk>) {
        if !self.model_told && !response.model.is_empty() {
            self.model_told = true;
            chunks.push_back(Chunk::Model { model: response.model.to_string() });
        }
    }

    fn start_item(
        &mut self,
        event: &ItemEvent<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        let item = &event.item;
        self.has_content |= &*item.kind == "function_call";
        match &*item.kind {
            "message" => self.text_streamed = false,
            "reasoning" => self.thought = None,
            "function_call" => {
                let key = Key { output_index: event.output_index.0, item_id: &*item.id };
                self.calls.start(key, &item.call_id, &item.name, chunks)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The content at the end of an item repeats what it streamed; it is used only if nothing was streamed.
    fn end_item(
        &mut self,
        item: &Item<'_>,
        output_index: Option<u32>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        self.has_content = true;
        match &*item.kind {
            "message" => {
                if !self.text_streamed {
                    for part in item.content() {
                        self.push_text(part.text_content(), chunks);
                    }
                }
                self.text_streamed = false;
            }
            "reasoning" => self.end_reasoning(item, chunks),
            "function_call" => {
                let key = Key { output_index, item_id: &*item.id };
                self.calls.start(key, &item.call_id, &item.name, chunks)?;
                self.calls.all_arguments(key, &item.arguments, chunks);
                match &*item.status {
                    "incomplete" => {}
                    "completed" => self.calls.end(key, chunks),
                    _ => self.calls.close(key, chunks),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reasoning without encrypted content is signed too: it then counts as the model's own and is not sent back as
    /// text.
    fn end_reasoning(&mut self, item: &Item<'_>, chunks: &mut VecDeque<Chunk>) {
        if self.thought.is_none() {
            for (part, index) in item.summary().iter().zip(0..) {
                self.push_thinking(ThinkingPart::Summary(Some(index)), part.text_content(), chunks);
            }
        }
        if self.thought.is_none() {
            for (part, index) in item.content().iter().zip(0..) {
                self.push_thinking(ThinkingPart::Text(Some(index)), part.text_content(), chunks);
            }
        }
        if self.thought.is_some() || !item.encrypted_content.is_empty() {
            let signature = Signature {
                data: item.encrypted_content.to_string(),
                kind: SignatureKind::Proof,
                id: Some(item.id.to_string()).filter(|id| !id.is_empty()),
                origin: self.origin.to_string(),
            };
            chunks.push_back(Chunk::Signature { signature: Box::new(signature) });
        }
        self.thought = None;
    }

    fn end(
        &mut self,
        kind: &str,
        response: &Response<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        self.name_model(response, chunks);
        let usage = response.counts().map(|counts| counts.usage()).unwrap_or_default();
        if usage != Usage::default() {
            chunks.push_back(Chunk::Usage { usage });
        }
        let stop_reason = match (kind, response.incomplete_reason()) {
            ("response.failed" | "response.cancelled", _) => {
                let error = response.error.map_or("{}", |error| error.get());
                return Err(lenient::reported(error));
            }
            ("response.incomplete", "content_filter") => {
                return Err(ProviderError::new(
                    ProviderErrorKind::ContentFilter,
                    "the service's content filter stopped the answer; rephrase the request",
                ));
            }
            ("response.incomplete", _) => StopReason::Length,
            _ => {
                self.calls.end_all(chunks);
                if self.calls.is_empty() { StopReason::Stop } else { StopReason::ToolUse }
            }
        };
        self.done = true;
        chunks.push_back(Chunk::Done { stop_reason });
        Ok(())
    }
}

/// The event that ends a response with this status.
fn end_kind(response: &Response<'_>) -> &'static str {
    match &*response.status {
        "incomplete" => "response.incomplete",
        "failed" | "cancelled" => "response.failed",
        _ => "response.completed",
    }
}

fn key<'a>(piece: &'a Piece<'_>) -> Key<&'a str> {
    Key { output_index: piece.output_index.0, item_id: &piece.item_id }
}
