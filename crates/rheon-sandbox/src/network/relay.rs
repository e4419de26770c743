//! Copies bytes between a client and a host until both are done, or nothing has moved for a while.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

const CHUNK_BYTES: usize = 16 * 1024;

/// Copies in both directions. Ends when both are done, or when nothing moved for `idle`.
pub(crate) async fn relay(client: TcpStream, host: TcpStream, idle: Duration) {
    let moved = AtomicU64::new(0);
    let (client_read, client_write) = client.into_split();
    let (host_read, host_write) = host.into_split();
    let up = copy(client_read, host_write, Idle { moved: &moved, after: idle });
    let down = copy(host_read, client_write, Idle { moved: &moved, after: idle });
    // A side that breaks off ends its direction; the other one ends by itself or is idle.
    let (_up, _down) = tokio::join!(up, down);
}

struct Idle<'a> {
    /// Counts the pieces of both directions.
    moved: &'a AtomicU64,
    after: Duration,
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    idle: Idle<'_>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let before = idle.moved.load(Ordering::Relaxed);
        let bytes = match tokio::time::timeout(idle.after, from.read(&mut chunk)).await {
            Ok(read) => read?,
            // The other direction may be busy.
            Err(_) if idle.moved.load(Ordering::Relaxed) != before => continue,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        };
        idle.moved.fetch_add(1, Ordering::Relaxed);
        let Some(piece) = chunk.get(..bytes).filter(|piece| !piece.is_empty()) else {
            return to.shutdown().await;
        };
        tokio::time::timeout(idle.after, to.write_all(piece))
            .await
            .map_err(|_| io::ErrorKind::TimedOut)??;
    }
}
