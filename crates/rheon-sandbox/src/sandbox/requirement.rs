//! `Requirement`: what the caller insists on.

use super::level::Level;

/// What the caller insists on: Landlock at least, unless somebody said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// This level, or a higher one.
    AtLeast(Level),
    /// None at all, because somebody said so.
    NoSandbox,
}

impl Default for Requirement {
    fn default() -> Self {
        Self::AtLeast(Level::Landlock)
    }
}

impl Requirement {
    /// The lowest level that will do.
    pub fn lowest(self) -> Level {
        match self {
            Self::AtLeast(lowest) => lowest,
            Self::NoSandbox => Level::None,
        }
    }

    /// The levels that will do, highest first.
    pub(super) fn levels(self) -> impl Iterator<Item = Level> {
        let levels: &[Level] = match self {
            Self::AtLeast(_) => &[Level::Namespaces, Level::Landlock],
            Self::NoSandbox => &[Level::None],
        };
        levels.iter().copied().filter(move |level| *level >= self.lowest())
    }
}
