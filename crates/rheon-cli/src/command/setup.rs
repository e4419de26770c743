//! What commands begin with: the machine, and what is configured.

use std::io::ErrorKind;
use std::path::PathBuf;

use rheon_app::config::{Config, ConfigInputs};
use rheon_app::keeping::Environment;
use rheon_app::session::Surroundings;

use crate::failure::Failure;

/// The machine, the user and the time, with work to be done in `folder`, or in the folder that the user is in.
pub(crate) fn surroundings(folder: Option<PathBuf>) -> Result<Surroundings, Failure> {
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
    Ok(Surroundings::of_process(Environment::of_process(), whole))
}

/// What is configured, without any flags.
pub(crate) fn config(surroundings: &Surroundings) -> Result<Config, Failure> {
    let inputs = ConfigInputs::new(surroundings.environment.clone(), &surroundings.working_folder);
    Config::load(inputs).map_err(Failure::usage)
}
