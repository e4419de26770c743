//! OpenAI Chat Completions, as OpenAI and the many services that follow it speak it.

mod calls;
mod decode;
mod details;
mod encode;
mod event;
mod message;
mod think_tags;

pub(super) use decode::decoder;
pub(super) use encode::encode;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod odd_tests;
