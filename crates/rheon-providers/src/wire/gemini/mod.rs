//! Gemini `streamGenerateContent`.

mod answer;
mod config;
mod contents;
mod decode;
mod encode;
mod generation;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;

pub(super) use decode::decoder;
pub(super) use encode::encode;

/// Part of ids that are created here because the service gave none: `google-fc-0`. They are never sent.
const GENERATED_ID: &str = "-fc-";
