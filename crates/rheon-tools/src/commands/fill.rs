//! Fills arguments into a template.

use crate::commands::template::{Piece, PromptPart, Span, Template};

/// The most numbered arguments. Further ones are only in `$ARGUMENTS`.
const WORDS_MAX: usize = 1_000;

const ARGUMENTS_BYTES_MAX: usize = 64 * 1024;

const PARTS_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    #[error(
        "the arguments have {0} bytes; the limit is {ARGUMENTS_BYTES_MAX}; put them in a file and pass its path"
    )]
    ArgumentsTooLong(usize),
    #[error("the prompt with these arguments is larger than {PARTS_BYTES_MAX} bytes; pass shorter arguments")]
    TooLong,
    /// The shell might read an argument as more than a word.
    #[error(
        "cannot insert an argument with spaces or special characters into `{line}`: move the placeholder out of the \
         quotes, or pass a plain word"
    )]
    InCommand {
        /// The line with its placeholders.
        line: String,
    },
}

impl Template {
    /// The parts of the prompt with `arguments`, the text typed after the command's name.
    ///
    /// An argument only ever becomes text, part of a path, or one word of a command line.
    pub fn fill(&self, arguments: &str) -> Result<Vec<PromptPart>, FillError> {
        if arguments.len() > ARGUMENTS_BYTES_MAX {
            return Err(FillError::ArgumentsTooLong(arguments.len()));
        }
        let given = Arguments { all: arguments.trim(), words: words(arguments) };
        let mut parts = Vec::new();
        let mut bytes = 0_usize;
        for piece in &self.pieces {
            bytes += given.bytes(piece);
            if bytes > PARTS_BYTES_MAX {
                return Err(FillError::TooLong);
            }
            parts.push(match piece {
                Piece::Text(spans) => PromptPart::Text(given.text(spans)),
                Piece::File(spans) => PromptPart::File(given.text(spans).into()),
                Piece::Command(spans) => PromptPart::Command(given.line(spans)?),
            });
        }
        if !given.all.is_empty() && !self.has_placeholders() {
            let added = format!("\n\nArguments: {}", given.all);
            match parts.last_mut() {
                Some(PromptPart::Text(text)) => text.push_str(&added),
                Some(PromptPart::File(_) | PromptPart::Command(_)) | None => {
                    parts.push(PromptPart::Text(added))
                }
            }
        }
        // A file placeholder without an argument names no file.
        parts.retain(|part| !matches!(part, PromptPart::File(path) if path.as_os_str().is_empty()));
        Ok(parts)
    }

    fn has_placeholders(&self) -> bool {
        let mut spans = self.pieces.iter().flat_map(Piece::spans);
        spans.any(|span| !matches!(span, Span::Plain(_)))
    }
}

impl Piece {
    fn spans(&self) -> &[Span] {
        match self {
            Self::Text(spans) | Self::File(spans) | Self::Command(spans) => spans,
        }
    }
}

struct Arguments<'a> {
    all: &'a str,
    words: Vec<String>,
}

impl Arguments<'_> {
    fn one(&self, index: usize) -> &str {
        self.words.get(index).map(String::as_str).unwrap_or_default()
    }

    fn bytes(&self, piece: &Piece) -> usize {
        let of = |span: &Span| match span {
            Span::Plain(text) => text.len(),
            Span::All => self.all.len(),
            Span::One(index) => self.one(*index).len(),
        };
        piece.spans().iter().map(of).sum()
    }

    fn text(&self, spans: &[Span]) -> String {
        let of = |span: &Span| match span {
            Span::Plain(text) => text.clone(),
            Span::All => self.all.to_owned(),
            Span::One(index) => self.one(*index).to_owned(),
        };
        spans.iter().map(of).collect()
    }

    /// Builds a command line. Words the shell reads literally are inserted as they are; others are quoted, but only
    /// outside open quotes, where quoting is reliable.
    fn line(&self, spans: &[Span]) -> Result<String, FillError> {
        let mut line = String::new();
        let mut quotes = Quotes::default();
        for span in spans {
            let words = match span {
                Span::Plain(text) => {
                    quotes.pass(text);
                    line.push_str(text);
                    continue;
                }
                Span::All => self.words.as_slice(),
                Span::One(index) => self.words.get(*index).map(std::slice::from_ref).unwrap_or_default(),
            };
            let quote = |word: &String| match quotes.are_open() {
                true => is_shell_safe(word).then(|| word.clone()),
                false => shell_quote(word),
            };
            let quoted: Option<Vec<String>> = words.iter().map(quote).collect();
            let quoted = quoted.ok_or_else(|| FillError::InCommand { line: template_text(spans) })?;
            line.push_str(&quoted.join(" "));
        }
        Ok(line)
    }
}

/// The line with its placeholders.
fn template_text(spans: &[Span]) -> String {
    let of = |span: &Span| match span {
        Span::Plain(text) => text.clone(),
        Span::All => "$ARGUMENTS".to_owned(),
        Span::One(index) => format!("$ARGUMENTS[{index}]"),
    };
    spans.iter().map(of).collect()
}

/// Tracks whether a quoted word would be read literally at this point of a line.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    is_escaped: bool,
    /// A construct with its own quoting rules: a here-document, `$'...'`, arithmetic.
    is_special: bool,
}

impl Quotes {
    fn pass(&mut self, text: &str) {
        self.is_special |= ["<<", "$'", "(("].iter().any(|sign| text.contains(sign));
        for character in text.chars() {
            if std::mem::take(&mut self.is_escaped) {
                continue;
            }
            match (self.open, character) {
                (None | Some('"'), '\\') => self.is_escaped = true,
                (None, '"' | '\'') => self.open = Some(character),
                (Some(open), _) if character == open => self.open = None,
                (None | Some(_), _) => {}
            }
        }
    }

    fn are_open(&self) -> bool {
        self.open.is_some() || self.is_escaped || self.is_special
    }
}

/// Splits a line into words at spaces. Both kinds of quotes group words, and an unclosed quote extends to the end.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            // Inside a word it is an apostrophe.
            (None, '"' | '\'') if word.as_deref().is_none_or(|word| word.ends_with('=')) => {
                word.get_or_insert_default();
                quote = Some(character);
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words.truncate(WORDS_MAX);
    words
}

/// Whether a shell reads `word` literally in any position.
fn is_shell_safe(word: &str) -> bool {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_./:@%+,=-".contains(one);
    !word.is_empty() && word.chars().all(is_plain)
}

/// Quotes `word` for use outside quotes. `None` if that is not safe.
fn shell_quote(word: &str) -> Option<String> {
    if is_shell_safe(word) {
        return Some(word.to_owned());
    }
    // A line break might end a comment or here-document around the word.
    (!word.contains(char::is_control)).then(|| format!("'{}'", word.replace('\'', "'\\''")))
}
