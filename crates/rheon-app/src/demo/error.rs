//! What can go wrong around the demo's run; what goes wrong inside it is in the run's output.

use std::io;
use std::path::PathBuf;

use rheon_providers::scripted::ScenarioError;
use rheon_types::ClientError;

use crate::config::ConfigError;

/// A demo that could not be played, or could not be cleaned up.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("cannot create a workspace in {}: {}; set TMPDIR to a writable directory", dir.display(), words(source))]
    Workspace { dir: PathBuf, source: io::Error },
    /// The bundled scenario is broken, which is a fault of this program.
    #[error("the bundled scenario is broken: {0}")]
    Scenario(#[from] ScenarioError),
    /// The settings of the machine do not let it run.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its session could not be opened, or the run could not begin.
    #[error(transparent)]
    Run(#[from] ClientError),
    #[error("the run ended without a result")]
    Lost,
    #[error("cannot remove the workspace {}: {}; remove it by hand", path.display(), words(source))]
    Cleanup { path: PathBuf, source: io::Error },
}

/// The error of the system without the path, which the message already has.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such directory".into(),
        kind => kind.to_string(),
    }
}
