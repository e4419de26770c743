//! `Paced`: slows down another provider to reading speed.

use std::time::Duration;

use futures::StreamExt;
use rheon_types::{Chunk, ChunkStream, Provider, ProviderError, Request};
use tokio_util::sync::CancellationToken;

const PAUSE_BEFORE_ANSWER: Duration = Duration::from_millis(350);
const PAUSE_BEFORE_WORD: Duration = Duration::from_millis(30);
const PAUSE_BEFORE_CALL: Duration = Duration::from_millis(150);

/// Waits a little before each piece of an answer, unless the run is canceled.
pub(super) struct Paced<P> {
    provider: P,
}

impl<P> Paced<P> {
    pub(super) fn new(provider: P) -> Self {
        Self { provider }
    }
}

impl<P: Provider> Provider for Paced<P> {
    fn id(&self) -> &str {
        self.provider.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        Box::pin(self.provider.stream(request, cancel).then(|chunk| async {
            tokio::time::sleep(pause_before(&chunk)).await;
            chunk
        }))
    }
}

fn pause_before(chunk: &Result<Chunk, ProviderError>) -> Duration {
    match chunk {
        Ok(Chunk::Model { .. }) => PAUSE_BEFORE_ANSWER,
        Ok(Chunk::Text { .. } | Chunk::Thinking { .. }) => PAUSE_BEFORE_WORD,
        Ok(Chunk::ToolCallStart { .. }) => PAUSE_BEFORE_CALL,
        Ok(
            Chunk::Provider { .. }
            | Chunk::Signature { .. }
            | Chunk::ToolCallDelta { .. }
            | Chunk::ToolCallEnd { .. }
            | Chunk::Block { .. }
            | Chunk::Notice { .. }
            | Chunk::Usage { .. }
            | Chunk::Done { .. },
        )
        | Err(_) => Duration::ZERO,
    }
}
