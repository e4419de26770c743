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

/// The pattern of a host: a name, `*.` and a domain for all its subdomains, or `*` for all hosts. Anywhere else, `*` stays
/// between two dots, so that `example.*` does not match a domain that anyone could register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostPattern(String);

impl HostPattern {
    pub(crate) fn new(host: &str) -> Self {
        Self(host.trim_end_matches('.').to_lowercase())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// `host` is lowercase and has no dot at its end.
    pub(crate) fn matches(&self, host: &str) -> bool {
        if self.0 == "*" {
            return true;
        }
        let (pattern, host): (Vec<&str>, Vec<&str>) =
            (self.0.split('.').collect(), host.split('.').collect());
        let (pattern, host) = match pattern.split_first() {
            Some((&"*", domain)) if host.len() > domain.len() => {
                (domain, host.get(host.len() - domain.len()..).unwrap_or_default())
            }
            _ => (pattern.as_slice(), host.as_slice()),
        };
        pattern.len() == host.len()
            && pattern.iter().zip(host).all(|(pattern, label)| Wildcard::new(*pattern).matches(label))
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

    /// Whether it matches `beginning` with any further words.
    pub(crate) fn matches_any_end(&self, beginning: &str) -> bool {
        let is_open = match self {
            Self::Any | Self::Prefix(_) => true,
            Self::Whole(pattern) => pattern.as_str().ends_with('*'),
        };
        is_open && self.matches(beginning)
    }

    /// Whether words of which some are unknown could be a command that the pattern matches.
    pub(crate) fn may_match(&self, pieces: &[Piece]) -> bool {
        let (pattern, tail) = match self {
            Self::Any => return true,
            Self::Whole(pattern) => (pattern, false),
            Self::Prefix(pattern) => (pattern, true),
        };
        let mut wanted: Vec<Symbol> = Vec::new();
        wanted.extend(pattern.as_str().bytes().map(|byte| match byte {
            b'*' => Symbol::AnyText,
            byte => Symbol::Byte(byte),
        }));
        if tail {
            wanted.extend(Symbol::WORDS);
        }
        meet(&wanted, &symbols(pieces))
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

/// A word of a command, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Known(String),
    /// Any number of words.
    Any,
    /// One word or more, of which the first starts like this.
    From(String),
}

/// A symbol of a set of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Byte(u8),
    AnyText,
    /// The next two symbols may be left out.
    Optional,
}

impl Symbol {
    /// Any number of further words.
    const WORDS: [Self; 3] = [Self::Optional, Self::Byte(b' '), Self::AnyText];
}

fn symbols(pieces: &[Piece]) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let text = match piece {
            Piece::Known(text) | Piece::From(text) => text,
            Piece::Any if index == 0 => {
                symbols.push(Symbol::AnyText);
                continue;
            }
            Piece::Any => {
                symbols.extend(Symbol::WORDS);
                continue;
            }
        };
        if index > 0 {
            symbols.push(Symbol::Byte(b' '));
        }
        symbols.extend(text.bytes().map(Symbol::Byte));
        if matches!(piece, Piece::From(_)) {
            symbols.push(Symbol::AnyText);
        }
    }
    symbols
}

/// Steps to take before two sets count as having a text in common.
const STEPS_MAX: usize = 4_000_000;

/// Whether two sets of texts have one in common.
fn meet(one: &[Symbol], other: &[Symbol]) -> bool {
    let width = other.len() + 1;
    let size = (one.len() + 1).saturating_mul(width);
    if size > STEPS_MAX {
        return true;
    }
    let mut seen = vec![false; size];
    let mut open = vec![(0_usize, 0_usize)];
    while let Some((i, j)) = open.pop() {
        let Some(slot) = seen.get_mut(i * width + j) else { continue };
        if std::mem::replace(slot, true) {
            continue;
        }
        let (first, second) = (one.get(i), other.get(j));
        match (first, second) {
            (None, None) => return true,
            (Some(Symbol::Byte(a)), Some(Symbol::Byte(b))) if a == b => open.push((i + 1, j + 1)),
            _ => {}
        }
        match first {
            Some(Symbol::Optional) => open.extend([(i + 1, j), (i + 3, j)]),
            Some(Symbol::AnyText) => {
                open.push((i + 1, j));
                if matches!(second, Some(Symbol::Byte(_))) {
                    open.push((i, j + 1));
                }
            }
            Some(Symbol::Byte(_)) | None => {}
        }
        match second {
            Some(Symbol::Optional) => open.extend([(i, j + 1), (i, j + 3)]),
            Some(Symbol::AnyText) => {
                open.push((i, j + 1));
                if matches!(first, Some(Symbol::Byte(_))) {
                    open.push((i + 1, j));
                }
            }
            Some(Symbol::Byte(_)) | None => {}
        }
    }
    false
}
