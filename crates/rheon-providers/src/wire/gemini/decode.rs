//! Gemini `streamGenerateContent`: responses.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{
    Chunk, DRAFT_BYTES_MAX, ProviderError, ProviderErrorKind, Signature, SignatureKind, StopReason, Usage,
};

use super::GENERATED_ID;
use super::answer::{Answer, Candidate, FunctionCall, Part};
use crate::error::{in_stream, malformed};
use crate::frame::{Frame, too_large};
use crate::wire::codec::Decoder;

/// Creates a decoder for one response.
pub(in crate::wire) fn decoder(origin: Arc<str>) -> impl Decoder + use<> {
    Decode {
        origin,
        model: None,
        usage: None,
        calls: 0,
        stop_reason: None,
        blank_end: false,
        body: Body::Unknown,
    }
}

struct Decode {
    origin: Arc<str>,
    /// The last reported model.
    model: Option<String>,
    /// The last reported usage.
    usage: Option<Usage>,
    /// The number of tool calls so far.
    calls: u32,
    /// The stop reason, once known. Usage may still follow.
    stop_reason: Option<StopReason>,
    /// Whether the last candidate ended with a stop reason that says nothing.
    blank_end: bool,
    body: Body,
}

/// The form of the frames.
enum Body {
    /// No frame yet.
    Unknown,
    /// One JSON object each.
    Events,
    /// Lines of one JSON document, which the service sends if events were not requested.
    Document(String),
    /// Events, the last of which is incomplete. Unless another follows, the response was cut there.
    Cut,
}

impl Decoder for Decode {
    fn frame(&mut self, frame: Frame<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let data = frame.data.trim_ascii();
        if let Body::Document(document) = &mut self.body {
            if document.len().saturating_add(data.len()) > DRAFT_BYTES_MAX {
                return Err(too_large());
            }
            document.push('\n');
            document.push_str(data);
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        match (&self.body, serde_json::from_str(data)) {
            (Body::Cut, _) => Err(malformed("an event in the middle of the response is incomplete")),
            (Body::Unknown, Err(error)) if error.is_eof() || data.starts_with('[') => {
                self.body = Body::Document(data.to_owned());
                Ok(())
            }
            (Body::Events, Err(error)) if error.is_eof() => {
                self.body = Body::Cut;
                Ok(())
            }
            (Body::Unknown | Body::Events | Body::Document(_), Err(error)) => Err(malformed(error)),
            (Body::Unknown | Body::Events | Body::Document(_), Ok(answer)) => {
                self.body = Body::Events;
                self.answer(answer, chunks)
            }
        }
    }

    fn whole(&mut self, json: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        self.frame(Frame { name: "", data: json }, chunks)?;
        if self.blank_end {
            self.stop_reason = self.stop_reason.or(Some(StopReason::Stop));
        }
        Ok(())
    }

    fn finish(&mut self, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if let Body::Document(document) = std::mem::replace(&mut self.body, Body::Events) {
            self.document(&document, chunks)?;
        }
        if let Some(stop_reason) = self.stop_reason.take() {
            let stop_reason = match stop_reason {
                StopReason::Stop if self.calls > 0 => StopReason::ToolUse,
                StopReason::Stop
                | StopReason::Length
                | StopReason::ToolUse
                | StopReason::Error
                | StopReason::Aborted => stop_reason,
            };
            chunks.push_back(Chunk::Done { stop_reason });
        }
        Ok(())
    }
}

impl Decode {
    /// An incomplete document was cut: nothing of it counts.
    fn document(&mut self, document: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let answers = if document.starts_with('[') {
            serde_json::from_str::<Vec<Answer<'_>>>(document)
        } else {
            serde_json::from_str(document).map(|answer| vec![answer])
        };
        match answers {
            Ok(answers) => answers.into_iter().try_for_each(|answer| self.answer(answer, chunks)),
            Err(error) if error.is_eof() => Ok(()),
            Err(error) => Err(malformed(error)),
        }
    }

    fn answer(&mut self, answer: Answer<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if let Some(error) = answer.error {
            return Err(in_stream(&error.status(), &error.message));
        }
        if let Some(model) = answer.model_version.filter(|model| self.model.as_deref() != Some(&model.0)) {
            self.model = Some(model.0.clone().into_owned());
            chunks.push_back(Chunk::Model { model: model.0.into_owned() });
        }
        let candidate = answer.candidates.into_iter().flatten().next();
        let (parts, end) = candidate.map_or((Vec::new(), None), Candidate::into_parts);
        for part in parts {
            self.part(part, chunks)?;
        }
        // Usage comes before an error that ends the response: refused responses cost too.
        if let Some(usage) =
            answer.usage_metadata.map(|usage| usage.to_usage()).filter(|usage| self.usage != Some(*usage))
        {
            self.usage = Some(usage);
            chunks.push_back(Chunk::Usage { usage });
        }
        if let Some(block) = answer.prompt_feedback.and_then(|feedback| feedback.block()) {
            return Err(ProviderError::new(ProviderErrorKind::ContentFilter, block));
        }
        match end {
            Some(end) if matches!(&*end.reason, "" | "FINISH_REASON_UNSPECIFIED") => self.blank_end = true,
            Some(end) => self.stop_reason = Some(stop_reason(&end.reason, &end.message)?),
            None => {}
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let signature = part.thought_signature.map(|data| data.0.into_owned());
        let text = part.text.map_or(Cow::Borrowed(""), |text| text.0);
        if let Some(call) = part.function_call {
            self.sign(signature, SignatureKind::Next, chunks);
            return self.call(call, chunks);
        }
        if part.thought == Some(true) {
            if !text.is_empty() {
                chunks.push_back(Chunk::Thinking { delta: text.into() });
            }
            self.sign(signature, SignatureKind::Proof, chunks);
        } else if text.is_empty() {
            // Only a signature: it is sent back as a separate part, whatever follows it.
            self.sign(signature, SignatureKind::Redacted, chunks);
        } else {
            self.sign(signature, SignatureKind::Next, chunks);
            chunks.push_back(Chunk::Text { delta: text.into() });
        }
        Ok(())
    }

    fn sign(&self, data: Option<String>, kind: SignatureKind, chunks: &mut VecDeque<Chunk>) {
        if let Some(data) = data.filter(|data| !data.is_empty()) {
            let signature = Signature { data, kind, id: None, origin: self.origin.to_string() };
            chunks.push_back(Chunk::Signature { signature: Box::new(signature) });
        }
    }

    /// A call always arrives whole.
    fn call(&mut self, call: FunctionCall<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let arguments = call.args();
        let Some(name) = call.name.filter(|name| !name.0.is_empty()) else {
            return Err(malformed("a tool call has no name"));
        };
        let index = self.calls;
        self.calls = self.calls.saturating_add(1);
        let id = match call.id.filter(|id| !id.0.is_empty()) {
            Some(id) => id.0.into_owned(),
            None => {
                let vendor = self.origin.split('/').next().unwrap_or_default();
                format!("{vendor}{GENERATED_ID}{index}")
            }
        };
        chunks.push_back(Chunk::ToolCallStart { index, id: id.into(), name: (*name.0).into() });
        if let Some(arguments) = arguments {
            chunks.push_back(Chunk::ToolCallDelta { index, delta: arguments.into() });
        }
        chunks.push_back(Chunk::ToolCallEnd { index });
        Ok(())
    }
}

fn stop_reason(reason: &str, message: &str) -> Result<StopReason, ProviderError> {
    let refused = |kind: ProviderErrorKind, what: &str| {
        let colon = if message.is_empty() { "" } else { ": " };
        Err(ProviderError::new(kind, format!("{what} ({reason}){colon}{message}")))
    };
    match reason {
        "MAX_TOKENS" => Ok(StopReason::Length),
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => refused(
            ProviderErrorKind::ContentFilter,
            "the service stopped the response because of its content",
        ),
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL" => {
            refused(ProviderErrorKind::Malformed, "the model's tool call cannot be parsed")
        }
        "MISSING_THOUGHT_SIGNATURE" => refused(
            ProviderErrorKind::InvalidRequest,
            "the history lacks a signature that the service requires",
        ),
        _ => Ok(StopReason::Stop),
    }
}
