//! Incremental JSON: where a value ends, and what a string contains. Pure.

/// Finds the end of a JSON value by counting brackets and skipping strings; does not check that the value is
/// well-formed.
#[derive(Debug, Default, Clone)]
pub(super) struct ValueEnd {
    depth: u32,
    string: StringState,
    scalar: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum StringState {
    #[default]
    Outside,
    Inside,
    Escaped,
}

/// The position of one more character relative to the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharPosition {
    /// Inside the value.
    Inside,
    /// The value ends with this character.
    Last,
    /// The value ended before this character: a number or a word has no terminator.
    Past,
}

impl ValueEnd {
    /// An object whose opening brace has been read.
    pub(super) fn in_object() -> Self {
        Self { depth: 1, ..Self::default() }
    }

    pub(super) fn push(&mut self, character: char) -> CharPosition {
        match (self.string, character) {
            (StringState::Escaped, _) => self.string = StringState::Inside,
            (StringState::Inside, '\\') => self.string = StringState::Escaped,
            (StringState::Inside, '"') => {
                self.string = StringState::Outside;
                return if self.depth == 0 { CharPosition::Last } else { CharPosition::Inside };
            }
            (StringState::Inside, _) => {}
            (StringState::Outside, _) => return self.outside(character),
        }
        CharPosition::Inside
    }

    fn outside(&mut self, character: char) -> CharPosition {
        if self.scalar && (matches!(character, ',' | '}' | ']') || character.is_whitespace()) {
            return CharPosition::Past;
        }
        match character {
            '"' => self.string = StringState::Inside,
            '{' | '[' => self.depth += 1,
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return CharPosition::Last;
                }
            }
            _ if self.depth == 0 => self.scalar = true,
            _ => {}
        }
        CharPosition::Inside
    }
}

/// The JSON value at the start of `text`, if it is complete.
pub(super) fn leading_value(text: &str) -> Option<&str> {
    let mut end = ValueEnd::default();
    for (at, character) in text.char_indices() {
        match end.push(character) {
            CharPosition::Inside => {}
            CharPosition::Last => return text.get(..at + character.len_utf8()),
            CharPosition::Past => return text.get(..at),
        }
    }
    None
}

/// Unescapes the inside of a JSON string. Invalid escapes stay as they are; half a surrogate pair becomes U+FFFD.
#[derive(Debug, Default, Clone)]
pub(super) struct Unescape {
    state: Escape,
    /// The first half of a surrogate pair.
    high: Option<u16>,
}

#[derive(Debug, Default, Clone)]
enum Escape {
    #[default]
    None,
    Backslash,
    Hex {
        digits: u32,
        value: u16,
    },
}

/// Whether a string continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringStatus {
    On,
    /// The closing quotation mark was read.
    Ended,
}

impl Unescape {
    /// Reads one character and appends its meaning to `text`.
    pub(super) fn push(&mut self, character: char, text: &mut String) -> StringStatus {
        match std::mem::take(&mut self.state) {
            Escape::None => match character {
                '"' => {
                    self.settle(text);
                    return StringStatus::Ended;
                }
                '\\' => self.state = Escape::Backslash,
                _ => self.write(character, text),
            },
            Escape::Backslash => match character {
                'n' => self.write('\n', text),
                't' => self.write('\t', text),
                'r' => self.write('\r', text),
                'b' => self.write('\u{8}', text),
                'f' => self.write('\u{c}', text),
                '"' | '\\' | '/' => self.write(character, text),
                'u' => self.state = Escape::Hex { digits: 0, value: 0 },
                _ => {
                    self.write('\\', text);
                    self.write(character, text);
                }
            },
            Escape::Hex { digits, value } => match character.to_digit(16) {
                Some(digit) => {
                    let value = (value << 4) | u16::try_from(digit).unwrap_or_default();
                    match digits {
                        3 => self.unit(value, text),
                        _ => self.state = Escape::Hex { digits: digits + 1, value },
                    }
                }
                None => {
                    self.write(char::REPLACEMENT_CHARACTER, text);
                    return self.push(character, text);
                }
            },
        }
        StringStatus::On
    }

    /// One UTF-16 unit of an escape.
    fn unit(&mut self, unit: u16, text: &mut String) {
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => text.extend(char::decode_utf16([high, unit]).flatten()),
            (Some(_), _) => {
                text.push(char::REPLACEMENT_CHARACTER);
                self.unit(unit, text);
            }
            (None, 0xD800..=0xDBFF) => self.high = Some(unit),
            (None, _) => text.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    fn write(&mut self, character: char, text: &mut String) {
        self.settle(text);
        text.push(character);
    }

    fn settle(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
