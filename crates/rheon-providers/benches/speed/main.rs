//! Speed benchmarks: frames, responses, requests, and time to the network. One JSON object per line.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a figure"
)]

mod content;
mod encode;
mod first_byte;
mod race;
mod sse;
#[path = "../support/mod.rs"]
mod support;

fn main() {
    let parts: [(&str, fn()); 4] = [
        ("sse", sse::measure),
        ("content", content::measure),
        ("encode", encode::measure),
        ("first_byte", first_byte::measure),
    ];
    for (name, measure) in parts {
        if support::is_selected(name) {
            measure();
        }
    }
}
