//! `Quarantine`: where protected names go that a command created. Nothing is deleted.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

/// How many names to try.
const NUMBERS_MAX: usize = 10_000;

const ORIGIN: &str = "origin.txt";

/// A directory that is open, and its path for messages. Nothing on the way to it was a symlink.
pub(super) struct OpenDir {
    pub(super) file: OwnedFd,
    pub(super) path: PathBuf,
}

impl OpenDir {
    /// Opens a directory below `root`, or `root` itself.
    pub(super) fn beneath(root: &Path, path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = rustix::fs::open(root, flags | OFlags::NOFOLLOW, Mode::empty())?;
        let rest = path.strip_prefix(root).map_err(io::Error::other)?;
        if rest.as_os_str().is_empty() {
            return Ok(Self { file: top, path: path.to_path_buf() });
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let file = rustix::fs::openat2(&top, rest, flags, Mode::empty(), resolve)?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// Opens a directory in this one.
    pub(super) fn dir(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.file, name, flags, Mode::empty())?;
        Ok(Self { file, path: self.path.join(name) })
    }

    /// The entries.
    pub(super) fn entries(&self) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.file)? {
            let entry = entry?;
            let name = os_string(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                rustix::fs::FileType::Unknown => {
                    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                    let found = rustix::fs::statat(&self.file, &name, flags)?;
                    rustix::fs::FileType::from_raw_mode(found.st_mode)
                }
                kind => kind,
            };
            entries.push(DirEntry { name, kind });
        }
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

pub(super) struct DirEntry {
    pub(super) name: OsString,
    pub(super) kind: rustix::fs::FileType,
}

fn os_string(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt as _;
    OsStr::from_bytes(bytes).to_os_string()
}

/// Moves the entry `name` of `parent` away, and returns where it is now: into `quarantine`, or if there is none or it is on
/// another file system, to a harmless name beside it.
pub(super) fn put_aside(parent: &OpenDir, name: &OsStr, quarantine: Option<&Path>) -> io::Result<PathBuf> {
    if let Some(dir) = quarantine {
        match into_dir(parent, name, dir) {
            Ok(place) => return Ok(place),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            // Beside it is better than where it is.
            Err(_) => {}
        }
    }
    for number in 1..NUMBERS_MAX {
        let mut place = name.to_os_string();
        place.push(format!(".quarantined-{number}"));
        match rustix::fs::renameat_with(parent.as_fd(), name, parent.as_fd(), &place, RenameFlags::NOREPLACE)
        {
            Ok(()) => return Ok(parent.path.join(place)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn into_dir(parent: &OpenDir, name: &OsStr, dir: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt as _;
    let private = || {
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700);
        builder
    };
    private().recursive(true).create(dir)?;
    let is_slot = |entry: &io::Result<std::fs::DirEntry>| {
        entry.as_ref().is_ok_and(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
    };
    let taken = std::fs::read_dir(dir)?.filter(is_slot).count();
    for number in taken + 1..taken + NUMBERS_MAX {
        let slot = dir.join(number.to_string());
        match private().create(&slot) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
        let place = slot.join(name);
        if let Err(error) = rustix::fs::renameat(parent.as_fd(), name, CWD, &place) {
            drop(std::fs::remove_dir(&slot));
            return Err(error.into());
        }
        let origin = parent.path.join(name);
        // It only helps to find the way back, which the report says too.
        drop(std::fs::write(slot.join(ORIGIN), format!("{}\n", origin.display())));
        return Ok(place);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
