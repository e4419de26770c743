//! One question to a real model, its answer as it comes, and what it cost.
//!
//! Run it with `cargo run -p rheon --example ask -- anthropic/claude-sonnet-4-5 "What is a monad?"`. Keys come from the
//! environment; `docs/PROVIDERS.md` says which.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use rheon::SystemClock;
use rheon::prelude::*;
use rheon::providers::{ProviderEnv, Registry, RegistryParts};

#[tokio::main]
async fn main() -> ExitCode {
    match ask().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn ask() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(question)) = (arguments.next(), arguments.next()) else {
        return Err("usage: ask <vendor/model> <question> [thinking]".into());
    };
    let thinking = match arguments.next().as_deref() {
        None => ThinkingLevel::Off,
        Some("low") => ThinkingLevel::Low,
        Some("medium") => ThinkingLevel::Medium,
        Some(_) => ThinkingLevel::High,
    };
    let mut environment = ProviderEnv::new(|name| std::env::var(name).ok());
    if let Some(home) = std::env::home_dir() {
        environment = environment.with_home(home);
    }
    let registry = Registry::new(RegistryParts::builtin(environment, Arc::new(SystemClock::default()))?);
    registry.probe(&name).await?;
    let agent = Agent::builder()
        .resolved(registry.resolve(&name)?)
        .thinking(thinking)
        .on_event(|event| match &event.kind {
            AgentEvent::Message(MessageEvent::TextDelta { delta }) => print_now(delta),
            AgentEvent::Message(MessageEvent::ThinkingDelta { delta }) => {
                print_now(&format!("\x1b[2m{delta}\x1b[0m"))
            }
            AgentEvent::Model(ModelEvent::Retry { delay_ms, cause, .. }) => {
                eprintln!("[again in {delay_ms} ms: {cause}]")
            }
            _ => {}
        })
        .build()?;
    let output = agent.run(question).await?;
    let cost = output.cost.map_or("unknown cost".to_owned(), |cost| cost.to_string());
    println!("\n[{} tokens in, {} out, {cost}]", output.usage.input, output.usage.output);
    Ok(())
}

fn print_now(text: &str) {
    print!("{text}");
    std::io::stdout().flush().ok();
}
