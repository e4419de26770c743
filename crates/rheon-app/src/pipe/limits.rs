//! The limits of a connection, and tasks that end with it.

use tokio::task::JoinHandle;

/// The largest frame. Both sides reject larger ones, and a reader never buffers one completely.
pub const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How many bytes of events of one subscription may be in flight: sent and not yet read by the interface.
pub(super) const WINDOW_BYTES: u64 = 256 * 1024;

/// The most invalid lines before a connection is closed.
pub(super) const GARBAGE_MAX: u32 = 16;

/// A task that ends when this is dropped.
pub(super) struct Ends(pub(super) JoinHandle<()>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}
