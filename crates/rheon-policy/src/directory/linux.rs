//! `DirectoryHandle` based on file descriptors: every step is relative to an open directory and follows no symlinks.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, XattrFlags};
use rustix::io::Errno;

use super::entry::{DirectoryEntry, NAMES_MAX, OnMissing, Overwrite, temporary_name};

#[derive(Debug)]
pub struct DirectoryHandle {
    fd: OwnedFd,
}

/// A file that is written and synced, under a temporary name. Dropping it removes the file unless it was published.
#[derive(Debug)]
pub struct FileDraft<'a> {
    dir: &'a DirectoryHandle,
    name: OsString,
    is_published: bool,
}

const TO_DIR: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl DirectoryHandle {
    /// Opens the directory `relative` in `root`. No component of `relative` may be a symlink or `..`.
    pub fn open(root: &Path, relative: &Path, missing: OnMissing) -> io::Result<Self> {
        let root = rustix::fs::openat(CWD, root, TO_DIR, Mode::empty())?;
        if relative.as_os_str().is_empty() {
            return Ok(Self { fd: root });
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(&root, relative, TO_DIR, Mode::empty(), resolve) {
            Ok(fd) => Ok(Self { fd }),
            Err(Errno::NOENT) if missing == OnMissing::Create => by_steps(root, relative, missing),
            // Old kernels, and seccomp filters without this call, need the slower way.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => by_steps(root, relative, missing),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens `name` if it is a regular file. Never blocks.
    pub fn entry(&self, name: &OsStr) -> io::Result<DirectoryEntry> {
        let found = match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(DirectoryEntry::Absent),
            Err(error) => return Err(error.into()),
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(DirectoryEntry::Directory),
            other => return Ok(DirectoryEntry::Other(kind_of(other))),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.fd, name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Ok(DirectoryEntry::Other("something that was just replaced"));
        }
        if is_made_up(&file) {
            return Ok(DirectoryEntry::Other("a kernel file"));
        }
        Ok(DirectoryEntry::File(file))
    }

    /// Opens the regular file at `relative`, in one step if the kernel supports that. Follows no symlinks and never
    /// blocks.
    pub fn file(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let opened = match rustix::fs::openat2(&self.fd, relative, flags, Mode::empty(), resolve) {
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {
                let parent =
                    by_steps(self.fd.try_clone()?, relative.parent().unwrap_or(relative), OnMissing::Refuse)?;
                let name = relative.file_name().unwrap_or_default();
                rustix::fs::openat(&parent.fd, name, flags, Mode::empty())?
            }
            opened => opened?,
        };
        let file = File::from(opened);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(file)
    }

    /// Writes `content` to a temporary file and syncs it. The file takes over the permissions and attributes of `old`.
    pub fn draft(&self, content: &[u8], old: Option<&File>) -> io::Result<FileDraft<'_>> {
        // A file that replaces a private one is private from its first byte.
        let mode = if old.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
        self.draft_with(content, mode, old)
    }

    /// Like [`Self::draft`], but readable only by the user.
    pub fn private_draft(&self, content: &[u8]) -> io::Result<FileDraft<'_>> {
        self.draft_with(content, Mode::RUSR | Mode::WUSR, None)
    }

    /// Removes the file or symlink `name`. Returns `false` if there is none.
    pub fn remove(&self, name: &OsStr) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn draft_with(&self, content: &[u8], mode: Mode, old: Option<&File>) -> io::Result<FileDraft<'_>> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..NAMES_MAX {
            let name = temporary_name();
            let fd = match rustix::fs::openat(&self.fd, &*name, flags, mode) {
                Ok(fd) => fd,
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(error.into()),
            };
            let draft = FileDraft { dir: self, name, is_published: false };
            let mut file = File::from(fd);
            file.write_all(content)?;
            if let Some(old) = old {
                take_over(old, &file)?;
            }
            file.sync_all()?;
            return Ok(draft);
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "cannot find a free name for a temporary file"))
    }
}

impl FileDraft<'_> {
    /// Renames the file to `name` atomically.
    pub fn publish(mut self, name: &OsStr, over: Overwrite) -> io::Result<()> {
        let fd = &self.dir.fd;
        match over {
            Overwrite::Allow => rustix::fs::renameat(fd, &*self.name, fd, name)?,
            Overwrite::Refuse => {
                match rustix::fs::renameat_with(fd, &*self.name, fd, name, RenameFlags::NOREPLACE) {
                    // Some file systems do not support the flag. A hard link does not replace a file either.
                    Err(Errno::INVAL | Errno::NOSYS) => {
                        rustix::fs::linkat(fd, &*self.name, fd, name, AtFlags::empty())?;
                        rustix::fs::unlinkat(fd, &*self.name, AtFlags::empty())?;
                    }
                    result => result?,
                }
            }
        }
        self.is_published = true;
        // The rename is done. If the directory cannot be synced, only a system crash can lose it.
        let dir = rustix::fs::openat(fd, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        dir.and_then(rustix::fs::fsync).or(Ok(()))
    }
}

impl Drop for FileDraft<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            // There is nothing to do about a temporary file that cannot be removed.
            rustix::fs::unlinkat(&self.dir.fd, &*self.name, AtFlags::empty()).ok();
        }
    }
}

/// Limit for the names, and for each value, of copied attributes.
const ATTRIBUTES_BYTES_MAX: usize = 64 * 1024;

/// Copies metadata from `old` to `new`: owner and attributes on a best-effort basis, the mode always.
fn take_over(old: &File, new: &File) -> io::Result<()> {
    let (wanted, given) = (old.metadata()?, new.metadata()?);
    if (wanted.uid(), wanted.gid()) != (given.uid(), given.gid()) {
        // An unprivileged user can only change the group, so try that if the first call is refused.
        std::os::unix::fs::fchown(new, Some(wanted.uid()), Some(wanted.gid()))
            .or_else(|_| std::os::unix::fs::fchown(new, None, Some(wanted.gid())))
            .unwrap_or_default();
    }
    let mut names = vec![0; ATTRIBUTES_BYTES_MAX];
    let length = rustix::fs::flistxattr(old, &mut names).unwrap_or_default();
    let mut value = vec![0; if length > 0 { ATTRIBUTES_BYTES_MAX } else { 0 }];
    let names = names.get(..length).unwrap_or_default().split(|byte| *byte == 0);
    for name in names.filter(|name| !name.is_empty()) {
        let held = rustix::fs::fgetxattr(old, name, &mut value).ok().and_then(|length| value.get(..length));
        if let Some(held) = held {
            // Some attributes belong to the system, which sets them itself.
            rustix::fs::fsetxattr(new, name, held, XattrFlags::empty()).unwrap_or_default();
        }
    }
    new.set_permissions(Permissions::from_mode(wanted.mode() & 0o777))
}

fn by_steps(root: OwnedFd, relative: &Path, missing: OnMissing) -> io::Result<DirectoryHandle> {
    let mut fd = root;
    for component in relative.components() {
        let Component::Normal(name) = component else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path contains . or .."));
        };
        let mut next = rustix::fs::openat(&fd, name, TO_DIR, Mode::empty());
        if matches!(next, Err(Errno::NOENT)) && missing == OnMissing::Create {
            match rustix::fs::mkdirat(&fd, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            next = rustix::fs::openat(&fd, name, TO_DIR, Mode::empty());
        }
        fd = next?;
    }
    Ok(DirectoryHandle { fd })
}

fn kind_of(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Symlink => "a symlink",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::RegularFile | FileType::Directory | FileType::Unknown => "of unknown type",
    }
}

/// File systems without stored files: reading may block, have side effects, or reveal secrets of other processes.
const MADE_UP: [u64; 10] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6367_7270, // cgroup2
    0x0027_e0eb, // cgroup
    0xcafe_4a11, // bpf
    0xde5e_81e4, // efivarfs
    0x6265_6570, // configfs
];

fn is_made_up(file: &File) -> bool {
    // The type is signed on some machines. Only its lower half carries the number.
    rustix::fs::fstatfs(file).is_ok_and(|found| MADE_UP.contains(&((found.f_type as u64) & 0xffff_ffff)))
}
