//! `Mounts`: sets up the file system of a process in new namespaces. The whole machine is cloned as read-only mounts,
//! paths are mounted on top, and the clone becomes the root; the old root is unmounted.
//!
//! Everything is prepared in advance, because the setup runs in a process that shares the agent's memory (see `Plan`).
//! Every path is opened without following symlinks, so that no mount can be redirected.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags,
};

use super::execution::{PathView, ResourceLimits, View};
use super::wire::Overlay;

/// A view that can be set up without allocating.
pub(super) struct Mounts {
    steps: Vec<Step>,
    /// The highest number of a process, as text.
    processes_max: Option<String>,
}

/// One mount of the view. Paths are relative to the root.
struct Step {
    place: CString,
    kind: MountKind,
    /// The directories above the path, in case a mount on top of them does not contain them.
    above: Vec<CString>,
}

enum MountKind {
    Empty,
    Absent,
    Guarded,
    Directory(Source),
    File(Source),
}

struct Source {
    path: CString,
    writing: Writing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Allowed,
    Forbidden,
}

impl Mounts {
    pub(super) fn new(view: &View, limits: ResourceLimits) -> io::Result<Self> {
        let steps = view.places.iter().map(|(place, shown)| step(place, shown)).collect::<io::Result<_>>()?;
        // An older kernel has one setting for the whole machine.
        let processes_max = limits.processes.filter(|_| has_own_process_numbers());
        let processes_max = processes_max.map(|processes| processes.max(PROCESSES_MIN).to_string());
        Ok(Self { steps, processes_max })
    }

    /// Sets everything up, in a process with all namespaces and all capabilities in them.
    pub(super) fn arrange(&self) -> rustix::io::Result<()> {
        rustix::mount::mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let before = rustix::fs::open(c"/", DIR, Mode::empty())?;
        let root = copy_of(before.as_fd(), &TO_LOOK_AT)?;
        // Nothing in the view comes from where the clone is attached.
        let somewhere = rustix::fs::open(c"/proc", DIR, Mode::empty())?;
        attach(&root, somewhere.as_fd())?;
        arrange_processes(root.as_fd(), self.processes_max.as_deref())?;
        arrange_devices(before.as_fd(), root.as_fd())?;
        for step in &self.steps {
            step.arrange(before.as_fd(), root.as_fd())?;
        }
        rustix::process::fchdir(&root)?;
        rustix::process::pivot_root(c".", c".")?;
        // The old root is now on top of the new one.
        rustix::mount::unmount(c".", UnmountFlags::DETACH)?;
        rustix::process::chdir(c"/")
    }
}

fn step(place: &Path, shown: &PathView) -> io::Result<Step> {
    let source = |path: &Path, writing| -> io::Result<MountKind> {
        let source = Source { path: relative(path)?, writing };
        Ok(if path.is_dir() { MountKind::Directory(source) } else { MountKind::File(source) })
    };
    let kind = match shown {
        PathView::Empty => MountKind::Empty,
        PathView::Absent => MountKind::Absent,
        PathView::Guarded => MountKind::Guarded,
        PathView::ReadOnly(path) => source(path, Writing::Forbidden)?,
        PathView::Writable(path) => source(path, Writing::Allowed)?,
    };
    let mut above: Vec<CString> = place
        .ancestors()
        .skip(1)
        .filter(|path| path.parent().is_some())
        .map(relative)
        .collect::<io::Result<_>>()?;
    above.reverse();
    Ok(Step { place: relative(place)?, kind, above })
}

fn relative(path: &Path) -> io::Result<CString> {
    let path =
        path.strip_prefix("/").map_err(|_| io::Error::other("a mount point must be an absolute path"))?;
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Attributes of a mount.
#[derive(Clone, Copy)]
enum Attribute {
    ReadOnly,
    /// No setuid.
    WithoutRights,
    /// No devices.
    WithoutDevices,
}

const TO_LOOK_AT: [Attribute; 3] = [Attribute::ReadOnly, Attribute::WithoutRights, Attribute::WithoutDevices];

impl Step {
    fn arrange(&self, before: BorrowedFd<'_>, root: BorrowedFd<'_>) -> rustix::io::Result<()> {
        match &self.kind {
            // A path that does not exist need not be hidden.
            MountKind::Empty => match self.cover(root, |_| fresh(c"tmpfs", Some(READABLE))) {
                Err(Errno::NOENT) => Ok(()),
                done => done,
            },
            MountKind::Absent => {
                let nothing = |_: BorrowedFd<'_>| copy_of(opened(before, c"dev/null")?.as_fd(), &TO_LOOK_AT);
                match self.cover(root, nothing) {
                    Err(Errno::NOENT) => Ok(()),
                    done => done,
                }
            }
            MountKind::Guarded => match self.cover(root, |place| copy_of(place, &TO_LOOK_AT)) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
                done => done,
            },
            MountKind::Directory(source) | MountKind::File(source) => {
                let shown = opened(before, &source.path)?;
                let shown = match source.writing {
                    Writing::Allowed => {
                        copy_of(shown.as_fd(), &[Attribute::WithoutRights, Attribute::WithoutDevices])?
                    }
                    Writing::Forbidden => copy_of(shown.as_fd(), &TO_LOOK_AT)?,
                };
                let place = match opened(root, &self.place) {
                    Err(Errno::NOENT) => {
                        self.make_place(root)?;
                        opened(root, &self.place)?
                    }
                    found => found?,
                };
                attach(&shown, place.as_fd())
            }
        }
    }

    /// Mounts something over what is at the path. What is replaced in between is covered by another attempt.
    fn cover(
        &self,
        root: BorrowedFd<'_>,
        mount: impl Fn(BorrowedFd<'_>) -> rustix::io::Result<OwnedFd>,
    ) -> rustix::io::Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            let place = opened(root, &self.place)?;
            match mount(place.as_fd()).and_then(|mount| attach(&mount, place.as_fd())) {
                Err(Errno::NOENT) => {}
                done => return done,
            }
        }
        Err(Errno::AGAIN)
    }

    /// Creates a mount point, with the directories above it.
    fn make_place(&self, root: BorrowedFd<'_>) -> rustix::io::Result<()> {
        let make_dir = |path: &CStr| match rustix::fs::mkdirat(root, path, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error),
        };
        for dir in &self.above {
            // An existing one may be where nothing can be created.
            if matches!(opened(root, dir), Err(Errno::NOENT)) {
                make_dir(dir)?;
            }
        }
        match self.kind {
            MountKind::File(_) => make_file(root, &self.place),
            MountKind::Directory(_) | MountKind::Empty | MountKind::Absent | MountKind::Guarded => {
                make_dir(&self.place)
            }
        }
    }
}

/// How often to mount over a path that others replace at the same time.
const ATTEMPTS_MAX: usize = 100;

const DIR: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a path below `root` without following symlinks.
fn opened(root: BorrowedFd<'_>, path: &CStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS)
}

fn make_file(root: BorrowedFd<'_>, path: &CStr) -> rustix::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::openat(root, path, flags, Mode::from_raw_mode(0o644)).map(drop)
}

/// Clones what is at a path, including its mounts, without attaching it.
fn copy_of(place: BorrowedFd<'_>, attributes: &[Attribute]) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let copy = rustix::mount::open_tree(place, c"", flags)?;
    kernel::set_attributes(copy.as_fd(), attributes)?;
    Ok(copy)
}

/// An option of a new file system.
struct MountOption {
    name: &'static CStr,
    value: &'static CStr,
}

/// Everybody may look into it.
const READABLE: MountOption = MountOption { name: c"mode", value: c"0755" };

/// A file system of its own that is nowhere yet.
fn fresh(kind: &CStr, option: Option<MountOption>) -> rustix::io::Result<OwnedFd> {
    let system = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    if let Some(MountOption { name, value }) = option {
        rustix::mount::fsconfig_set_string(&system, name, value)?;
    }
    rustix::mount::fsconfig_create(&system)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    rustix::mount::fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn attach(mount: &OwnedFd, place: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", place, c"", flags)
}

/// The lowest number that the kernel accepts as the highest.
const PROCESSES_MIN: u64 = 301;

/// Whether every PID namespace has numbers of its own: since Linux 6.14.
fn has_own_process_numbers() -> bool {
    let name = rustix::system::uname();
    let mut numbers = name.release().to_str().unwrap_or_default().split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok()).unwrap_or_default();
    (next(), next()) >= (6, 14)
}

/// The parts of `/proc` that show or change the machine itself.
const OF_THE_MACHINE: [&CStr; 4] = [c"proc/sys", c"proc/sysrq-trigger", c"proc/irq", c"proc/bus"];

/// Mounts a `/proc` for the namespace, and prevents new user namespaces, in which a process would have capabilities
/// again.
fn arrange_processes(root: BorrowedFd<'_>, processes_max: Option<&str>) -> rustix::io::Result<()> {
    attach(&fresh(c"proc", None)?, opened(root, c"proc")?.as_fd())?;
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let limit = rustix::fs::openat(root, c"proc/sys/user/max_user_namespaces", flags, Mode::empty())?;
    rustix::io::write(&limit, b"0")?;
    if let Some(text) = processes_max {
        let numbers = rustix::fs::openat(root, c"proc/sys/kernel/pid_max", flags, Mode::empty())?;
        rustix::io::write(&numbers, text.as_bytes())?;
    }
    for path in OF_THE_MACHINE {
        match opened(root, path) {
            Ok(place) => {
                attach(&copy_of(place.as_fd(), &TO_LOOK_AT)?, place.as_fd())?;
            }
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Devices that every program may use: the path on the machine, and the path in `/dev`.
const DEVICES: [(&CStr, &CStr); 6] = [
    (c"dev/null", c"null"),
    (c"dev/zero", c"zero"),
    (c"dev/full", c"full"),
    (c"dev/random", c"random"),
    (c"dev/urandom", c"urandom"),
    (c"dev/tty", c"tty"),
];

const LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd/0", c"stdin"),
    (c"/proc/self/fd/1", c"stdout"),
    (c"/proc/self/fd/2", c"stderr"),
    (c"/proc/self/fd", c"fd"),
    (c"pts/ptmx", c"ptmx"),
];

fn arrange_devices(before: BorrowedFd<'_>, root: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let devices = fresh(c"tmpfs", Some(READABLE))?;
    attach(&devices, opened(root, c"dev")?.as_fd())?;
    for (path, name) in DEVICES {
        let device = match opened(before, path) {
            Err(Errno::NOENT) => continue,
            found => copy_of(found?.as_fd(), &[Attribute::WithoutRights])?,
        };
        make_file(devices.as_fd(), name)?;
        attach(&device, opened(devices.as_fd(), name)?.as_fd())?;
    }
    for (target, name) in LINKS {
        rustix::fs::symlinkat(target, &devices, name)?;
    }
    for (name, mode) in [(c"shm", 0o1777), (c"pts", 0o755)] {
        rustix::fs::mkdirat(&devices, name, Mode::from_raw_mode(mode))?;
    }
    // A terminal of this file system is a device.
    let terminals = fresh(c"devpts", Some(MountOption { name: c"ptmxmode", value: c"0666" }))?;
    kernel::allow_devices(terminals.as_fd())?;
    attach(&terminals, opened(devices.as_fd(), c"pts")?.as_fd())
}

/// Mounts a copy-on-write layer over its lower directory.
pub(super) fn mount_overlay(overlay: &Overlay) -> rustix::io::Result<()> {
    let text = |path: &Path| {
        let bytes = path.as_os_str().as_bytes();
        // These separate and escape paths in the option.
        let is_plain = !bytes.iter().any(|byte| matches!(byte, b':' | b',' | b'\\'));
        CString::new(bytes).ok().filter(|_| is_plain).ok_or(Errno::INVAL)
    };
    let (lower, upper, work) = (text(&overlay.lower)?, text(&overlay.upper)?, text(&overlay.work)?);
    let place = rustix::fs::open(lower.as_c_str(), DIR | OFlags::NOFOLLOW, Mode::empty())?;
    let system = rustix::mount::fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(&system, c"lowerdir", lower.as_c_str())?;
    rustix::mount::fsconfig_set_string(&system, c"upperdir", upper.as_c_str())?;
    rustix::mount::fsconfig_set_string(&system, c"workdir", work.as_c_str())?;
    rustix::mount::fsconfig_set_flag(&system, c"userxattr")?;
    rustix::mount::fsconfig_create(&system)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let mount = rustix::mount::fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    attach(&mount, place.as_fd())
}

/// Mounts a directory read-only over itself, if it exists.
pub(super) fn make_read_only(dir: &Path) -> rustix::io::Result<()> {
    let place = match rustix::fs::open(dir, DIR | OFlags::NOFOLLOW, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        found => found?,
    };
    attach(&copy_of(place.as_fd(), &TO_LOOK_AT)?, place.as_fd())
}

/// Enables the loopback interface of a new network namespace.
pub(super) fn begin_loopback() -> rustix::io::Result<()> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    kernel::raise_loopback(socket.as_fd())
}

#[allow(unsafe_code, reason = "rustix has no safe wrapper for these system calls")]
mod kernel {
    use std::os::fd::{AsRawFd as _, BorrowedFd};
    use std::{io, mem};

    use libc::c_long;
    use rustix::io::Errno;

    use super::Attribute;

    fn checked(done: c_long) -> rustix::io::Result<()> {
        if done == -1 {
            return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
        Ok(())
    }

    fn change(mount: BorrowedFd<'_>, attr_set: u64, attr_clr: u64) -> rustix::io::Result<()> {
        let wanted = libc::mount_attr { attr_set, attr_clr, propagation: 0, userns_fd: 0 };
        let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
        // SAFETY: the path ends with a zero byte, and the attributes are as long as is said.
        checked(unsafe {
            libc::syscall(
                libc::SYS_mount_setattr,
                mount.as_raw_fd(),
                c"".as_ptr(),
                flags,
                &raw const wanted,
                mem::size_of::<libc::mount_attr>(),
            )
        })
    }

    /// Sets attributes of a mount, recursively.
    pub(super) fn set_attributes(mount: BorrowedFd<'_>, attributes: &[Attribute]) -> rustix::io::Result<()> {
        let bits = attributes.iter().map(|attribute| match attribute {
            Attribute::ReadOnly => libc::MOUNT_ATTR_RDONLY,
            Attribute::WithoutRights => libc::MOUNT_ATTR_NOSUID,
            Attribute::WithoutDevices => libc::MOUNT_ATTR_NODEV,
        });
        change(mount, bits.fold(0, |all, bit| all | bit), 0)
    }

    pub(super) fn allow_devices(mount: BorrowedFd<'_>) -> rustix::io::Result<()> {
        change(mount, 0, libc::MOUNT_ATTR_NODEV)
    }

    /// Brings the loopback interface up.
    pub(super) fn raise_loopback(socket: BorrowedFd<'_>) -> rustix::io::Result<()> {
        // SAFETY: a request of zeros is a valid one; the name fits and the rest of it stays zero.
        let mut request: libc::ifreq = unsafe { mem::zeroed() };
        for (place, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
            *place = libc::c_char::from_ne_bytes([byte]);
        }
        request.ifr_ifru.ifru_flags = LOOPBACK_FLAGS;
        // SAFETY: the request lives and is of the kind that this call reads.
        let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
        checked(done.into())
    }

    /// Up and running.
    const LOOPBACK_FLAGS: libc::c_short = 0x41;
}
