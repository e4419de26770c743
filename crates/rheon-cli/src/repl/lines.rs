//! `Lines`: what is typed, line by line, read by a thread of its own.

use std::io::{self, BufRead as _};

use tokio::sync::mpsc;

/// What is typed, line by line.
pub(super) struct Lines {
    receiver: mpsc::Receiver<io::Result<String>>,
}

impl Lines {
    /// Begins to read standard input. The thread ends with the input, or with the program.
    pub(super) fn of_stdin() -> Self {
        let (sender, receiver) = mpsc::channel(16);
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut bytes = Vec::new();
                let line = match stdin.read_until(b'\n', &mut bytes) {
                    Ok(0) => return,
                    Ok(_) => Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned()),
                    Err(error) => Err(error),
                };
                let is_over = line.is_err();
                if sender.blocking_send(line).is_err() || is_over {
                    return;
                }
            }
        });
        Self { receiver }
    }

    /// The next line; `None` when there are no more.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.receiver.recv().await?.ok()
    }
}
