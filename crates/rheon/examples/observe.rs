//! The three ways to watch a run: a callback, a broadcast, a two-way stream. Offline.
//!
//! Run it with `cargo run -p rheon --example observe`.

use std::error::Error;

use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};

/// A model that says one sentence, however often it is asked.
fn model() -> ScriptedProvider {
    ScriptedProvider::new(Scenario::new().turn(Turn::say("Watch me speak, word by word.").repeat()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    callback().await?;
    broadcast().await?;
    stream().await
}

/// A callback sees every event, in order, inside the loop.
async fn callback() -> Result<(), Box<dyn Error>> {
    println!("callback:");
    let agent = Agent::builder()
        .provider(model())
        .on_event(|event| match &event.kind {
            AgentEvent::Message(MessageEvent::TextDelta { delta }) => println!("  {delta:?}"),
            AgentEvent::Run(RunEvent::End { output }) => println!("  over after {} turn", output.turns),
            _ => {}
        })
        .build()?;
    agent.run("Speak.").await?;
    Ok(())
}

/// Subscribers of a broadcast watch from tasks of their own. One that lags learns how much it missed.
async fn broadcast() -> Result<(), Box<dyn Error>> {
    println!("broadcast:");
    let agent = Agent::builder().provider(model()).enable_broadcast(8).build()?;
    let mut subscription = agent.subscribe().ok_or("built without enable_broadcast")?;
    let mut late = agent.subscribe().ok_or("built without enable_broadcast")?;
    let counting = tokio::spawn(async move {
        let mut events = 0;
        loop {
            match subscription.recv().await {
                Ok(_) => events += 1,
                Err(RecvError::Lagged(missed)) => events += missed,
                Err(RecvError::Closed) => return events,
            }
        }
    });
    agent.run("Speak.").await?;
    match late.recv().await {
        Err(RecvError::Lagged(missed)) => println!("  who reads late has missed {missed} events"),
        Ok(_) | Err(RecvError::Closed) => println!("  nothing was missed"),
    }
    // The last handle of the agent ends its subscriptions.
    drop(agent);
    println!("  there were {} events", counting.await?);
    Ok(())
}

/// A stream shows the events of one run and can talk back to it; the example `steer` does.
async fn stream() -> Result<(), Box<dyn Error>> {
    println!("stream:");
    let agent = Agent::builder().provider(model()).build()?;
    let mut stream = agent.run_stream("Speak.")?;
    while let Some(event) = stream.next().await {
        if event.kind.is_durable() {
            println!("  {:>2} {}", event.seq, event.kind.name());
        }
    }
    println!("  it said: {}", stream.finish().await?.text);
    Ok(())
}
