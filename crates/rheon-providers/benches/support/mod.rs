//! Shared by the benchmarks of this crate: streams, conversations, a server and output.

#![allow(dead_code, reason = "each benchmark uses its part")]

pub(crate) mod answers;
pub(crate) mod history;
pub(crate) mod provider;
pub(crate) mod server;

/// Prints one figure as a JSON line for `cargo xtask bench providers`.
pub(crate) fn report(case: &str, value: f64) {
    println!("{}", serde_json::json!({ "case": case, "value": value }));
}

/// Whether a part is selected: all are, unless the command line names some.
pub(crate) fn is_selected(part: &str) -> bool {
    let mut named = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|argument| argument == part)
}
