//! The way into the helper. The agent executes its own program again, and this code, which runs before `main` in every
//! program that contains this crate, recognizes the argument and becomes the helper. No program has to do anything for
//! it: tests and programs of the SDK get the same sandbox as `rheon`.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use super::serve::serve;

/// The only argument of the helper.
const ARGUMENT: &str = "--rheon-sandbox-helper";

/// The first of two arguments of a program that only tries to connect to the socket at a path.
pub const CONNECT_ARGUMENT: &str = "--rheon-sandbox-connect";

/// Whether the program that `/proc/self/exe` names contains this code and has run it.
static IS_LINKED: AtomicBool = AtomicBool::new(false);

/// Whether the program can become the helper. A shared library within another program cannot.
pub(super) fn is_available() -> bool {
    IS_LINKED.load(Ordering::Relaxed)
}

/// Starts the helper with this socket. It gets nothing else: no environment, no other files.
pub(super) fn start(socket: OwnedFd) -> io::Result<Child> {
    Command::new("/proc/self/exe")
        .arg(ARGUMENT)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// What the arguments ask for.
enum Asked {
    Nothing,
    Helper,
    Connect(std::path::PathBuf),
}

impl Asked {
    fn by_arguments() -> Self {
        use std::os::unix::ffi::OsStrExt as _;
        let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
        let arguments = line.strip_suffix(b"\0").unwrap_or_default().split(|byte| *byte == 0).skip(1);
        match arguments.take(3).collect::<Vec<_>>().as_slice() {
            [only] if *only == ARGUMENT.as_bytes() => Self::Helper,
            [first, path] if *first == CONNECT_ARGUMENT.as_bytes() => {
                Self::Connect(std::ffi::OsStr::from_bytes(path).into())
            }
            _ => Self::Nothing,
        }
    }
}

/// Runs before `main`.
extern "C" fn before_main() {
    if !kernel::is_main_program() {
        return;
    }
    IS_LINKED.store(true, Ordering::Relaxed);
    match Asked::by_arguments() {
        Asked::Nothing => {}
        Asked::Helper => {
            if let Some(socket) = kernel::socket_at_standard_input() {
                serve(&socket);
            }
            kernel::exit(0);
        }
        Asked::Connect(path) => {
            let is_connected = std::os::unix::net::UnixStream::connect(path).is_ok();
            kernel::exit(if is_connected { 0 } else { 1 });
        }
    }
}

#[allow(unsafe_code, reason = "the linker runs this before main")]
#[used]
// SAFETY: the loader calls what this section contains, which is a function of this form, after the C library is ready.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

#[allow(unsafe_code, reason = "rustix has no safe wrapper for these calls")]
mod kernel {
    use std::os::fd::{FromRawFd as _, OwnedFd};

    /// Whether this code is part of the program itself, whose headers the kernel told, and not of a shared library.
    pub(super) fn is_main_program() -> bool {
        // SAFETY: the record is filled by the call, which reads only the address.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            let code = super::before_main as *const libc::c_void;
            let headers = libc::getauxval(libc::AT_PHDR) as usize;
            let known = libc::dladdr(code, &raw mut found) != 0;
            let start = found.dli_fbase as usize;
            known && headers >= start && headers - start < HEADERS_BYTES_MAX
        }
    }

    /// The program headers follow the header of the file.
    const HEADERS_BYTES_MAX: usize = 4_096;

    /// The socket of the helper, or nothing if this is not one.
    pub(super) fn socket_at_standard_input() -> Option<OwnedFd> {
        // SAFETY: nothing else has run in this process, so nothing else owns it.
        let socket = unsafe { OwnedFd::from_raw_fd(0) };
        match rustix::net::sockopt::socket_domain(&socket) {
            Ok(rustix::net::AddressFamily::UNIX) => Some(socket),
            Ok(_) | Err(_) => None,
        }
    }

    pub(super) fn exit(code: i32) -> ! {
        // SAFETY: it ends the process at once.
        unsafe { libc::_exit(code) }
    }
}
