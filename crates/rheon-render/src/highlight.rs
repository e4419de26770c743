//! `Highlighter`: the colors of code, line by line. The syntaxes are loaded when the first code in colors comes, and most
//! of their cost is paid per language, when its first line is read: see `LANGUAGES_MAX`.

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use super::page::Ink;

/// How many languages are kept ready. Each takes 5 to 10 MB and 20 to 70 ms, so beyond this the first are let go.
const LANGUAGES_MAX: usize = 4;

/// A longer line is shown without colors: the time that a pattern takes may grow with the square of it.
const LINE_BYTES_MAX: usize = 1_000;

/// Names that models use for languages of which there is only a relative.
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

/// What is shown in which colour; the innermost scope that is known decides.
const COLOURS: [(&str, Ink); 9] = [
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

/// Colours code.
#[derive(Default)]
pub(super) struct Highlighter {
    loaded: Option<Loaded>,
    /// Where the code stands that is being shown; nothing if its language is not known.
    code: Option<(ParseState, ScopeStack)>,
}

struct Loaded {
    syntaxes: SyntaxSet,
    colors: Vec<(Scope, Ink)>,
    languages: Vec<String>,
}

impl Highlighter {
    /// Code begins, of the language that the first word of `info` names. Without colors nothing is loaded.
    pub(super) fn begin(&mut self, info: &str, colors: bool) {
        self.code = None;
        let word = info.split([' ', ',', '{', ':', '\t']).next().unwrap_or_default().to_lowercase();
        if !colors || word.is_empty() {
            return;
        }
        let token =
            RELATIVES.iter().find(|(name, _)| *name == word).map_or(word.as_str(), |(_, other)| other);
        let loaded = self.loaded.get_or_insert_with(Loaded::new);
        let Some(name) = loaded.syntaxes.find_syntax_by_token(token).map(|syntax| syntax.name.clone()) else {
            return;
        };
        if !loaded.languages.contains(&name) {
            if loaded.languages.len() >= LANGUAGES_MAX {
                *loaded = Loaded::new();
            }
            loaded.languages.push(name.clone());
        }
        let syntax = loaded.syntaxes.find_syntax_by_name(&name);
        self.code = syntax.map(|syntax| (ParseState::new(syntax), ScopeStack::new()));
    }

    /// The pieces of a line of code, which together are the line.
    pub(super) fn line<'a>(&mut self, line: &'a str) -> Vec<(Ink, &'a str)> {
        let pieces = match (&self.loaded, &mut self.code) {
            (Some(loaded), Some(code)) if line.len() <= LINE_BYTES_MAX => loaded.pieces(code, line),
            (Some(_) | None, Some(_) | None) => None,
        };
        pieces.unwrap_or_else(|| {
            // Colours that begin in the middle of something unread would be wrong.
            self.code = None;
            vec![(Ink::Plain, line)]
        })
    }
}

impl Loaded {
    fn new() -> Self {
        let colors = COLOURS.iter().filter_map(|(name, ink)| Some((Scope::new(name).ok()?, *ink))).collect();
        Self { syntaxes: SyntaxSet::load_defaults_newlines(), colors, languages: Vec::new() }
    }

    fn pieces<'a>(
        &self,
        (state, stack): &mut (ParseState, ScopeStack),
        line: &'a str,
    ) -> Option<Vec<(Ink, &'a str)>> {
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
