//! `Project`: a fresh repository with a test that fails.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use super::error::DemoError;

/// Its files.
const FILES: [(&str, &str); 3] = [
    ("README.md", include_str!("project/README.md")),
    ("slug.sh", include_str!("project/slug.sh")),
    ("test.sh", include_str!("project/test.sh")),
];

/// A new repository in a private directory. Removed on drop, unless `keep` was called.
#[derive(Debug)]
pub(super) struct Project {
    dir: TempDir,
}

impl Project {
    /// Makes one inside `parent`. Where there is no git, it is a directory like any other.
    pub(super) async fn create(parent: &Path) -> Result<Self, DemoError> {
        let failed = |source| DemoError::Workspace { dir: parent.to_owned(), source };
        let dir = tempfile::Builder::new().prefix("rheon-demo-").tempdir_in(parent).map_err(failed)?;
        for (name, text) in FILES {
            std::fs::write(dir.path().join(name), text).map_err(failed)?;
        }
        executable(&dir.path().join("test.sh")).map_err(failed)?;
        let project = Self { dir };
        // Nothing of the demo depends on it.
        project.commit().await.ok();
        Ok(project)
    }

    async fn commit(&self) -> io::Result<()> {
        self.git(&["init", "--quiet", "--initial-branch=main"]).await?;
        self.git(&["add", "."]).await?;
        let who = ["-c", "user.name=Rheon demo", "-c", "user.email=demo@localhost"];
        let commit = ["-c", "commit.gpgsign=false", "commit", "--quiet", "--message=A test that fails"];
        self.git(&[who.as_slice(), commit.as_slice()].concat()).await
    }

    /// Runs git without the user's own hooks and templates.
    async fn git(&self, arguments: &[&str]) -> io::Result<()> {
        let mut command = Command::new("git");
        command
            .args(["-c", "core.hooksPath=/dev/null", "-c", "init.templateDir="])
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        if command.status().await?.success() { Ok(()) } else { Err(io::Error::other("git failed")) }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// DemoFiles it where it is.
    pub(super) fn keep(self) -> PathBuf {
        self.dir.keep()
    }

    /// Removes it and reports a failure, which a drop cannot.
    pub(super) fn remove(self) -> Result<(), DemoError> {
        let path = self.path().to_owned();
        self.dir.close().map_err(|source| DemoError::Cleanup { path, source })
    }
}

#[cfg(unix)]
fn executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_file: &Path) -> io::Result<()> {
    Ok(())
}
