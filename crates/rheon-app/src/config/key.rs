//! `Key`: one row of the table of keys: what it takes, and what a project may do with it.

use rheon_policy::RuleKind;

/// One key, or with `*` at the end all keys of a table.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) path: &'static str,
    pub(super) takes: Takes,
    pub(super) project: ProjectMay,
    /// As TOML; empty if there is none.
    pub(super) default: &'static str,
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Text,
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Switch,
    /// `true`, `false`, or a directory.
    SwitchOrDir,
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// Dollars, with at most six digits after the point.
    Money,
    Texts,
    /// Which network commands have: a word, or a list of hosts.
    Network,
    Sources,
    /// A list of rules.
    Rules(RuleKind),
    /// Where a key is found.
    KeySource,
    Vendor,
    Hooks,
    McpServer,
}

/// What the settings of a project may do with a key. The user's own layers may do anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProjectMay {
    /// Anything: nothing becomes looser by it.
    Set,
    /// Set it where the project is trusted.
    SetIfTrusted,
    /// The same, but never to this.
    SetIfTrustedBut(&'static str),
    Lower,
    /// Choose what is stricter; loosest first, and the loosest itself is never a project's to choose.
    Tighten(&'static [&'static str]),
    /// Switch it to this, and not back.
    SwitchTo(bool),
    Nothing,
}

impl Takes {
    /// For people.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Choice(names) => {
                names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
            }
            Self::Switch => "true or false".to_owned(),
            Self::SwitchOrDir => "true, false, or a directory".to_owned(),
            Self::Count(least, u64::MAX) => format!("whole number from {least}"),
            Self::Count(least, most) => format!("whole number from {least} to {most}"),
            Self::Money => "US dollars".to_owned(),
            Self::Texts => "list of strings".to_owned(),
            Self::Network => "\"open\", \"registries\", \"blocked\", or a list of hosts".to_owned(),
            Self::Sources => "list of names".to_owned(),
            Self::Rules(_) => "list of rules".to_owned(),
            Self::KeySource => "string, or a table with env, command or keyring".to_owned(),
            Self::Vendor | Self::McpServer => "table".to_owned(),
            Self::Hooks => "list of tables".to_owned(),
        }
    }

    /// Whether layers add to it instead of replacing it.
    pub(super) fn is_list(self) -> bool {
        match self {
            Self::Texts | Self::Sources | Self::Rules(_) | Self::Hooks => true,
            Self::Text
            | Self::Network
            | Self::Choice(_)
            | Self::Switch
            | Self::SwitchOrDir
            | Self::Count(..)
            | Self::Money
            | Self::KeySource
            | Self::Vendor
            | Self::McpServer => false,
        }
    }
}

impl ProjectMay {
    /// Whether it counts only where the project is trusted.
    pub(super) fn needs_trust(self) -> bool {
        match self {
            Self::SetIfTrusted | Self::SetIfTrustedBut(_) => true,
            Self::Set | Self::Lower | Self::Tighten(_) | Self::SwitchTo(_) | Self::Nothing => false,
        }
    }

    /// For people.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Set => "set it".to_owned(),
            Self::SetIfTrusted => "set it if trusted".to_owned(),
            Self::SetIfTrustedBut(value) => format!("set it if trusted, but not to {value:?}"),
            Self::Lower => "lower it".to_owned(),
            Self::Tighten(_) => "tighten it".to_owned(),
            Self::SwitchTo(value) => format!("set it to {value}"),
            Self::Nothing => "nothing".to_owned(),
        }
    }
}
