//! `Lines`: what is typed, line by line: by a terminal that edits lines itself, or key by key and edited here.

use std::io::{self, BufRead as _};

use tokio::sync::mpsc;

use super::edited::EditedLines;
use super::typed::Typed;
use crate::output::murmur;

/// What is typed.
pub(super) enum Lines {
    /// As the terminal gives it.
    Plain(mpsc::Receiver<io::Result<String>>),
    /// Key by key.
    Edited(Box<EditedLines>),
}

impl Lines {
    /// Lines as the terminal gives them. The thread that reads them ends with the input, or with the program.
    pub(super) fn plain() -> Self {
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
        Self::Plain(receiver)
    }

    /// Lines that are edited here, if the terminal lets us; `past` is what was typed before.
    pub(super) fn edited(past: Vec<String>) -> Self {
        match EditedLines::begin(past) {
            Ok(lines) => Self::Edited(Box::new(lines)),
            Err(_) => Self::plain(),
        }
    }

    /// Asks for a line.
    pub(super) fn prompt(&mut self, prompt: &str) {
        match self {
            Self::Plain(_) => murmur(prompt),
            Self::Edited(lines) => lines.prompt(prompt),
        }
    }

    /// Asks for a line that answers a question. What was being typed waits, so that it is not taken for the answer.
    pub(super) fn ask(&mut self, question: &str) {
        match self {
            Self::Plain(_) => murmur(question),
            Self::Edited(lines) => lines.ask(question),
        }
    }

    /// Nobody is asked for anything: what is typed is not drawn.
    pub(super) fn rest(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::Edited(lines) => lines.rest(),
        }
    }

    /// Makes room for something else on the screen.
    pub(super) fn hide(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::Edited(lines) => lines.hide(),
        }
    }

    /// Draws again what was hidden.
    pub(super) fn show(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::Edited(lines) => lines.show(),
        }
    }

    /// Forgets what was being typed; whether there was anything.
    pub(super) fn clear(&mut self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Edited(lines) => lines.clear(),
        }
    }

    /// What is being typed and is not drawn.
    pub(super) fn draft(&self) -> String {
        match self {
            Self::Plain(_) => String::new(),
            Self::Edited(lines) => lines.draft(),
        }
    }

    /// The next thing that comes of typing. Nothing is lost if nobody waits for it any more.
    pub(super) async fn next(&mut self) -> Typed {
        match self {
            Self::Plain(lines) => match lines.recv().await {
                Some(Ok(line)) => Typed::Line(line),
                Some(Err(_)) | None => Typed::End,
            },
            Self::Edited(lines) => lines.next().await,
        }
    }
}
