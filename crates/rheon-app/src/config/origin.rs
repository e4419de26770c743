//! `SettingOrigin`: the layer, source and line of a value.

use std::fmt;
use std::path::PathBuf;

/// The layers, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    BuiltIn,
    User,
    Project,
    /// The project's settings that are not shared.
    ProjectLocal,
    /// `--settings` and flags.
    CommandLine,
    /// Set by the administrator of the machine.
    Managed,
}

impl Layer {
    /// Whether it lies in the repository, where anybody may have written it.
    pub fn is_project(self) -> bool {
        match self {
            Self::Project | Self::ProjectLocal => true,
            Self::BuiltIn | Self::User | Self::CommandLine | Self::Managed => false,
        }
    }

    /// Its name, for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
            Self::ProjectLocal => "project-local",
            Self::CommandLine => "command line",
            Self::Managed => "managed",
        }
    }
}

/// Where a value comes from. As text: `path:line`, the name of a variable or a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingOrigin {
    pub layer: Layer,
    /// Its file, variable or flag.
    pub source: SourceName,
    /// Its line, counted from 1, where that is known.
    pub line: Option<usize>,
}

/// A file, a variable or a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceName {
    BuiltIn,
    File(PathBuf),
    Variable(String),
    Flag(String),
}

impl SettingOrigin {
    /// The defaults.
    pub fn built_in() -> Self {
        Self { layer: Layer::BuiltIn, source: SourceName::BuiltIn, line: None }
    }

    /// The same source at another line.
    pub(super) fn at(&self, line: Option<usize>) -> Self {
        Self { line, ..self.clone() }
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => write!(f, "{}", self.source),
        }
    }
}
