//! `Effort`: how hard a run should try, and the thinking level and guidance that follow from it.

use std::fmt;
use std::str::FromStr;

use rheon_types::ThinkingLevel;

/// How hard a run should try.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// Take the shortest path.
    Low,
    /// The default.
    #[default]
    Medium,
    /// Thoroughly.
    High,
    /// Spare no effort.
    Max,
}

impl Effort {
    /// All levels, in ascending order.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Max];

    /// Its name, as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }

    /// How much the model should think. Providers map the level to their own settings.
    pub fn thinking(self) -> ThinkingLevel {
        match self {
            Self::Low => ThinkingLevel::Low,
            Self::Medium => ThinkingLevel::Medium,
            Self::High => ThinkingLevel::High,
            Self::Max => ThinkingLevel::Max,
        }
    }

    /// The guidance for the model.
    pub fn guidance(self) -> &'static str {
        match self {
            Self::Low => include_str!("effort_text/low.md").trim_ascii_end(),
            Self::Medium => include_str!("effort_text/medium.md").trim_ascii_end(),
            Self::High => include_str!("effort_text/high.md").trim_ascii_end(),
            Self::Max => include_str!("effort_text/max.md").trim_ascii_end(),
        }
    }
}

impl From<ThinkingLevel> for Effort {
    /// The effort level that matches this thinking level best.
    fn from(level: ThinkingLevel) -> Self {
        match level {
            ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => Self::Low,
            ThinkingLevel::Medium => Self::Medium,
            ThinkingLevel::High => Self::High,
            ThinkingLevel::Max => Self::Max,
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Effort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim();
        let effort = Self::ALL.into_iter().find(|effort| effort.as_str().eq_ignore_ascii_case(name));
        effort.ok_or_else(|| {
            let shown: String = name.chars().take(40).collect();
            format!("unknown effort {shown:?}: use low, medium, high or max")
        })
    }
}
