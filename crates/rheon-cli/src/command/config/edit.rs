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
use crate::output::remark;

/// Open your settings in your editor, and check them afterwards
///
/// A file that is not there yet begins as one in which everything is explained and nothing is set. The editor is what VISUAL or EDITOR names.
#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    /// The settings of this project instead, which are shared with it
    #[arg(long, conflicts_with = "local")]
    project: bool,

    /// The settings of this project that are only yours
    #[arg(long)]
    local: bool,
}

impl Edit {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let inputs = ConfigInputs::new(system.environment.clone(), &system.working_folder);
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

/// The file of a layer that is ours to write.
fn file_of(layer: Layer, inputs: &ConfigInputs) -> Result<PathBuf, Failure> {
    let is_ours = |path: &Path| path.extension().is_some_and(|extension| extension == "toml");
    let mut paths = config_paths(inputs).into_iter().filter(|it| it.layer == layer && is_ours(&it.path));
    match (paths.next_back(), layer) {
        (Some(found), _) => Ok(found.path),
        (None, Layer::User) => match inputs.folders.config() {
            Err(error) => Err(Failure::error(error)),
            Ok(folder) => Ok(folder.join("config.toml")),
        },
        (None, _) => Err(Failure::usage(
            "your home is no project: its settings are yours; leave --project and --local out, or go to a project",
        )),
    }
}

/// Makes the file where there is none.
fn create(file: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::error(format_args!("cannot make {}: {error}; look who may write there", file.display()))
    };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    match File::create_new(file) {
        Ok(mut made) => {
            made.write_all(template().as_bytes()).map_err(failed)?;
            remark(&format!("made {}", file.display()));
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error)),
    }
}
