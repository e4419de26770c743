//! `Output`: standard output as long as somebody reads it, and standard error for what else is to be said.

use std::io::{self, ErrorKind, Write};

use rheon_render::{RenderedText, Stream};
use rheon_text::inert;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::failure::Failure;

/// Standard output. The first write that fails cancels what is being shown; nothing is written after it.
pub(crate) struct Output {
    stdout: io::Stdout,
    failure: Option<io::Error>,
    cancel: CancellationToken,
}

/// Whether the reader of standard output stayed to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    There,
    Left,
}

impl Output {
    pub(crate) fn new(cancel: CancellationToken) -> Self {
        Self { stdout: io::stdout(), failure: None, cancel }
    }

    /// Writes `text` so that it is seen at once.
    pub(crate) fn write(&mut self, text: &str) {
        if self.failure.is_some() || text.is_empty() {
            return;
        }
        let written = self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush());
        if let Err(error) = written {
            self.fail(error);
        }
    }

    /// Writes each piece to its stream. What standard error does not take is lost: nobody is there to be told.
    pub(crate) fn write_rendered(&mut self, rendered: &RenderedText) {
        for (stream, text) in rendered.pieces() {
            match stream {
                Stream::Stdout => self.write(text),
                Stream::Stderr => io::stderr().write_all(text.as_bytes()).unwrap_or_default(),
            }
        }
    }

    /// Writes the text, if there is one; counts as a failed write if not.
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

    /// Tells how it went.
    pub(crate) fn close(self) -> io::Result<Reader> {
        match self.failure {
            None => Ok(Reader::There),
            Some(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Left),
            Some(error) => Err(error),
        }
    }
}

/// Writes a text to standard output and is done.
pub(crate) fn print(text: &str) -> Result<Exit, Failure> {
    let mut output = Output::new(CancellationToken::new());
    output.write(text);
    match output.close() {
        // Whoever stops reading has seen enough.
        Ok(Reader::There | Reader::Left) => Ok(Exit::Done),
        Err(error) => Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
}

/// Says on standard error what went wrong.
pub(crate) fn complain(problem: &str) {
    remark(&format!("error: {problem}"));
}

/// Says something on standard error. If that fails, nobody is there to be told.
pub(crate) fn remark(text: &str) {
    writeln!(io::stderr(), "{}", inert(text)).ok();
}

/// Writes to standard error as it stands: what is shown beside the answer. If that fails, nobody is there to be told.
pub(crate) fn murmur(text: &str) {
    if !text.is_empty() {
        io::stderr().write_all(text.as_bytes()).ok();
    }
}
