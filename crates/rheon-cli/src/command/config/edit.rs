//! `rheon config edit`.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use rheon_app::config::{ConfigInputs, Layer, config_paths, template};

use super::validate;
use crate::command::setup::system;
use crate::editor;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print_note;

/// Edit your settings and validate them
///
/// A new file explains every setting and sets none. VISUAL or EDITOR names the editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    /// Edit the project's shared settings
    #[arg(long, conflicts_with = "local")]
    project: bool,

    /// Edit your personal settings for this project
    #[arg(long)]
    local: bool,
}

impl Edit {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let inputs = ConfigInputs::new(system.environment.clone(), &system.working_dir);
        let layer = match (self.project, self.local) {
            (true, _) => Layer::Project,
            (false, true) => Layer::ProjectLocal,
            (false, false) => Layer::User,
        };
        let file = file_of(layer, &inputs)?;
        create(&file)?;
        editor::edit(&file, &system.environment)?;
        validate::validate(&file, &system)
    }
}

fn file_of(layer: Layer, inputs: &ConfigInputs) -> Result<PathBuf, Failure> {
    let is_ours = |path: &Path| path.extension().is_some_and(|extension| extension == "toml");
    let mut paths = config_paths(inputs).into_iter().filter(|it| it.layer == layer && is_ours(&it.path));
    match (paths.next_back(), layer) {
        (Some(found), _) => Ok(found.path),
        (None, Layer::User) => match inputs.dirs.config() {
            Err(error) => Err(Failure::error(error)),
            Ok(dir) => Ok(dir.join("config.toml")),
        },
        (None, _) => Err(Failure::usage(
            "your home directory is not a project; leave out --project and --local, or change to a project",
        )),
    }
}

fn create(file: &Path) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::error(format_args!("cannot create {}: {error}", file.display()));
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(failed)?;
    }
    match File::create_new(file) {
        Ok(mut made) => {
            made.write_all(template().as_bytes()).map_err(failed)?;
            print_note(&format!("made {}", file.display()));
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error)),
    }
}
