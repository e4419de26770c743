//! Approvals in a terminal: nothing changes before you have seen exactly what would happen.
//!
//! `ANTHROPIC_API_KEY=... cargo run -p rheon --example approvals -- "Write a poem into poem.txt"`

use rheon::prelude::*;

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Write a poem into poem.txt".into());
    let session = Session::builder(".")
        .model("anthropic/claude-sonnet-4-5")
        .approve(|call| async move {
            // A decision of your own, before anybody is asked.
            if call.tool_name.as_str() == "web_fetch" {
                return PermissionResponse::denied("no web access in this program");
            }
            ask_in_terminal(call).await
        })
        .open()
        .await?;

    let reply = session.run(prompt).await?;
    println!("{reply}\n\nChanges:\n{}", reply.diff());
    Ok(())
}
