//! `PromptSection` and `Band`: a named part of the system prompt, and how often it changes.

use std::borrow::Cow;
use std::sync::Arc;

/// The note at the end of a section that was cut.
const CUT: &str = include_str!("cut.md");

/// How often a section changes. The order is the order in the prompt: sections that change more often come later, so
/// that a change leaves everything above it in the service's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Band {
    /// Fixed for the whole session: the base prompt, rules, notes on tools.
    Static,
    /// Fixed for many turns: active skills, memory, learnings, the map of the code.
    SemiStatic,
    /// May change every turn: the date, the state of the repository, guidance on effort.
    Dynamic,
}

impl Band {
    /// All bands, in the order of the prompt.
    pub const ALL: [Self; 3] = [Self::Static, Self::SemiStatic, Self::Dynamic];

    /// Its name, for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::SemiStatic => "semi-static",
            Self::Dynamic => "dynamic",
        }
    }

    /// Whether services should cache the prompt up to the end of this band.
    pub(crate) fn is_stable(self) -> bool {
        match self {
            Self::Static | Self::SemiStatic => true,
            Self::Dynamic => false,
        }
    }
}

/// A named part of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSection {
    /// The name in reports. A later section with the same name replaces it.
    pub name: Arc<str>,
    /// How often it changes.
    pub band: Band,
    /// The text, without blank lines at either end.
    pub text: Arc<str>,
    /// Its estimated tokens.
    pub tokens: u64,
}

/// `text` in at most `bytes_max` bytes, plus a note if it was cut. Cuts after a whole line if there is one in the
/// second half, otherwise after a whole character.
pub(crate) fn cut(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(bytes_max);
    let whole = text.get(..end).unwrap_or_default();
    let line = whole.rfind('\n').filter(|at| *at >= end / 2);
    let head = line.and_then(|at| whole.get(..at)).unwrap_or(whole).trim_end();
    let note = CUT.trim_end().replace("{shown}", &head.len().to_string());
    Cow::Owned(format!("{head}\n{}", note.replace("{total}", &text.len().to_string())))
}
