//! A model service of your own: anything that turns a request into a stream of chunks.
//!
//! `cargo run -p rheon --example custom_provider`. Offline.

use futures::stream;
use rheon::prelude::*;
use rheon::types::{Chunk, ChunkStream, Request, StopReason};

/// Repeats the prompt, word by word.
struct Parrot;

impl Provider for Parrot {
    fn id(&self) -> &str {
        "parrot"
    }

    fn stream(&self, request: Request, _cancel: CancellationToken) -> ChunkStream {
        let prompt = request.messages.for_model().last().map(|message| message.text()).unwrap_or_default();
        let words: Vec<String> = prompt.split_inclusive(' ').map(str::to_owned).collect();
        let chunks = words.into_iter().map(|word| Chunk::Text { delta: word.as_str().into() });
        let done = [Chunk::Done { stop_reason: StopReason::Stop }];
        Box::pin(stream::iter(chunks.chain(done).map(Ok)))
    }
}

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let agent = Agent::builder().provider(Parrot).build()?;
    println!("{}", agent.run("Hello from your own model").await?);

    // The same in a session, with its tools and its journal.
    let session = Session::builder(".").provider(Parrot).open().await?;
    println!("{}", session.run("And from a session").await?);
    Ok(())
}
