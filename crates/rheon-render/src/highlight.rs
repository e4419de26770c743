//! `Highlighter`: colors code line by line. The syntaxes are loaded for the first colored code block. Most of their
//! cost comes per language, with its first line: see `LANGUAGES_MAX`.

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use super::page::Ink;

/// How many languages stay loaded. Each takes 5 to 10 MB and 20 to 70 ms; beyond this the oldest are dropped.
const LANGUAGES_MAX: usize = 4;

/// Longer lines are not colored: matching a pattern may take quadratic time.
const LINE_BYTES_MAX: usize = 1_000;

/// Language names that models use, and the related syntax to use for them.
const RELATIVES: [(&str, &str); 10] = [
    ("typescript", "js"),
    ("ts", "js"),
    ("tsx", "js"),
    ("jsx", "js"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("toml", "properties"),
    ("ini", "properties"),
    ("shell", "sh"),
    ("console", "sh"),
];

/// Colors by scope. The innermost known scope decides.
const COLORS: [(&str, Ink); 9] = [
    ("comment", Ink::Dim),
    ("constant.character.escape", Ink::Yellow),
    ("string", Ink::Green),
    ("constant", Ink::Cyan),
    ("keyword.operator", Ink::Plain),
    ("keyword", Ink::Magenta),
    ("storage", Ink::Magenta),
    ("entity.name", Ink::Yellow),
    ("support.function", Ink::Yellow),
];

#[derive(Default)]
pub(super) struct Highlighter {
    loaded: Option<LoadedSyntaxes>,
    /// The parser state of the current code block; `None` if its language is unknown.
    code: Option<Code>,
}

/// The parser state of a code block.
struct Code {
    state: ParseState,
    stack: ScopeStack,
}

struct LoadedSyntaxes {
    syntaxes: SyntaxSet,
    colors: Vec<(Scope, Ink)>,
    languages: Vec<String>,
}

impl Highlighter {
    /// Starts a code block in the language that the first word of `info` names. Loads nothing if colors are off.
    pub(super) fn begin(&mut self, info: &str, colors: bool) {
        self.code = None;
        let word = info.split([' ', ',', '{', ':', '\t']).next().unwrap_or_default().to_lowercase();
        if !colors || word.is_empty() {
            return;
        }
        let token =
            RELATIVES.iter().find(|(name, _)| *name == word).map_or(word.as_str(), |(_, other)| other);
        let loaded = self.loaded.get_or_insert_with(LoadedSyntaxes::new);
        let Some(name) = loaded.syntaxes.find_syntax_by_token(token).map(|syntax| syntax.name.clone()) else {
            return;
        };
        if !loaded.languages.contains(&name) {
            if loaded.languages.len() >= LANGUAGES_MAX {
                *loaded = LoadedSyntaxes::new();
            }
            loaded.languages.push(name.clone());
        }
        let syntax = loaded.syntaxes.find_syntax_by_name(&name);
        self.code = syntax.map(|syntax| Code { state: ParseState::new(syntax), stack: ScopeStack::new() });
    }

    /// Splits a line of code into colored pieces.
    pub(super) fn line<'a>(&mut self, line: &'a str) -> Vec<(Ink, &'a str)> {
        let pieces = match (&self.loaded, &mut self.code) {
            (Some(loaded), Some(code)) if line.len() <= LINE_BYTES_MAX => loaded.pieces(code, line),
            (Some(_) | None, Some(_) | None) => None,
        };
        pieces.unwrap_or_else(|| {
            // Colors that start after skipped text would be wrong.
            self.code = None;
            vec![(Ink::Plain, line)]
        })
    }
}

impl LoadedSyntaxes {
    fn new() -> Self {
        let colors = COLORS.iter().filter_map(|(name, ink)| Some((Scope::new(name).ok()?, *ink))).collect();
        Self { syntaxes: SyntaxSet::load_defaults_newlines(), colors, languages: Vec::new() }
    }

    fn pieces<'a>(&self, code: &mut Code, line: &'a str) -> Option<Vec<(Ink, &'a str)>> {
        let Code { state, stack } = code;
        let changes = state.parse_line(&format!("{line}\n"), &self.syntaxes).ok()?;
        let mut pieces = Vec::with_capacity(changes.len() + 1);
        let mut begin = 0;
        for (at, change) in changes {
            let at = at.min(line.len());
            if at > begin {
                pieces.push((self.ink(stack), line.get(begin..at)?));
                begin = at;
            }
            stack.apply(&change).ok()?;
        }
        if begin < line.len() {
            pieces.push((self.ink(stack), line.get(begin..)?));
        }
        Some(pieces)
    }

    fn ink(&self, stack: &ScopeStack) -> Ink {
        let known = |scope: &Scope| self.colors.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
        stack.as_slice().iter().rev().find_map(known).map_or(Ink::Plain, |(_, ink)| *ink)
    }
}

#[cfg(test)]
#[path = "highlight_tests.rs"]
mod tests;
