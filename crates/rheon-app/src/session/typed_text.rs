//! What a typed text asks for: a prompt with attached files, a shell command or a slash command. Pure.

/// What a typed text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypedText<'a> {
    Prompt(&'a str),
    /// A command for the shell, without the `!`.
    Shell(&'a str),
    /// A slash command, as typed.
    Slash(&'a str),
}

impl<'a> TypedText<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let trimmed = text.trim();
        if let Some(command) = trimmed.strip_prefix('!').map(str::trim).filter(|command| !command.is_empty())
        {
            return Self::Shell(command);
        }
        // A path such as /usr/bin is not a command.
        let name = trimmed.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
        match name {
            Some(name) if !name.contains('/') && trimmed.starts_with(&format!("/{name}")) => {
                Self::Slash(trimmed)
            }
            Some(_) | None => Self::Prompt(text),
        }
    }
}

/// A file that a prompt mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) path: String,
    /// The first and the last line, counted from 1, where only a part is meant.
    pub(super) lines: Option<(u64, u64)>,
}

/// The files that a prompt mentions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mentions {
    pub(super) found: Vec<Mention>,
    /// What looks like the name of a file and is none.
    pub(super) missing: Vec<String>,
}

/// The most files attached to one prompt.
pub(super) const MENTIONS_MAX: usize = 32;

const IMAGES: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// Finds `@path`, `@"a path"`, `@path#L3-9`, and names of images as terminals insert them when one is dropped: bare, quoted or with
/// escaped blanks. Only what `exists` is a mention.
pub(super) fn mentions(text: &str, exists: impl Fn(&str) -> bool) -> Mentions {
    let mut mentions = Mentions::default();
    for word in words(text) {
        if mentions.found.len() >= MENTIONS_MAX {
            break;
        }
        let found = match word.strip_prefix('@') {
            Some(named) => {
                let named = unquoted(named);
                let found = resolve(&named, &exists);
                if found.is_none() && looks_like_file(&named) {
                    mentions.missing.push(named);
                }
                found
            }
            None => {
                let path = unquoted(word);
                let is_image = IMAGES.iter().any(|ending| path.to_lowercase().ends_with(ending));
                (is_image && exists(&path)).then_some(Mention { path, lines: None })
            }
        };
        if let Some(found) = found
            && !mentions.found.contains(&found)
        {
            mentions.found.push(found);
        }
    }
    mentions
}

/// The words of a text; quotes and escaped blanks keep a word together where it is a whole one.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let at_sign = usize::from(rest.starts_with('@'));
        let quote =
            rest.get(at_sign..).and_then(|rest| rest.chars().next()).filter(|c| matches!(c, '"' | '\''));
        let closed = quote.and_then(|quote| {
            let inner = rest.get(at_sign + 1..)?;
            Some(
                at_sign
                    + 1
                    + inner
                        .find(quote)
                        .filter(|end| !inner.get(..*end).is_some_and(|it| it.contains('\n')))?
                    + 1,
            )
        });
        let end = closed.unwrap_or_else(|| word_end(rest));
        words.extend(rest.get(..end));
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    words
}

/// Where a word without quotes ends: at the first blank that is not escaped.
fn word_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, character) in text.char_indices() {
        if character.is_whitespace() && !is_escaped {
            return place;
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    text.len()
}

fn unquoted(word: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    word.replace("\\ ", " ")
}

/// The mention without the punctuation of the sentence that it ends.
fn resolve(named: &str, exists: &impl Fn(&str) -> bool) -> Option<Mention> {
    let mut shorter = named;
    loop {
        if shorter.is_empty() {
            return None;
        }
        if exists(shorter) {
            return Some(Mention { path: shorter.to_owned(), lines: None });
        }
        if let Some((path, range)) = shorter.rsplit_once('#')
            && let Some(lines) = line_range(range)
            && exists(path)
        {
            return Some(Mention { path: path.to_owned(), lines: Some(lines) });
        }
        shorter = shorter.strip_suffix(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\''])?;
    }
}

/// `L3`, `L3-9` or `L3-L9`.
fn line_range(text: &str) -> Option<(u64, u64)> {
    let text = text.strip_prefix('L')?;
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.strip_prefix('L').unwrap_or(last).parse().ok()?);
    (1 <= first && first <= last).then_some((first, last))
}

/// Whether the last part of a path has an ending.
fn looks_like_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| !ending.is_empty() && ending.chars().all(char::is_alphanumeric))
}

#[cfg(test)]
#[path = "typed_text_tests.rs"]
mod tests;
