//! Gemini `generateContent` and `streamGenerateContent`.

mod contents;
mod render;
mod schema;
mod validate;

pub(super) use render::{events, text_event, whole};
pub(super) use validate::{request_info, validate};
