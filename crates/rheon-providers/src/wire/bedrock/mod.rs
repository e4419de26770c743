//! Bedrock ConverseStream.

mod block;
mod decode;
mod encode;
mod tools;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;

pub(super) use decode::decoder;
pub(super) use encode::encode;
