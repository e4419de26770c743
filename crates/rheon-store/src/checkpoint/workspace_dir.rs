//! `WorkspaceDir`: opens directories of the workspace one component at a time, so that no link is ever followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

const TO_DIR: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The directories of a workspace. The last one stays open, because paths come in order.
pub(super) struct WorkspaceDir {
    root: OwnedFd,
    last: Option<(PathBuf, OwnedFd)>,
}

pub(super) struct PathStatus {
    pub(super) kind: FileType,
    pub(super) stat: Stat,
}

impl WorkspaceDir {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: rustix::fs::openat(CWD, root, TO_DIR, Mode::empty())?, last: None })
    }

    /// The metadata of `path`, if it exists. Returns `None` if a link is on the way.
    pub(super) fn find(&mut self, path: &Path) -> io::Result<Option<PathStatus>> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let found = match self.parent(path) {
            Ok(dir) => rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW),
            Err(error) => Err(error),
        };
        match found {
            Ok(stat) => Ok(Some(PathStatus { kind: FileType::from_raw_mode(stat.st_mode), stat })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the file at `path` for reading. Never blocks, even on a pipe.
    pub(super) fn read(&mut self, path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(self.parent(path)?, named(path)?, flags, Mode::empty())?.into())
    }

    /// The target of the link at `path`.
    pub(super) fn target(&mut self, path: &Path) -> io::Result<OsString> {
        let target = rustix::fs::readlinkat(self.parent(path)?, named(path)?, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Writes and syncs a new file `name` in the directory of `path`.
    pub(super) fn draft_file(
        &mut self,
        path: &Path,
        name: &OsStr,
        content: &[u8],
        mode: u32,
    ) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(self.parent(path)?, name, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(fd);
        file.write_all(content)?;
        rustix::fs::fchmod(&file, mode_of(mode))?;
        file.sync_all()
    }

    /// Creates a link `name` in the directory of `path`.
    pub(super) fn draft_link(&mut self, path: &Path, name: &OsStr, target: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, self.parent(path)?, name)?)
    }

    /// Renames the draft `name` to `path`, in the same directory. With `Place::Empty` it never replaces anything.
    pub(super) fn publish(&mut self, path: &Path, name: &OsStr, target_state: Target) -> io::Result<()> {
        let dir = self.parent(path)?;
        let to = named(path)?;
        match target_state {
            Target::Taken => rustix::fs::renameat(dir, name, dir, to)?,
            Target::Empty => match rustix::fs::renameat_with(dir, name, dir, to, RenameFlags::NOREPLACE) {
                // Some file systems do not support the flag. A hard link does not replace either.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::linkat(dir, name, dir, to, AtFlags::empty())?;
                    rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
                }
                renamed => renamed?,
            },
        }
        // The rename is done. A failed sync matters only if the machine crashes.
        rustix::fs::fsync(dir).ok();
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.unlink(path, named(path)?)
    }

    pub(super) fn unlink(&mut self, path: &Path, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.parent(path)?, name, AtFlags::empty())?)
    }

    /// Removes the directory at `path` if it is empty.
    pub(super) fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        self.last = None;
        Ok(rustix::fs::unlinkat(self.parent(path)?, named(path)?, AtFlags::REMOVEDIR)?)
    }

    pub(super) fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(self.parent(path)?, named(path)?, Mode::RWXU)?)
    }

    pub(super) fn set_dir_mode(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        let dir = rustix::fs::openat(self.parent(path)?, named(path)?, TO_DIR, Mode::empty())?;
        Ok(rustix::fs::fchmod(dir, mode_of(mode))?)
    }

    /// Closes the cached directory, which may have been moved.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    fn parent(&mut self, path: &Path) -> Result<&OwnedFd, Errno> {
        let dir = path.parent().unwrap_or(Path::new(""));
        if dir.as_os_str().is_empty() {
            return Ok(&self.root);
        }
        if self.last.as_ref().is_none_or(|(last, _)| last != dir) {
            self.last = Some((dir.to_owned(), self.descend(dir)?));
        }
        self.last.as_ref().map(|(_, fd)| fd).ok_or(Errno::NOENT)
    }

    fn descend(&self, dir: &Path) -> Result<OwnedFd, Errno> {
        let mut fd: Option<OwnedFd> = None;
        for part in dir.components() {
            let Component::Normal(name) = part else { return Err(Errno::INVAL) };
            fd = Some(rustix::fs::openat(fd.as_ref().unwrap_or(&self.root), name, TO_DIR, Mode::empty())?);
        }
        fd.ok_or(Errno::INVAL)
    }
}

/// Whether the target of a draft exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Empty,
    Taken,
}

fn named(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no name"))
}

/// Only the permission bits, without setuid and setgid.
fn mode_of(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o777) as _)
}
