//! A session and those who watch it: what one more subscriber costs, how long a snapshot takes, and what the byte pipe adds. One
//! JSON object per line, which `cargo xtask bench session` reads.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a figure"
)]

mod best;
mod flow;
mod memory;
mod pipe;
mod snapshot;
mod stage;
mod subscribers;

fn main() {
    if memory::is_child() {
        return memory::run_child();
    }
    let parts: [(&str, fn()); 4] = [
        ("subscribers", subscribers::measure),
        ("memory", memory::measure),
        ("snapshot", snapshot::measure),
        ("pipe", pipe::measure),
    ];
    for (name, measure) in parts {
        if wants(name) {
            measure();
        }
    }
}

/// Prints one figure.
fn report(case: &str, value: f64) {
    println!("{}", serde_json::json!({ "case": case, "value": value }));
}

/// Whether a part is wanted: all are unless the command line names some.
fn wants(part: &str) -> bool {
    let mut named = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|argument| argument == part)
}

/// A runtime of one thread.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime of one thread")
}
