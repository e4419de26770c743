//! Replay as a regression test: saved sessions run again from their journals, without a model, and must come out the same.
//!
//! `cargo run -p rheon --example replay`. Offline. Keep journals of your own in `tests/sessions/projects/no-project/`.

use rheon::replay::{ReplayUntil, replay_session};
use rheon::store::sessions::{BLOB_BYTES_MAX, SessionFiles};

fn main() -> rheon::Result<()> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sessions");
    let sessions = SessionFiles::new(dir, BLOB_BYTES_MAX);
    for session in sessions.list(None) {
        // An event that comes out differently is the error, with its number and both texts.
        let replayed = replay_session(&sessions, &session.name, ReplayUntil::End)?;
        println!("{}: {} events, the same", session.name, replayed.events.len());
    }
    Ok(())
}
