//! What commands begin with: the machine, and what is configured.

use std::io::ErrorKind;
use std::path::PathBuf;

use rheon_app::config::{Config, ConfigInputs};
use rheon_app::session::SystemContext;
use rheon_app::sessions::EnvVars;

use crate::failure::Failure;

/// The machine, the user and the time, with work to be done in `folder`, or in the folder that the user is in.
pub(crate) fn system(folder: Option<PathBuf>) -> Result<SystemContext, Failure> {
    let folder = match folder {
        Some(folder) => folder,
        None => std::env::current_dir().map_err(|error| {
            Failure::error(format_args!("the folder you are in cannot be used: {error}; go to another one"))
        })?,
    };
    let shown = folder.display();
    let whole = folder.canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::usage(format_args!(
            "cannot work in {shown}: there is no such folder; correct its name, or make it first"
        )),
        _ => Failure::usage(format_args!("cannot work in {shown}: {error}; name another folder with -C")),
    })?;
    if !whole.is_dir() {
        return Err(Failure::usage(format_args!(
            "cannot work in {shown}: it is no folder; name the folder that it is in"
        )));
    }
    Ok(SystemContext::of_process(EnvVars::of_process(), whole))
}

/// What is configured, without any flags.
pub(crate) fn config(system: &SystemContext) -> Result<Config, Failure> {
    let inputs = ConfigInputs::new(system.environment.clone(), &system.working_folder);
    Config::load(inputs).map_err(Failure::usage)
}
