//! `RenderedText`: the text for an event, in pieces, each with its stream.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Text in writing order: on a terminal both streams are one screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderedText {
    pieces: Vec<(Stream, String)>,
}

impl RenderedText {
    pub(super) fn push(&mut self, stream: Stream, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some((last, piece)) if *last == stream => piece.push_str(text),
            Some(_) | None => self.pieces.push((stream, text.to_owned())),
        }
    }

    pub(super) fn append(&mut self, more: &Self) {
        more.pieces.iter().for_each(|(stream, text)| self.push(*stream, text));
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The pieces, in order.
    pub fn pieces(&self) -> impl Iterator<Item = (Stream, &str)> {
        self.pieces.iter().map(|(stream, text)| (*stream, text.as_str()))
    }

    #[cfg(test)]
    pub(crate) fn out(&self) -> String {
        self.of(Stream::Stdout)
    }

    #[cfg(test)]
    pub(crate) fn err(&self) -> String {
        self.of(Stream::Stderr)
    }

    #[cfg(test)]
    fn of(&self, wanted: Stream) -> String {
        self.pieces().filter(|(stream, _)| *stream == wanted).map(|(_, text)| text).collect()
    }
}
