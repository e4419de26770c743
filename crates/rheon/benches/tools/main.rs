//! The tools: files, search, shell lines, commands, the map of a repository, each beside what does the same without them. One JSON object per line,
//! which `cargo xtask bench tools` reads.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a figure"
)]

mod bash;
mod calls;
mod map;
mod race;
mod read;
mod ripgrep;
mod search;
mod shell;
mod tree;

fn main() {
    if bash::is_child() {
        return bash::run_child();
    }
    let parts: [(&str, fn()); 5] = [
        ("read", read::measure),
        ("search", search::measure),
        ("shell", shell::measure),
        ("bash", bash::measure),
        ("map", map::measure),
    ];
    for (name, measure) in parts {
        if wants(name) {
            measure();
        }
    }
}

/// Hands on one figure.
fn report(case: &str, value: f64) {
    println!("{}", serde_json::json!({ "case": case, "value": value }));
}

/// Whether a part is asked for: all are unless the command line names some.
fn wants(part: &str) -> bool {
    let mut named = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|argument| argument == part)
}

/// A runtime of one thread, beside which tools have those they start for blocking work.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime of one thread")
}
