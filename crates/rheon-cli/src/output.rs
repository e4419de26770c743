//! `Output`: standard output until its reader leaves, and messages on standard error.

use std::io::{self, ErrorKind, Write};

use rheon_render::{RenderedText, Stream};
use rheon_text::inert;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::failure::Failure;

/// Standard output. The first failed write cancels the run; nothing is written after it.
pub(crate) struct Output {
    stdout: io::Stdout,
    failure: Option<io::Error>,
    cancel: CancellationToken,
}

/// Whether standard output was read to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    There,
    Left,
}

impl Output {
    pub(crate) fn new(cancel: CancellationToken) -> Self {
        Self { stdout: io::stdout(), failure: None, cancel }
    }

    /// Writes and flushes `text`.
    pub(crate) fn write(&mut self, text: &str) {
        if self.failure.is_some() || text.is_empty() {
            return;
        }
        let written = self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush());
        if let Err(error) = written {
            self.fail(error);
        }
    }

    /// Writes each piece to its stream. A failure of standard error is ignored: there is no other place to report it.
    pub(crate) fn write_rendered(&mut self, rendered: &RenderedText) {
        for (stream, text) in rendered.pieces() {
            match stream {
                Stream::Stdout => self.write(text),
                Stream::Stderr => io::stderr().write_all(text.as_bytes()).unwrap_or_default(),
            }
        }
    }

    /// Writes the text; an error counts as a failed write.
    pub(crate) fn write_or_fail(&mut self, text: io::Result<String>) {
        match text {
            Ok(text) => self.write(&text),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.failure.get_or_insert(error);
        self.cancel.cancel();
    }

    /// Returns the first error.
    pub(crate) fn close(self) -> io::Result<Reader> {
        match self.failure {
            None => Ok(Reader::There),
            Some(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Left),
            Some(error) => Err(error),
        }
    }
}

/// Writes a text to standard output.
pub(crate) fn print(text: &str) -> Result<Exit, Failure> {
    let mut output = Output::new(CancellationToken::new());
    output.write(text);
    match output.close() {
        // A reader that closes the pipe has seen enough.
        Ok(Reader::There | Reader::Left) => Ok(Exit::Done),
        Err(error) => Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
}

/// Prints an error to standard error.
pub(crate) fn print_error(problem: &str) {
    print_note(&format!("error: {problem}"));
}

/// Prints a line to standard error, with control characters escaped. A failure is ignored: there is no other place to report it.
pub(crate) fn print_note(text: &str) {
    writeln!(io::stderr(), "{}", inert(text)).ok();
}

/// Writes text to standard error unchanged. A failure is ignored.
pub(crate) fn write_stderr(text: &str) {
    if !text.is_empty() {
        io::stderr().write_all(text.as_bytes()).ok();
    }
}
