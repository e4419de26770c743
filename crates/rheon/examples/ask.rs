//! One question to a model, without a project: the engine alone.
//!
//! `ANTHROPIC_API_KEY=... cargo run -p rheon --example ask -- anthropic/claude-sonnet-4-5 "What is a monad?"`. `docs/PROVIDERS.md`
//! lists the vendors and the variables of their keys.

use rheon::prelude::*;

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(model), Some(question)) = (arguments.next(), arguments.next()) else {
        return Err(Error::other("usage: ask <vendor/model> <question>"));
    };
    let output = Agent::new(model)?.run(question).await?;
    println!("{output}");
    Ok(())
}
