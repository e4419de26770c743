//! `TextFile`: the text of a file, with the encoding and line endings to write it back with.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LineEnding {
    /// Line feeds only, or a single line.
    Lf,
    /// Carriage return and line feed on every line.
    CrLf,
    Mixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Encoding {
    Utf8,
    #[serde(rename = "utf8WithMark")]
    Utf8WithBom,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The text of a file with line feeds only, and what is needed to write it back. Text with mixed line endings is left
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    pub(crate) encoding: Encoding,
    pub(crate) ending: LineEnding,
    pub(crate) text: String,
}

impl TextFile {
    /// Decodes `bytes`, or says what they are instead of UTF-8.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        if let Some(problem) = unsupported_kind(bytes) {
            return Err(problem);
        }
        let (encoding, rest) = match bytes.strip_prefix(BOM) {
            Some(rest) => (Encoding::Utf8WithBom, rest),
            None => (Encoding::Utf8, bytes),
        };
        let text = std::str::from_utf8(rest).map_err(|_| "it contains bytes that are not UTF-8")?;
        let ending = detect_line_ending(text);
        let text = match ending {
            LineEnding::CrLf => text.replace("\r\n", "\n"),
            LineEnding::Lf | LineEnding::Mixed => text.to_owned(),
        };
        Ok(Self { encoding, ending, text })
    }

    /// Encodes the text. `decode` is the inverse.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = match self.encoding {
            Encoding::Utf8 => Vec::new(),
            Encoding::Utf8WithBom => BOM.to_vec(),
        };
        match self.ending {
            LineEnding::CrLf => bytes.extend(self.text.replace('\n', "\r\n").as_bytes()),
            LineEnding::Lf | LineEnding::Mixed => bytes.extend(self.text.as_bytes()),
        }
        bytes
    }

    /// `text` from a tool call, with the line endings of this file's text.
    pub(crate) fn adapt(&self, text: &str) -> String {
        match self.ending {
            LineEnding::CrLf => text.replace("\r\n", "\n"),
            LineEnding::Lf | LineEnding::Mixed => text.to_owned(),
        }
    }
}

/// What a file is if its first bytes show that it is not UTF-8 text.
pub(crate) fn unsupported_kind(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        Some("it is UTF-16 text")
    } else if head.starts_with(b"%PDF-") {
        Some("it is a PDF")
    } else if memchr::memchr(0, head).is_some() {
        Some("it contains zero bytes, like binary files")
    } else {
        None
    }
}

fn detect_line_ending(text: &str) -> LineEnding {
    let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let pairs = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
    let returns = memchr::memchr_iter(b'\r', text.as_bytes()).count();
    if pairs == 0 {
        LineEnding::Lf
    } else if pairs == feeds && pairs == returns {
        LineEnding::CrLf
    } else {
        LineEnding::Mixed
    }
}
