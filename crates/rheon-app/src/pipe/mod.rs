//! A host over a stream of bytes: the session protocol as lines of JSON. An interface uses it like a
//! session in its own process.
//!
//! Each line is one frame. Requests and subscriptions carry ids of the client's choice, and several are in flight at once. A
//! subscription pauses until the client has read enough of its events, so it blocks neither requests nor other subscriptions.

mod frame;
mod limits;
mod lines;
mod remote;
mod serve;
mod table;

use std::sync::Arc;

use rheon_types::Host;

pub use limits::FRAME_BYTES_MAX;
pub use remote::PipeHost;
pub use serve::serve;

/// How many bytes the pipe in memory holds.
const MEMORY_BYTES: usize = 64 * 1024;

/// The same host, reached over a pipe in memory. Needs a runtime.
pub fn over_memory(host: Arc<dyn Host>) -> Arc<dyn Host> {
    let (near, far) = tokio::io::duplex(MEMORY_BYTES);
    let (reader, writer) = tokio::io::split(far);
    // Ends by itself once the near end is closed.
    drop(tokio::spawn(serve(host, reader, writer)));
    let (reader, writer) = tokio::io::split(near);
    Arc::new(PipeHost::connect(reader, writer))
}
