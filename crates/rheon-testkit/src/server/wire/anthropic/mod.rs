//! Anthropic Messages.

mod messages;
mod render;
mod validate;

pub(super) use render::{events, text_event, whole};
pub(super) use validate::{request_info, validate};
