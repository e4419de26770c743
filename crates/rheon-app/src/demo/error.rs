//! What can go wrong around the demo's run; what goes wrong inside it is in the run's output.

use std::io;
use std::path::PathBuf;

use rheon_providers::scripted::ScenarioError;
use rheon_types::ClientError;

use crate::config::ConfigError;

/// A demo that could not be played, or could not be cleaned up.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// There is no place to work in.
    #[error("cannot make a workspace in {}: {}; set TMPDIR to a folder that can be written", folder.display(), words(source))]
    Workspace {
        /// Where it was to be.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The bundled scenario is broken, which is a fault of this program.
    #[error("the bundled scenario is broken: {0}")]
    Scenario(#[from] ScenarioError),
    /// The settings of the machine do not let it run.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its session could not be opened, or the run could not begin.
    #[error(transparent)]
    Run(#[from] ClientError),
    /// The run ended without saying how.
    #[error("the run was lost")]
    Lost,
    /// The workspace is still there.
    #[error("cannot remove the workspace {}: {}; remove it by hand", path.display(), words(source))]
    Cleanup {
        /// Where it is.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// What the system says, without the path, which would be said twice.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such folder".into(),
        kind => kind.to_string(),
    }
}
