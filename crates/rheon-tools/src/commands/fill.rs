//! Arguments put into a template.

use crate::commands::template::{Piece, PromptPart, Span, Template};

/// How many arguments are told apart; the rest is in `$ARGUMENTS` only.
const WORDS_MAX: usize = 1_000;

/// How many bytes the arguments may have.
const ARGUMENTS_BYTES_MAX: usize = 64 * 1024;

/// How many bytes all parts may have.
const PARTS_BYTES_MAX: usize = 1024 * 1024;

/// Why arguments cannot be put into a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// The arguments are too long.
    #[error(
        "the arguments have {0} bytes, more than {ARGUMENTS_BYTES_MAX}; put them into a file and name it"
    )]
    ArgumentsTooLong(usize),
    /// The text would be too long.
    #[error("the text with these arguments is larger than {PARTS_BYTES_MAX} bytes; pass shorter ones")]
    TooLong,
    /// An argument might be taken for more than a word by the shell.
    #[error(
        "an argument with spaces or signs cannot be put into the line `{line}`: write its place outside of quotes, or \
         pass a plain word"
    )]
    InCommand {
        /// The line, before arguments are in it.
        line: String,
    },
}

impl Template {
    /// The parts of the prompt with `arguments`, what was typed behind the name of the command.
    ///
    /// What an argument says is only ever text, a part of a path, or a word of a command line.
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
        // A file that no argument names is none.
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

    /// A line for the shell. Words that mean nothing to it stand as they are; others stand in quotes, and only where none are
    /// open, because in those they might not hold.
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

/// A line before arguments are in it.
fn template_text(spans: &[Span]) -> String {
    let of = |span: &Span| match span {
        Span::Plain(text) => text.clone(),
        Span::All => "$ARGUMENTS".to_owned(),
        Span::One(index) => format!("$ARGUMENTS[{index}]"),
    };
    spans.iter().map(of).collect()
}

/// Whether a word in quotes would not stand for itself at this place of a line.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    is_escaped: bool,
    /// Something with rules of its own: a here-document, `$'...'`, arithmetic.
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

/// The words of a line: spaces part them, quotes of both kinds hold them together. A quote without an end holds to the end.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            // Within a word it is an apostrophe.
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

/// Whether a shell reads `word` as itself, wherever it stands.
fn is_shell_safe(word: &str) -> bool {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_./:@%+,=-".contains(one);
    !word.is_empty() && word.chars().all(is_plain)
}

/// `word` so that a shell reads it as itself where no quotes are open; nothing if that is not certain.
fn shell_quote(word: &str) -> Option<String> {
    if is_shell_safe(word) {
        return Some(word.to_owned());
    }
    // A line break might end a comment or a here-document that the word stands in.
    (!word.contains(char::is_control)).then(|| format!("'{}'", word.replace('\'', "'\\''")))
}
