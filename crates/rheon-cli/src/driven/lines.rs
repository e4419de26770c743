//! What the program that drives us writes, line by line, read by a thread of its own.

use std::io::{self, Read as _};

use rheon_app::stream_json::{InputError, InputLine, InputLines};
use tokio::sync::mpsc;

/// What can be read: a line, or why there is none.
pub(super) type Line = Result<InputLine, InputError>;

/// Begins to read standard input. The thread ends with the input, or with the program.
pub(super) fn of_stdin() -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::spawn(move || {
        let mut lines = InputLines::new();
        let mut stdin = io::stdin().lock();
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let read = match stdin.read(&mut bytes) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            for line in lines.push(bytes.get(..read).unwrap_or_default()) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        }
        if let Some(line) = lines.finish() {
            sender.blocking_send(line).ok();
        }
    });
    receiver
}
