//! `Wildcard`: patterns in which `*` matches any text.

/// A pattern in which `*` matches any text, including none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wildcard {
    pattern: String,
}

impl Wildcard {
    pub(crate) fn new(pattern: impl Into<String>) -> Self {
        Self { pattern: pattern.into() }
    }

    /// Whether the pattern contains a `*`.
    pub(crate) fn is_open(&self) -> bool {
        self.pattern.contains('*')
    }

    /// The text before the first `*`.
    pub(crate) fn literal_prefix(&self) -> &str {
        self.pattern.split('*').next().unwrap_or_default()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.pattern
    }

    /// Takes time proportional to the text length times the number of pieces at worst.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut pieces = self.pattern.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = text.strip_prefix(first) else { return false };
        let Some(last) = pieces.next_back() else { return rest.is_empty() };
        for piece in pieces {
            match rest.split_once(piece) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// The pattern of `Bash(...)`. `*` may stand anywhere. A trailing ` *` or `:*` also matches the bare command, but never
/// half a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandPattern {
    Any,
    /// These words, alone or followed by more.
    Prefix(Wildcard),
    Whole(Wildcard),
}

impl CommandPattern {
    pub(crate) fn parse(spec: &str) -> Self {
        let spec = spec.trim();
        let prefix = spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *")).map(str::trim_end);
        match prefix {
            _ if spec.is_empty() || spec.chars().all(|character| character == '*') => Self::Any,
            Some("") => Self::Any,
            Some(prefix) => Self::Prefix(Wildcard::new(prefix)),
            None => Self::Whole(Wildcard::new(spec)),
        }
    }

    pub(crate) fn matches(&self, command: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Whole(pattern) => pattern.matches(command),
            Self::Prefix(pattern) if !pattern.is_open() => command
                .strip_prefix(pattern.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)),
            Self::Prefix(pattern) => {
                pattern.matches(command) || Wildcard::new(format!("{} *", pattern.as_str())).matches(command)
            }
        }
    }

    /// The words that the rule spells out. Half a word before a `*` counts as one.
    pub(crate) fn named_words(&self) -> Vec<&str> {
        match self {
            Self::Any => Vec::new(),
            Self::Prefix(pattern) | Self::Whole(pattern) => {
                pattern.literal_prefix().split_whitespace().collect()
            }
        }
    }

    /// The half word that the rule spells out before a final `*`.
    pub(crate) fn half_word(&self) -> Option<&str> {
        let (Self::Prefix(pattern) | Self::Whole(pattern)) = self else { return None };
        let literal = pattern.literal_prefix();
        let is_half = pattern.is_open() && !literal.ends_with(char::is_whitespace);
        literal.split_whitespace().last().filter(|_| is_half)
    }

    /// Whether it contains no `*`, so that it matches one command only.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Any | Self::Prefix(_) => false,
            Self::Whole(pattern) => !pattern.is_open(),
        }
    }
}
