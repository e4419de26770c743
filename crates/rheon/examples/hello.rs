//! A prompt in this directory, with everything that the program `rheon` has: AGENTS.md, sandboxed tools, a journal.
//!
//! `ANTHROPIC_API_KEY=... cargo run -p rheon --example hello -- "Explain this project"`

use rheon::prelude::*;

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Explain this project".into());
    let session = Session::builder(".").model("anthropic/claude-sonnet-4-5").open().await?;

    let mut run = session.start(prompt);
    while let Some(text) = run.text().next().await {
        print!("{text}");
    }

    let reply = run.reply().await?;
    let cost = reply.cost.map_or("unknown cost".to_owned(), |cost| cost.to_string());
    println!("\n[{} turns, {} tokens, {cost}]", reply.turns, reply.usage.total());
    Ok(())
}
