//! `PromptSection` and `Band`: a named part of the system prompt, and how long it stays as it is.

use std::borrow::Cow;
use std::sync::Arc;

/// What a model reads where a section was cut.
const CUT: &str = include_str!("cut.md");

/// How long a section stays as it is. The order is the order in the prompt: what changes more often stands further down, so
/// that a change leaves everything above it in the service's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Band {
    /// For the whole session: the base prompt, rules, notes on tools.
    Static,
    /// For many turns: active skills, memory, learnings, the map of the code.
    SemiStatic,
    /// For one turn, perhaps: the date, the state of the repository, guidance on effort.
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

    /// Whether services should keep what ends with this band.
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
    /// What it is called in reports; a later section of the same name takes its place.
    pub name: Arc<str>,
    /// How long it stays as it is.
    pub band: Band,
    /// What the model reads, without blank lines at either end.
    pub text: Arc<str>,
    /// Its tokens, as estimated when it was added.
    pub tokens: u64,
}

/// `text` in at most `bytes_max` bytes: cut after a whole line where there is one in the last half, else after a whole
/// character, with a note. The note comes on top, so that a tiny cap still says what happened.
pub(crate) fn cut(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(bytes_max);
    let whole = text.get(..end).unwrap_or_default();
    let line = whole.rfind('\n').filter(|at| *at >= end / 2);
    let kept = line.and_then(|at| whole.get(..at)).unwrap_or(whole).trim_end();
    let note = CUT.trim_end().replace("{shown}", &kept.len().to_string());
    Cow::Owned(format!("{kept}\n{}", note.replace("{total}", &text.len().to_string())))
}
