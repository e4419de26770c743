//! OpenAI Chat Completions, as used by OpenAI and compatible services.

mod messages;
mod render;
mod validate;

pub(super) use render::{events, text_event, whole};
pub(super) use validate::{check_function, check_key, check_output_schema, request_info, validate};
