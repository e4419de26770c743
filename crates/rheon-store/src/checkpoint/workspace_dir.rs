//! `WorkspaceDir`: folders of the workspace, opened name by name from the root, so that no link on the way is ever followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

const TO_FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The folders of a workspace. The last one stays open, because paths come in order.
pub(super) struct WorkspaceDir {
    root: OwnedFd,
    last: Option<(PathBuf, OwnedFd)>,
}

/// What stands under a name.
pub(super) struct Found {
    pub(super) kind: FileType,
    pub(super) stat: Stat,
}

impl WorkspaceDir {
    /// The folders of the workspace at `root`.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: rustix::fs::openat(CWD, root, TO_FOLDER, Mode::empty())?, last: None })
    }

    /// What stands under `path`, if anything does. A link on the way means that nothing does.
    pub(super) fn find(&mut self, path: &Path) -> io::Result<Option<Found>> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let found = match self.parent(path) {
            Ok(folder) => rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW),
            Err(error) => Err(error),
        };
        match found {
            Ok(stat) => Ok(Some(Found { kind: FileType::from_raw_mode(stat.st_mode), stat })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the file at `path` to read it. Does not wait, whatever it is.
    pub(super) fn read(&mut self, path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(self.parent(path)?, named(path)?, flags, Mode::empty())?.into())
    }

    /// Where the link at `path` leads.
    pub(super) fn target(&mut self, path: &Path) -> io::Result<OsString> {
        let target = rustix::fs::readlinkat(self.parent(path)?, named(path)?, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// A new file `name` in the folder of `path`, on the disk with all its content.
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

    /// A new link `name` in the folder of `path`.
    pub(super) fn draft_link(&mut self, path: &Path, name: &OsStr, target: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, self.parent(path)?, name)?)
    }

    /// Lets the draft `name` take the place of `path`, in the folder that the draft is in. In an empty place nothing that
    /// came in the meantime is replaced.
    pub(super) fn publish(&mut self, path: &Path, name: &OsStr, place: Place) -> io::Result<()> {
        let folder = self.parent(path)?;
        let to = named(path)?;
        match place {
            Place::Taken => rustix::fs::renameat(folder, name, folder, to)?,
            Place::Empty => match rustix::fs::renameat_with(folder, name, folder, to, RenameFlags::NOREPLACE)
            {
                // Some file systems do not know the flag; a hard link refuses to replace as well.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::linkat(folder, name, folder, to, AtFlags::empty())?;
                    rustix::fs::unlinkat(folder, name, AtFlags::empty())?;
                }
                renamed => renamed?,
            },
        }
        // The name is there; a folder that cannot be synced loses it only together with the whole machine.
        rustix::fs::fsync(folder).ok();
        Ok(())
    }

    /// Removes the file or link at `path`.
    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.unlink(path, named(path)?)
    }

    /// Removes the file or link `name` in the folder of `path`.
    pub(super) fn unlink(&mut self, path: &Path, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.parent(path)?, name, AtFlags::empty())?)
    }

    /// Removes the folder at `path`, if nothing is in it.
    pub(super) fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.last = None;
        Ok(rustix::fs::unlinkat(self.parent(path)?, named(path)?, AtFlags::REMOVEDIR)?)
    }

    /// Makes the folder at `path`.
    pub(super) fn make_folder(&mut self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(self.parent(path)?, named(path)?, Mode::RWXU)?)
    }

    /// Gives the folder at `path` its mode.
    pub(super) fn set_folder_mode(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        let folder = rustix::fs::openat(self.parent(path)?, named(path)?, TO_FOLDER, Mode::empty())?;
        Ok(rustix::fs::fchmod(folder, mode_of(mode))?)
    }

    /// Opens the folder of `path` anew: what was done meanwhile may have moved it.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    fn parent(&mut self, path: &Path) -> Result<&OwnedFd, Errno> {
        let folder = path.parent().unwrap_or(Path::new(""));
        if folder.as_os_str().is_empty() {
            return Ok(&self.root);
        }
        if self.last.as_ref().is_none_or(|(last, _)| last != folder) {
            self.last = Some((folder.to_owned(), self.descend(folder)?));
        }
        self.last.as_ref().map(|(_, fd)| fd).ok_or(Errno::NOENT)
    }

    fn descend(&self, folder: &Path) -> Result<OwnedFd, Errno> {
        let mut fd: Option<OwnedFd> = None;
        for part in folder.components() {
            let Component::Normal(name) = part else { return Err(Errno::INVAL) };
            fd = Some(rustix::fs::openat(fd.as_ref().unwrap_or(&self.root), name, TO_FOLDER, Mode::empty())?);
        }
        fd.ok_or(Errno::INVAL)
    }
}

/// What is in the place that a draft takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Empty,
    Taken,
}

fn named(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no name"))
}

/// Only who may read, write and execute; nothing that lends the rights of another user.
fn mode_of(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o777) as _)
}
