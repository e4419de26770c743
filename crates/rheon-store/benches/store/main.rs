//! Benchmarks of the store: appending, opening very large sessions, forking, listing and searching, each compared
//! with a plain implementation. Prints one JSON object per line, which `cargo xtask bench store` reads.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a figure"
)]

mod append;
mod fixture;
mod fork;
mod index;
mod log;
mod open;
mod race;

fn main() {
    if open::is_child() {
        return open::run_child();
    }
    let parts: [(&str, fn()); 4] = [
        ("append", append::measure),
        ("open", open::measure),
        ("fork", fork::measure),
        ("index", index::measure),
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

/// Whether a part is selected. All are, unless the command line names some.
fn wants(part: &str) -> bool {
    let mut named = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|argument| argument == part)
}

/// A single-threaded runtime, besides the threads for blocking work.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime of one thread")
}
