//! OpenAI Responses.

mod calls;
mod decode;
mod encode;
mod event;
mod input;

pub(super) use decode::decoder;
pub(super) use encode::encode;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
