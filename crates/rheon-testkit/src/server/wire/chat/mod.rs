//! OpenAI Chat Completions, as OpenAI and those who follow it speak it.

mod messages;
mod render;
mod validate;

pub(super) use render::{events, text_event, whole};
pub(super) use validate::{asked, check_function, check_held, check_key, validate};
