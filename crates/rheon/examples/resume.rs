//! A session that is closed and resumed by its id, and a fork of it.
//!
//! `ANTHROPIC_API_KEY=... cargo run -p rheon --example resume`

use rheon::prelude::*;

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let builder = || Session::builder(".").model("anthropic/claude-sonnet-4-5");

    let session = builder().open().await?;
    let id = session.id().to_string();
    println!("{}", session.run("My name is Ada.").await?);
    session.close().await?;

    // Later, in another process: everything that was said is there.
    let session = builder().resume(&id).open().await?;
    println!("{}", session.run("What is my name?").await?);
    session.close().await?;

    // Another path from the same point; the session itself stays as it is.
    let fork = builder().fork(&id).open().await?;
    println!("{}", fork.run("Call me Grace from now on.").await?);
    fork.close().await?;

    for line in builder().sessions().await? {
        println!("{} turns: {}", line.turns.unwrap_or_default(), line.title);
    }
    Ok(())
}
