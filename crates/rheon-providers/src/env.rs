//! `ProviderEnv`: environment variables and home directory, passed in by the program. Libraries do not read them
//! directly.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Looks up an environment variable.
type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The user's environment variables and home directory.
#[derive(Clone)]
pub struct ProviderEnv {
    lookup: Arc<Lookup>,
    home: Option<PathBuf>,
}

impl ProviderEnv {
    /// Looks up environment variables with `lookup`. Values are trimmed (key files end with a line break), and an
    /// empty value counts as unset.
    pub fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { lookup: Arc::new(lookup), home: None }
    }

    /// Sets the home directory, where credentials files are looked up.
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The environment variable `name`, unless it is unset or empty.
    pub fn var(&self, name: &str) -> Option<String> {
        let value = (self.lookup)(name)?;
        let trimmed = value.trim();
        match trimmed.len() {
            0 => None,
            length if length == value.len() => Some(value),
            _ => Some(trimmed.to_owned()),
        }
    }

    /// The same environment, with `value` as the default of `name`.
    pub(crate) fn with_default(&self, name: &'static str, value: String) -> Self {
        let base = self.clone();
        let lookup_with_default =
            move |requested: &str| base.var(requested).or_else(|| (requested == name).then(|| value.clone()));
        Self { lookup: Arc::new(lookup_with_default), home: self.home.clone() }
    }

    /// The first of `names` that is set, with its value.
    pub fn first<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Option<(&'a str, String)> {
        names.into_iter().find_map(|name| Some((name, self.var(name)?)))
    }

    /// The home directory.
    pub fn home(&self) -> Option<&std::path::Path> {
        self.home.as_deref()
    }
}

/// A fixed set of variables, for instance in tests.
impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for ProviderEnv {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        let variables: BTreeMap<String, String> =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self::new(move |name| variables.get(name).cloned())
    }
}

/// Does not show the variables: they hold secrets.
impl fmt::Debug for ProviderEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderEnv").field("home", &self.home).finish_non_exhaustive()
    }
}
