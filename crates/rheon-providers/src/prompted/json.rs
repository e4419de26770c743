//! JSON while it streams in: where a value ends, and what a string says. Pure and incremental.

/// Finds the end of one JSON value. Counts brackets and heeds strings; whether the value is well formed is not its business.
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

/// What one more character means to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The value goes on.
    Inside,
    /// The value ends with this character.
    Last,
    /// The value ended before this character: a number or a word has no end of its own.
    Past,
}

impl ValueEnd {
    /// A value that is an object whose opening brace has been read.
    pub(super) fn in_object() -> Self {
        Self { depth: 1, ..Self::default() }
    }

    pub(super) fn push(&mut self, character: char) -> Reach {
        match (self.string, character) {
            (StringState::Escaped, _) => self.string = StringState::Inside,
            (StringState::Inside, '\\') => self.string = StringState::Escaped,
            (StringState::Inside, '"') => {
                self.string = StringState::Outside;
                return if self.depth == 0 { Reach::Last } else { Reach::Inside };
            }
            (StringState::Inside, _) => {}
            (StringState::Outside, _) => return self.outside(character),
        }
        Reach::Inside
    }

    fn outside(&mut self, character: char) -> Reach {
        if self.scalar && (matches!(character, ',' | '}' | ']') || character.is_whitespace()) {
            return Reach::Past;
        }
        match character {
            '"' => self.string = StringState::Inside,
            '{' | '[' => self.depth += 1,
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Reach::Last;
                }
            }
            _ if self.depth == 0 => self.scalar = true,
            _ => {}
        }
        Reach::Inside
    }
}

/// The JSON value that `text` begins with, if all of it is there.
pub(super) fn leading_value(text: &str) -> Option<&str> {
    let mut end = ValueEnd::default();
    for (at, character) in text.char_indices() {
        match end.push(character) {
            Reach::Inside => {}
            Reach::Last => return text.get(..at + character.len_utf8()),
            Reach::Past => return text.get(..at),
        }
    }
    None
}

/// Decodes the inside of a JSON string. What no escape explains stays as it stands; half a surrogate pair becomes U+FFFD.
#[derive(Debug, Default, Clone)]
pub(super) struct Unescape {
    state: Escape,
    /// The first half of a surrogate pair, which waits for the second.
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

/// Whether a string goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringGoes {
    On,
    /// The quotation mark that ends it was read.
    Ended,
}

impl Unescape {
    /// Takes in one character and adds what it stands for to `text`.
    pub(super) fn push(&mut self, character: char, text: &mut String) -> StringGoes {
        match std::mem::take(&mut self.state) {
            Escape::None => match character {
                '"' => {
                    self.settle(text);
                    return StringGoes::Ended;
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
        StringGoes::On
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
