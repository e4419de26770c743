//! `Lines`: typed lines, edited by the terminal or by the built-in editor.

use std::io::{self, BufRead as _};

use tokio::sync::mpsc;

use super::completion::Completion;
use super::edited::EditedLines;
use super::typed::Typed;
use crate::output::write_stderr;
use crate::runtime::start_thread;

pub(super) enum Lines {
    /// Edited by the terminal.
    Plain(mpsc::Receiver<io::Result<String>>),
    /// Edited here, key by key.
    Edited(Box<EditedLines>),
}

impl Lines {
    /// Starts a thread that reads lines until the input or the program ends.
    pub(super) fn plain() -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel(16);
        start_thread("rheon-lines", move || {
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
        })?;
        Ok(Self::Plain(receiver))
    }

    /// Uses the built-in editor if the terminal supports it; `past` is the history.
    pub(super) fn edited(past: Vec<String>, completion: Completion) -> io::Result<Self> {
        match EditedLines::begin(past, completion) {
            Ok(lines) => Ok(Self::Edited(Box::new(lines))),
            Err(_) => Self::plain(),
        }
    }

    /// Shows the prompt.
    pub(super) fn prompt(&mut self, prompt: &str) {
        match self {
            Self::Plain(_) => write_stderr(prompt),
            Self::Edited(lines) => lines.prompt(prompt),
        }
    }

    /// Asks a question. The text being typed is set aside, so that it is not taken for the answer.
    pub(super) fn ask(&mut self, question: &str) {
        match self {
            Self::Plain(_) => write_stderr(question),
            Self::Edited(lines) => lines.ask(question),
        }
    }

    /// Offers a text to edit in answer to the next question.
    pub(super) fn put(&mut self, text: &str) {
        match self {
            Self::Plain(_) => write_stderr(&format!("{text}\n")),
            Self::Edited(lines) => lines.offer(text),
        }
    }

    /// Hides the prompt; typed text is not drawn.
    pub(super) fn rest(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::Edited(lines) => lines.rest(),
        }
    }

    /// Hides the line to make room for other output.
    pub(super) fn hide(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::Edited(lines) => lines.hide(),
        }
    }

    /// Draws the hidden line again.
    pub(super) fn show(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::Edited(lines) => lines.show(),
        }
    }

    /// Clears the line; returns whether it had text.
    pub(super) fn clear(&mut self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Edited(lines) => lines.clear(),
        }
    }

    /// The typed text that is not drawn.
    pub(super) fn draft(&self) -> String {
        match self {
            Self::Plain(_) => String::new(),
            Self::Edited(lines) => lines.draft(),
        }
    }

    /// The next input. Cancel safe.
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
