//! `Keys`: decodes terminal bytes into keys. Pure.

/// The most bytes of pasted text, the same as for standard input.
pub(super) const PASTE_BYTES_MAX: usize = 10 << 20;

/// The longest sequence of a key.
const SEQUENCE_BYTES_MAX: usize = 32;

const PASTE_END: &[u8] = b"\x1b[201~";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Character(char),
    /// Pasted text with all its lines.
    Paste(String),
    /// Pasted text longer than [`PASTE_BYTES_MAX`], dropped.
    PasteTooLong,
    Enter,
    /// Ctrl-J, Alt-Enter, Shift-Enter: a line break within the text.
    LineBreak,
    Tab,
    Backspace,
    Delete,
    Leave,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    Home,
    End,
    /// Ctrl-U.
    EraseBefore,
    /// Ctrl-K.
    EraseAfter,
    /// Ctrl-W.
    EraseWord,
    Escape,
    /// Ctrl-D: the end of the input if the line is empty.
    EndOfInput,
    /// Ctrl-L.
    Redraw,
}

/// Decodes bytes that may be split anywhere.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pending: Vec<u8>,
    pasted: Option<Pasted>,
}

#[derive(Debug, Default)]
struct Pasted {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Pasted {
    fn take(&mut self, bytes: &[u8]) {
        if self.bytes.len().saturating_add(bytes.len()) > PASTE_BYTES_MAX {
            self.is_too_long = true;
            self.bytes = Vec::new();
        }
        if !self.is_too_long {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Terminals send a line break as a carriage return.
    fn key(self) -> Key {
        if self.is_too_long {
            return Key::PasteTooLong;
        }
        let text = String::from_utf8_lossy(&self.bytes);
        Key::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))
    }
}

enum Parsed {
    /// A key, or an unknown sequence, with its length.
    Key(Option<Key>, usize),
    /// The start of pasted text, with its length.
    Paste(usize),
    /// More bytes are needed.
    More,
}

impl Keys {
    /// The keys that `bytes` complete.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut buffer = std::mem::take(&mut self.pending);
        buffer.extend_from_slice(bytes);
        let mut rest = buffer.as_slice();
        let mut keys = Vec::new();
        loop {
            if let Some(pasted) = &mut self.pasted {
                let end = rest.windows(PASTE_END.len()).position(|window| window == PASTE_END);
                // The end marker may be split.
                let (text, after) = match end {
                    Some(end) => (end, end + PASTE_END.len()),
                    None => (rest.len().saturating_sub(PASTE_END.len() - 1), usize::MAX),
                };
                pasted.take(rest.get(..text).unwrap_or_default());
                let Some(next) = rest.get(after..) else {
                    rest = rest.get(text..).unwrap_or_default();
                    break;
                };
                rest = next;
                keys.extend(self.pasted.take().map(Pasted::key));
                continue;
            }
            match parse(rest) {
                Parsed::More => break,
                Parsed::Key(key, used) => {
                    keys.extend(key);
                    rest = rest.get(used..).unwrap_or_default();
                }
                Parsed::Paste(used) => {
                    self.pasted = Some(Pasted::default());
                    rest = rest.get(used..).unwrap_or_default();
                }
            }
        }
        self.pending = rest.to_vec();
        keys
    }

    /// Whether the pending byte may be Escape or the start of a sequence.
    pub(super) fn has_lone_escape(&self) -> bool {
        self.pasted.is_none() && self.pending == [ESCAPE]
    }

    /// Takes the Escape key after nothing followed it.
    pub(super) fn take_lone_escape(&mut self) -> Option<Key> {
        let is_lone = self.has_lone_escape();
        is_lone.then(|| {
            self.pending.clear();
            Key::Escape
        })
    }
}

const ESCAPE: u8 = 0x1b;

fn parse(bytes: &[u8]) -> Parsed {
    let key = |key, used| Parsed::Key(Some(key), used);
    match bytes {
        [] | [ESCAPE] => Parsed::More,
        [ESCAPE, b'[', rest @ ..] => sequence(rest),
        [ESCAPE, b'O'] => Parsed::More,
        [ESCAPE, b'O', last, ..] => Parsed::Key(moving(*last, b""), 3),
        [ESCAPE, b'\r' | b'\n', ..] => key(Key::LineBreak, 2),
        [ESCAPE, b'b', ..] => key(Key::WordLeft, 2),
        [ESCAPE, b'f', ..] => key(Key::WordRight, 2),
        [ESCAPE, 0x08 | 0x7f, ..] => key(Key::EraseWord, 2),
        [ESCAPE, ESCAPE, ..] => key(Key::Escape, 1),
        [ESCAPE, ..] => Parsed::Key(None, 2),
        [b'\r', ..] => key(Key::Enter, 1),
        [b'\n', ..] => key(Key::LineBreak, 1),
        [0x08 | 0x7f, ..] => key(Key::Backspace, 1),
        [0x01, ..] => key(Key::Home, 1),
        [0x02, ..] => key(Key::Leave, 1),
        [0x04, ..] => key(Key::EndOfInput, 1),
        [0x05, ..] => key(Key::End, 1),
        [0x06, ..] => key(Key::Right, 1),
        [b'\t', ..] => key(Key::Tab, 1),
        [0x0b, ..] => key(Key::EraseAfter, 1),
        [0x0c, ..] => key(Key::Redraw, 1),
        [0x0e, ..] => key(Key::Down, 1),
        [0x10, ..] => key(Key::Up, 1),
        [0x15, ..] => key(Key::EraseBefore, 1),
        [0x17, ..] => key(Key::EraseWord, 1),
        [0..0x20, ..] => Parsed::Key(None, 1),
        [0x20..0x7f, ..] => character(bytes, 1),
        [0xc2..=0xdf, ..] => character(bytes, 2),
        [0xe0..=0xef, ..] => character(bytes, 3),
        [0xf0..=0xf4, ..] => character(bytes, 4),
        [0x80..=0xff, ..] => key(Key::Character(char::REPLACEMENT_CHARACTER), 1),
    }
}

/// A character of `length` bytes.
fn character(bytes: &[u8], length: usize) -> Parsed {
    let is_whole_so_far = bytes.iter().skip(1).take(length - 1).all(|byte| (0x80..0xc0).contains(byte));
    match bytes.get(..length) {
        None if is_whole_so_far => Parsed::More,
        Some(whole) if let Ok(text) = std::str::from_utf8(whole) => {
            Parsed::Key(text.chars().next().map(Key::Character), length)
        }
        Some(_) | None => Parsed::Key(Some(Key::Character(char::REPLACEMENT_CHARACTER)), 1),
    }
}

/// Parses what follows `ESC [`: digits, then one final byte.
fn sequence(rest: &[u8]) -> Parsed {
    let Some(end) = rest.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        return if rest.len() < SEQUENCE_BYTES_MAX {
            Parsed::More
        } else {
            Parsed::Key(None, rest.len() + 2)
        };
    };
    let (figures, last) = (rest.get(..end).unwrap_or_default(), rest.get(end).copied().unwrap_or_default());
    let used = end + 3;
    match (figures, last) {
        (b"200", b'~') => Parsed::Paste(used),
        (b"1" | b"7", b'~') => Parsed::Key(Some(Key::Home), used),
        (b"4" | b"8", b'~') => Parsed::Key(Some(Key::End), used),
        (b"3", b'~') => Parsed::Key(Some(Key::Delete), used),
        // Shift-Enter and Alt-Enter in terminals with extended keys.
        (b"13;2" | b"13;3", b'u') | (b"27;2;13" | b"27;3;13", b'~') => {
            Parsed::Key(Some(Key::LineBreak), used)
        }
        _ => Parsed::Key(moving(last, figures), used),
    }
}

fn moving(last: u8, figures: &[u8]) -> Option<Key> {
    // Ctrl and Alt move by words.
    let by_words = figures.ends_with(b";5") || figures.ends_with(b";3");
    match last {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        b'C' if by_words => Some(Key::WordRight),
        b'C' => Some(Key::Right),
        b'D' if by_words => Some(Key::WordLeft),
        b'D' => Some(Key::Leave),
        b'H' => Some(Key::Home),
        b'F' => Some(Key::End),
        _ => None,
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
