//! `EnvVars`: the variables of the program, as a value.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rheon_fleet::git::GitEnvironment;

/// The variables of the program, as a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvVars {
    variables: BTreeMap<OsString, OsString>,
}

impl EnvVars {
    /// The environment variables of this process. If `HOME` is not set, it comes from the user's account entry.
    pub fn of_process() -> Self {
        let mut environment: Self = std::env::vars_os().collect();
        if environment.get("HOME").is_none()
            && let Some(home) = std::env::home_dir()
        {
            environment.variables.insert("HOME".into(), home.into());
        }
        environment
    }

    /// The value of an environment variable. Empty counts as not set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value of an environment variable as text; non-UTF-8 counts as not set.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str()
    }

    /// All variables whose name and value are text.
    pub fn texts(&self) -> impl Iterator<Item = (String, String)> {
        let text =
            |(name, value): (&OsString, &OsString)| Some((name.to_str()?.into(), value.to_str()?.into()));
        self.variables.iter().filter_map(text)
    }

    /// The few variables that git is given.
    pub fn for_git(&self) -> GitEnvironment {
        let of = |name| self.get(name).map(OsStr::to_owned);
        GitEnvironment { path: of("PATH"), home: of("HOME"), config_home: of("XDG_CONFIG_HOME") }
    }

    /// The value of a variable, if it is an absolute path.
    pub(crate) fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(Path::new).filter(|path| path.is_absolute()).map(Path::to_owned)
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for EnvVars {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self { variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }
}
