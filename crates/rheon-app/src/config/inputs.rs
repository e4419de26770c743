//! `ConfigInputs`: all that a configuration is made from. Nothing is looked for elsewhere.

use std::path::PathBuf;

use super::origin::Layer;
use crate::sessions::{EnvVars, UserDirs};

/// All that a configuration is made from.
#[derive(Debug, Clone)]
pub struct ConfigInputs {
    pub environment: EnvVars,
    pub dirs: UserDirs,
    pub working_dir: PathBuf,
    /// The file with the settings of the machine's administrator.
    pub managed: PathBuf,
    /// What flags say, in their order.
    pub flags: Vec<FlagSetting>,
    /// The value of `--settings`: a path, JSON or TOML.
    pub settings: Option<String>,
    /// The values of `--mcp-config`, each a path or the text of a file like `.mcp.json`.
    pub mcp_configs: Vec<String>,
    /// The directory of the repository, where the session works in a worktree of it: settings that are not committed are there, and what
    /// the user has agreed to there counts for the same content here.
    pub worktree_of: Option<PathBuf>,
    /// What of a project's own content counts.
    pub trust: TrustChoice,
    /// Layers whose files are not read.
    pub left_out: Vec<Layer>,
    /// Which sources count besides flags.
    pub extent: ConfigScope,
    /// Whether a program that was made for Claude Code drives this one, and expects its transcripts.
    pub is_driven_as_claude: bool,
}

impl ConfigInputs {
    /// The defaults: no flags, the usual managed file, the saved trust.
    pub fn new(environment: EnvVars, working_dir: impl Into<PathBuf>) -> Self {
        Self {
            dirs: UserDirs::of(&environment),
            environment,
            working_dir: working_dir.into(),
            managed: PathBuf::from(MANAGED_FILE),
            flags: Vec::new(),
            settings: None,
            mcp_configs: Vec::new(),
            worktree_of: None,
            trust: TrustChoice::AsGiven,
            left_out: Vec::new(),
            extent: ConfigScope::Whole,
            is_driven_as_claude: false,
        }
    }

    /// The same with a flag that sets `key`.
    #[must_use]
    pub fn with_flag(mut self, flag: &str, key: &str, value: impl Into<FlagValue>) -> Self {
        self.flags.push(FlagSetting { flag: flag.to_owned(), key: key.to_owned(), value: value.into() });
        self
    }
}

/// The file with the settings of the machine's administrator.
#[cfg(not(target_os = "macos"))]
pub const MANAGED_FILE: &str = "/etc/rheon/config.toml";
/// The file with the settings of the machine's administrator.
#[cfg(target_os = "macos")]
pub const MANAGED_FILE: &str = "/Library/Application Support/Rheon/config.toml";

/// A flag that sets a key, for instance `--model x` the key `model`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagSetting {
    /// The flag, as it is written.
    pub flag: String,
    /// The key, with dots.
    pub key: String,
    pub value: FlagValue,
}

/// What a flag sets a key to. It is checked like a value in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagValue {
    Text(String),
    /// A number, as it was written: `0.5` dollars stay what they are.
    Number(String),
    Switch(bool),
    /// Texts that are added to the list.
    List(Vec<String>),
}

impl From<&str> for FlagValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for FlagValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for FlagValue {
    fn from(value: bool) -> Self {
        Self::Switch(value)
    }
}

impl From<u64> for FlagValue {
    fn from(number: u64) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<Vec<String>> for FlagValue {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

/// What of a project's own content counts: what it allows, its hooks, its servers, its choice of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustChoice {
    /// What the user has agreed to, as long as it is still the same.
    AsGiven,
    /// All of it, for this session only.
    ThisSession,
    Nothing,
}

/// Which sources count besides flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    Whole,
    /// No file of the project counts, and of the user's files no hooks and no servers.
    Bare,
}
