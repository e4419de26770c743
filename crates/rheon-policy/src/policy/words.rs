//! `Words`: a command as text, in every form that a rule may match.

use crate::policy::glob;
use crate::policy::names::HARMLESS_VARIABLES;
use crate::policy::wildcard::Piece;
use crate::shell::SimpleCommand;

/// How many options a deny rule skips between a command and its subcommand. With more, the command may be any of that
/// program.
const OPTIONS_MAX: usize = 16;

/// A command as text, in every form that a rule may match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// The words separated by one space. `None` if a word is unknown or an environment variable changes their meaning.
    pub(crate) plain: Option<String>,
    /// The words before those that an input adds, as with `xargs`: separated by one space, as in `plain`.
    pub(crate) beginning: Option<String>,
    /// As written in the line.
    pub(crate) text: String,
    /// Every form that a deny or ask rule may match.
    pub(crate) readings: Vec<String>,
    /// The forms in which unknown words could be what a deny or ask rule is about.
    pub(crate) forms: Vec<Vec<Piece>>,
}

impl Words {
    pub(crate) fn of(command: &SimpleCommand) -> Self {
        let known: Option<Vec<&str>> = command.words.iter().map(Option::as_deref).collect();
        let is_plain = |words: &Vec<&str>| {
            words.first().is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
                && sets_only_harmless(command)
        };
        let beginning = match command.words.split_last() {
            Some((None, before)) if command.input_words => {
                before.iter().map(Option::as_deref).collect::<Option<Vec<&str>>>()
            }
            Some(_) | None => None,
        };
        let beginning = beginning.filter(is_plain).map(|words| words.join(" "));
        let plain = known.filter(is_plain).map(|words| words.join(" "));
        let shown: Vec<&str> =
            command.words.iter().map(|word| word.as_deref().unwrap_or("\u{fffd}")).collect();
        let text = command.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut readings = vec![shown.join(" "), text.clone()];
        if let Some((name, rest)) = shown.split_first() {
            let base = base_of(name);
            if base != *name {
                readings.push([&[base], rest].concat().join(" "));
            }
            let after = |count: usize| rest.get(count..).filter(|rest| !rest.is_empty());
            let count = options(&command.words);
            readings.extend((1..=count).filter_map(after).map(|rest| format!("{base} {}", rest.join(" "))));
        }
        Self { plain, beginning, text, readings, forms: forms(command) }
    }
}

fn base_of(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, base)| base)
}

/// How many words after the name are options or their values, up to a limit: `git -C . push` is a push. A value may be the
/// subcommand as well, so that every count up to this one is possible.
fn options(words: &[Option<String>]) -> usize {
    let rest = words.get(1..).unwrap_or_default();
    let is_option = |at: usize| match rest.get(at) {
        Some(Some(word)) => word.starts_with(['-', '+']),
        Some(None) => true,
        None => false,
    };
    let is_skipped = |at: &usize| is_option(*at) || at.checked_sub(1).is_some_and(is_option);
    (0..=OPTIONS_MAX).take_while(is_skipped).count()
}

fn forms(command: &SimpleCommand) -> Vec<Vec<Piece>> {
    let count = options(&command.words);
    let piece = |(index, word): (usize, &Option<String>)| match word {
        Some(word) => Piece::Known(word.clone()),
        None => {
            let pattern = command.globs.iter().find(|glob| glob.index == index);
            let prefix = pattern.map(|glob| glob::literal_prefix(&glob.pattern)).unwrap_or_default();
            if prefix.is_empty() { Piece::Any } else { Piece::From(prefix) }
        }
    };
    let mut forms = Vec::new();
    if command.words.contains(&None) {
        let pieces: Vec<Piece> = command.words.iter().enumerate().map(piece).collect();
        let base = match pieces.first() {
            Some(Piece::Known(name)) => Piece::Known(base_of(name).to_owned()),
            Some(Piece::Any | Piece::From(_)) | None => Piece::Any,
        };
        for skipped in 0..=count {
            let rest = pieces.get(skipped + 1..).unwrap_or_default();
            forms.push([std::slice::from_ref(&base), rest].concat());
        }
        forms.push(pieces);
    }
    if count > OPTIONS_MAX {
        let name = command.words.first().and_then(Option::as_deref).map(base_of);
        forms.push(vec![name.map_or(Piece::Any, |name| Piece::Known(name.to_owned())), Piece::Any]);
    }
    forms
}

/// Whether no variable that the command sets changes what it does.
pub(crate) fn sets_only_harmless(command: &SimpleCommand) -> bool {
    command.assignments.iter().all(|(name, value)| {
        let is_known =
            |known: &&str| if known.ends_with('_') { name.starts_with(known) } else { name == known };
        value.is_some() && HARMLESS_VARIABLES.iter().any(is_known)
    })
}
