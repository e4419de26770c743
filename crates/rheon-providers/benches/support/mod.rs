//! What the benchmarks of this crate share: streams, conversations, a server, and how figures are handed on.

#![allow(dead_code, reason = "each benchmark uses its part")]

pub(crate) mod answers;
pub(crate) mod history;
pub(crate) mod provider;
pub(crate) mod server;

/// Hands on one figure: a JSON object on a line of its own, which `cargo xtask bench providers` reads.
pub(crate) fn report(case: &str, value: f64) {
    println!("{}", serde_json::json!({ "case": case, "value": value }));
}

/// Whether a part is asked for: all are unless the command line names some.
pub(crate) fn wants(part: &str) -> bool {
    let mut named = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|argument| argument == part)
}
