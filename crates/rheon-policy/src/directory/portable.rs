//! `DirectoryHandle` based on paths, for systems that cannot open relative to a directory. It checks for symlinks
//! before and after.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::entry::{DirectoryEntry, NAMES_MAX, OnMissing, Overwrite, temporary_name};

/// A directory whose path contains no symlinks.
#[derive(Debug)]
pub struct DirectoryHandle {
    path: PathBuf,
}

/// A file that is written and synced, under a temporary name. Dropping it removes the file unless it was published.
#[derive(Debug)]
pub struct FileDraft<'a> {
    dir: &'a DirectoryHandle,
    name: OsString,
    is_published: bool,
}

impl DirectoryHandle {
    /// Opens the directory `relative` in `root`. No component of `relative` may be a symlink or `..`.
    pub fn open(root: &Path, relative: &Path, missing: OnMissing) -> io::Result<Self> {
        let mut dir = Self { path: root.to_owned() };
        for component in relative.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path contains . or .."));
            };
            dir.path.push(name);
            let is_missing = dir.path.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
            if is_missing && missing == OnMissing::Create {
                std::fs::create_dir(&dir.path)?;
            }
            dir.check()?;
        }
        dir.check()?;
        Ok(dir)
    }

    /// Opens `name` if it is a regular file.
    pub fn entry(&self, name: &OsStr) -> io::Result<DirectoryEntry> {
        self.check()?;
        let path = self.path.join(name);
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DirectoryEntry::Absent),
            Err(error) => return Err(error),
        };
        if found.is_dir() {
            return Ok(DirectoryEntry::Directory);
        }
        if !found.is_file() {
            return Ok(DirectoryEntry::Other(if found.is_symlink() {
                "a symlink"
            } else {
                "a device, a pipe or a socket"
            }));
        }
        let file = File::open(&path)?;
        self.check()?;
        if path.is_symlink() || !file.metadata()?.is_file() {
            return Ok(DirectoryEntry::Other("something that was just replaced"));
        }
        Ok(DirectoryEntry::File(file))
    }

    /// Opens the regular file at `relative`. Follows no symlinks.
    pub fn file(&self, relative: &Path) -> io::Result<File> {
        let parent = Self::open(&self.path, relative.parent().unwrap_or(relative), OnMissing::Refuse)?;
        match parent.entry(relative.file_name().unwrap_or_default())? {
            DirectoryEntry::File(file) => Ok(file),
            DirectoryEntry::Absent | DirectoryEntry::Directory | DirectoryEntry::Other(_) => {
                Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
            }
        }
    }

    /// Writes `content` to a temporary file and syncs it. The file takes over the mode of `old`.
    pub fn draft(&self, content: &[u8], old: Option<&File>) -> io::Result<FileDraft<'_>> {
        self.check()?;
        for _ in 0..NAMES_MAX {
            let name = temporary_name();
            let opened = OpenOptions::new().write(true).create_new(true).open(self.path.join(&name));
            let mut file = match opened {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let draft = FileDraft { dir: self, name, is_published: false };
            self.check()?;
            file.write_all(content)?;
            if let Some(old) = old {
                file.set_permissions(old.metadata()?.permissions())?;
            }
            file.sync_all()?;
            return Ok(draft);
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "cannot find a free name for a temporary file"))
    }

    /// Like [`Self::draft`], but readable only by the user where the system supports that.
    pub fn private_draft(&self, content: &[u8]) -> io::Result<FileDraft<'_>> {
        let draft = self.draft(b"", None)?;
        let path = self.path.join(&draft.name);
        let mut file = OpenOptions::new().write(true).open(&path)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        file.write_all(content)?;
        file.sync_all()?;
        Ok(draft)
    }

    /// Removes the file or symlink `name`. Returns `false` if there is none.
    pub fn remove(&self, name: &OsStr) -> io::Result<bool> {
        self.check()?;
        match std::fs::remove_file(self.path.join(name)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Checks that the path still resolves to itself.
    fn check(&self) -> io::Result<()> {
        if self.path.canonicalize()? == self.path && self.path.is_dir() {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::NotADirectory, "a component of the path is a symlink"))
    }
}

impl FileDraft<'_> {
    /// Renames the file to `name` atomically.
    pub fn publish(mut self, name: &OsStr, over: Overwrite) -> io::Result<()> {
        self.dir.check()?;
        let (from, to) = (self.dir.path.join(&self.name), self.dir.path.join(name));
        match over {
            Overwrite::Allow => std::fs::rename(from, to)?,
            Overwrite::Refuse => {
                std::fs::hard_link(&from, to)?;
                std::fs::remove_file(from)?;
            }
        }
        self.is_published = true;
        Ok(())
    }
}

impl Drop for FileDraft<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            // There is nothing to do about a temporary file that cannot be removed.
            std::fs::remove_file(self.dir.path.join(&self.name)).ok();
        }
    }
}
