//! What every command needs first: the system context and the configuration.

use std::io::ErrorKind;
use std::path::PathBuf;

use rheon_app::config::{Config, ConfigInputs};
use rheon_app::session::SystemContext;
use rheon_app::sessions::EnvVars;

use crate::failure::Failure;

/// The system, with `directory` or the current directory as working directory.
pub(crate) fn system(dir: Option<PathBuf>) -> Result<SystemContext, Failure> {
    let dir = match dir {
        Some(dir) => dir,
        None => std::env::current_dir().map_err(|error| {
            Failure::error(format_args!("cannot use the current directory: {error}; change to another one"))
        })?,
    };
    let shown = dir.display();
    let whole = dir.canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::usage(format_args!("cannot work in {shown}: no such directory")),
        _ => Failure::usage(format_args!("cannot work in {shown}: {error}; use another directory with -C")),
    })?;
    if !whole.is_dir() {
        return Err(Failure::usage(format_args!("cannot work in {shown}: not a directory")));
    }
    Ok(SystemContext::of_process(EnvVars::of_process(), whole))
}

/// The configuration without any flags.
pub(crate) fn config(system: &SystemContext) -> Result<Config, Failure> {
    let inputs = ConfigInputs::new(system.environment.clone(), &system.working_dir);
    Config::load(inputs).map_err(Failure::usage)
}
