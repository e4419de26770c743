//! The decoder of the chat wire.
#![no_main]

#[path = "../read.rs"]
mod read;

libfuzzer_sys::fuzz_target!(|data: &[u8]| read::read(rheon_providers::wire::WireKind::Chat, data));
