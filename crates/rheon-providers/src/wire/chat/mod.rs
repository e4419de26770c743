//! OpenAI Chat Completions, as used by OpenAI and many compatible services.

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
mod edge_case_tests;
#[cfg(test)]
mod encode_tests;
