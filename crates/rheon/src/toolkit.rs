//! `default_tools`: the standard tools for an agent without a session.

use std::path::Path;
use std::sync::Arc;

use rheon_agent::SystemClock;
use rheon_policy::{PatternRoots, Policy};
use rheon_tools::{Toolkit, ToolkitSettings};

use crate::environment;
use crate::error::Result;

/// The standard tools for work in `dir`: files, search, a shell in a sandbox, a task list, questions to the user, plans.
///
/// As safe as the program: reading in the directory is free and everything else needs approval; commands run without network, see
/// neither the API keys of the environment nor the keys in the home directory. [`ToolkitSettings`] changes any of it.
pub async fn default_tools(dir: impl AsRef<Path>) -> Result<Toolkit> {
    let places = PatternRoots { working_dir: dir.as_ref().to_owned(), home: environment::home() };
    let settings = ToolkitSettings::new(Policy::empty(places), Arc::new(SystemClock::default()));
    Ok(Toolkit::new(ToolkitSettings { variables: environment::variables(), ..settings }).await?)
}
