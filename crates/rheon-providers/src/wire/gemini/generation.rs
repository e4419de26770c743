//! Generations of Gemini models, which have different request rules.

/// The rules that a model follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    /// Up to Gemini 2.5, and other models on this wire.
    Two,
    /// Gemini 3 and later.
    Three,
}

impl Generation {
    /// By the model name; a name for the latest model counts as new.
    pub(super) fn of(model: &str) -> Self {
        let Some((_, version)) = model.split_once("gemini-") else { return Self::Two };
        let major = version.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        match major.parse::<u32>() {
            Ok(major) if major >= 3 => Self::Three,
            Ok(_) => Self::Two,
            Err(_) if version.ends_with("-latest") => Self::Three,
            Err(_) => Self::Two,
        }
    }
}
