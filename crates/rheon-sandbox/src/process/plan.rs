//! `Plan`: a process that borrows the agent's memory until it becomes another program, as `posix_spawn` does it. What the
//! agent has in memory costs nothing therefore, and between its birth and the other program the process can do what only
//! itself can do: tie its life to the agent's, hand none of the agent's files on, enter namespaces, give up rights.
//!
//! Everything it needs is prepared beforehand. In the process itself there are only calls of the kernel: no memory that
//! grows, no locks, no panic.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_char, c_int};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};
use rustix::thread::CapabilitySet;

use super::execution::{Capabilities, Execution, Namespaces, ProcessSetup, ResourceLimits};
use super::first::{self, EndReport};
use super::mounts::{Mounts, begin_loopback};
use super::restrict::PreparedRestrictions;

/// Everything that a new process needs.
pub(super) struct Plan<'a> {
    execution: &'a Execution,
    setup: ProcessSetup,
    program: CString,
    dir: CString,
    arguments: Texts,
    variables: Texts,
    /// The user and group maps of a user namespace.
    maps: [String; 2],
    /// The agent, for a process that cannot ask who its parent is because its namespace does not know it.
    agent: Option<OwnedFd>,
    /// How files look to the process, where it gets all namespaces.
    mounts: Option<Mounts>,
    restrictions: Option<PreparedRestrictions>,
    stack: Vec<u128>,
}

/// A process that has executed its program, or the first process of a namespace whose program runs.
pub(super) struct Started {
    pub(super) pid: Pid,
    /// How the program ended, if the process is not the program.
    pub(super) report: Option<EndReport>,
}

/// Texts, and where they are, as the kernel reads them.
struct Texts {
    _texts: Vec<CString>,
    places: Vec<*const c_char>,
}

impl Texts {
    fn new(texts: impl IntoIterator<Item = Vec<u8>>) -> io::Result<Self> {
        let texts: Vec<CString> = texts.into_iter().map(CString::new).collect::<Result<_, _>>()?;
        let places = texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        Ok(Self { _texts: texts, places })
    }
}

/// The namespaces besides those of processes and of the network.
const ALL_BUT_NETWORK: c_int =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP;

/// Of the process, before it becomes another program. That takes less than a page.
const STACK_BYTES: usize = 64 * 1024;

impl<'a> Plan<'a> {
    /// Prepares everything in advance.
    pub(super) fn new(execution: &'a Execution, setup: ProcessSetup) -> io::Result<Self> {
        let program = found(execution).into_os_string().into_vec();
        let arguments = execution.arguments.iter().map(|argument| argument.as_bytes().to_vec());
        let variables = execution.variables.iter().map(|(name, value)| variable(name, value));
        let [user, group] = [rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()];
        let agent = match setup.namespaces {
            Namespaces::Inherited => None,
            Namespaces::Processes
            | Namespaces::ProcessesShown
            | Namespaces::UserProcesses
            | Namespaces::All
            | Namespaces::AllButNetwork => {
                Some(rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?)
            }
        };
        Ok(Self {
            setup,
            program: CString::new(program.clone())?,
            dir: CString::new(execution.dir.as_os_str().as_bytes())?,
            arguments: Texts::new(std::iter::once(program).chain(arguments))?,
            variables: Texts::new(variables)?,
            maps: [format!("{user} {user} 1\n"), format!("{group} {group} 1\n")],
            agent: agent.map(above_standard).transpose()?,
            mounts: execution.view.as_ref().map(|view| Mounts::new(view, execution.limits)).transpose()?,
            restrictions: execution.restrictions.as_ref().map(PreparedRestrictions::new).transpose()?,
            stack: vec![0; STACK_BYTES / size_of::<u128>()],
            execution,
        })
    }

    /// Starts the process and returns once it has executed the program.
    pub(super) fn start(&mut self) -> io::Result<Started> {
        match self.setup.namespaces {
            Namespaces::Inherited => {
                let pid = self.execute(Preparation::Whole { parent: rustix::process::getpid() })?;
                Ok(Started { pid, report: None })
            }
            Namespaces::Processes
            | Namespaces::ProcessesShown
            | Namespaces::UserProcesses
            | Namespaces::All
            | Namespaces::AllButNetwork => self.start_behind_first(),
        }
    }

    /// Starts the first process of a PID namespace, which starts the program.
    fn start_behind_first(&mut self) -> io::Result<Started> {
        let parent = rustix::process::getpid();
        let (report, reporter) = first::report()?;
        let held_back = kernel::hold_signals_back();
        let forked = first::fork(self.namespace_flags());
        if let Ok(None) = forked {
            let program = self.settle_first(parent).map_err(Errno::raw_os_error).and_then(|()| {
                let executed = self.execute(Preparation::Rest);
                executed.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
            });
            first::stay(&reporter, program);
        }
        kernel::let_signals_through(&held_back);
        let pid = forked?.ok_or(io::ErrorKind::NotFound)?;
        // Otherwise the report would never end.
        drop(reporter);
        match report.begin() {
            Ok(report) => Ok(Started { pid, report: Some(report) }),
            Err(error) => {
                reap(pid);
                Err(error)
            }
        }
    }

    /// Starts a process that borrows this one's memory and becomes the program.
    fn execute(&mut self, preparation: Preparation) -> io::Result<Pid> {
        let top = self.stack.as_mut_ptr_range().end;
        let birth = Birth { preparation, problem: AtomicI32::new(0), plan: self };
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let held_back = kernel::hold_signals_back();
        #[allow(unsafe_code, reason = "std cannot start a process in a namespace or tie it to its parent")]
        // SAFETY: the caller's thread sleeps until the process has become another program or has ended, so what it borrows
        // lives and has no other user; it returns from no function that was entered before. Its signals are held back,
        // so no handler runs in it. The stack is aligned to 16 bytes, grows downwards and is used by nothing else.
        let id = unsafe { libc::clone(begin, top.cast(), flags, ptr::from_ref(&birth).cast_mut().cast()) };
        let cloned = if id == -1 { Err(io::Error::last_os_error()) } else { Ok(id) };
        kernel::let_signals_through(&held_back);
        let pid = Pid::from_raw(cloned?).ok_or(io::ErrorKind::NotFound)?;
        match birth.problem.load(Ordering::SeqCst) {
            0 => Ok(pid),
            problem => {
                // The process has already exited.
                reap(pid);
                Err(io::Error::from_raw_os_error(problem))
            }
        }
    }

    fn namespace_flags(&self) -> c_int {
        let processes = libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
        match self.setup.namespaces {
            Namespaces::Inherited => 0,
            Namespaces::Processes => processes,
            Namespaces::ProcessesShown => processes | libc::CLONE_NEWNS,
            Namespaces::UserProcesses => processes | libc::CLONE_NEWUSER,
            Namespaces::All => processes | ALL_BUT_NETWORK | libc::CLONE_NEWNET,
            Namespaces::AllButNetwork => processes | ALL_BUT_NETWORK,
        }
    }

    /// Everything that the process does before it becomes the other program, in the process.
    fn prepare(&self, preparation: Preparation) -> rustix::io::Result<()> {
        match preparation {
            Preparation::Whole { parent } => {
                self.settle(parent)?;
                self.take_files()?;
                self.restrict()
            }
            Preparation::Rest => {
                // Its group can be ended by its own id.
                rustix::process::setsid()?;
                self.take_files()
            }
        }
    }

    /// What the first process of a PID namespace does for the program, and then gives up.
    fn settle_first(&self, parent: Pid) -> rustix::io::Result<()> {
        self.settle(parent)?;
        self.restrict()?;
        match self.setup.capabilities {
            Capabilities::Preserved => {}
            Capabilities::Dropped => first::give_up_rights()?,
        }
        first::become_unreadable()
    }

    fn restrict(&self) -> rustix::io::Result<()> {
        self.restrictions.as_ref().map_or(Ok(()), PreparedRestrictions::apply)
    }

    /// Ties the process to its parent and gives it its namespaces.
    fn settle(&self, parent: Pid) -> rustix::io::Result<()> {
        kernel::forget_handlers();
        // Where memory runs out, a command ends before the agent.
        write(c"/proc/self/oom_score_adj", b"500").ok();
        // It has no terminal, no signal of the agent's reaches it, and its group can be ended.
        rustix::process::setsid()?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        match self.setup.namespaces {
            Namespaces::Inherited | Namespaces::Processes => {}
            Namespaces::ProcessesShown => show_processes()?,
            Namespaces::UserProcesses => self.remain_who_they_are()?,
            Namespaces::All => {
                begin_loopback()?;
                self.get_view()?;
            }
            Namespaces::AllButNetwork => self.get_view()?,
        }
        rustix::process::chdir(self.dir.as_c_str())?;
        match self.setup.capabilities {
            Capabilities::Preserved => {}
            Capabilities::Dropped => drop_capabilities()?,
        }
        // The parent may have ended before its end could be asked for.
        if self.is_alone(parent) { Err(Errno::PIPE) } else { Ok(()) }
    }

    /// Limits what the program may use, and gives it its files.
    fn take_files(&self) -> rustix::io::Result<()> {
        self.limit_resources()?;
        kernel::standard_files(self.execution.told.as_fd(), self.execution.output.as_fd())?;
        if let Some(pipes) = &self.execution.exchange {
            kernel::standard_error(pipes.errors.as_fd())?;
        }
        kernel::close_on_exec();
        if let Some(pipes) = &self.execution.exchange {
            kernel::third_file(pipes.input.as_fd())?;
        }
        Ok(())
    }

    fn limit_resources(&self) -> rustix::io::Result<()> {
        let ResourceLimits { processes, memory_bytes, file_bytes } = self.execution.limits;
        // Outside a user namespace of its own it would count all processes of the user.
        let has_own_user = match self.setup.namespaces {
            Namespaces::UserProcesses | Namespaces::All | Namespaces::AllButNetwork => true,
            Namespaces::Inherited | Namespaces::Processes | Namespaces::ProcessesShown => false,
        };
        let limits = [
            // The first process is not the command's.
            (
                Resource::Nproc,
                processes.filter(|_| has_own_user).map(|processes| processes.saturating_add(1)),
            ),
            (Resource::Data, memory_bytes),
            (Resource::Fsize, file_bytes),
        ];
        for (resource, limit) in limits {
            let Some(limit) = limit else { continue };
            let before = rustix::process::getrlimit(resource);
            // A limit of the machine that is lower stays.
            let lowest = before.maximum.map_or(limit, |maximum| maximum.min(limit));
            rustix::process::setrlimit(resource, Rlimit { current: Some(lowest), maximum: Some(lowest) })?;
        }
        Ok(())
    }

    fn is_alone(&self, parent: Pid) -> bool {
        match &self.agent {
            None => rustix::process::getppid() != Some(parent),
            Some(agent) => {
                let mut watched = [PollFd::new(agent, PollFlags::IN)];
                poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) != Ok(0)
            }
        }
    }

    /// Without a view the process would see all that the agent sees, so it is not started.
    fn get_view(&self) -> rustix::io::Result<()> {
        let mounts = self.mounts.as_ref().ok_or(Errno::INVAL)?;
        self.remain_who_they_are()?;
        mounts.arrange()?;
        rustix::thread::set_no_new_privs(true)
    }

    fn remain_who_they_are(&self) -> rustix::io::Result<()> {
        map_own_user(&self.maps)
    }
}

/// Keeps the ids of the user and the group in a new user namespace.
pub(super) fn map_own_user([user, group]: &[String; 2]) -> rustix::io::Result<()> {
    write(c"/proc/self/setgroups", b"deny")?;
    write(c"/proc/self/uid_map", user.as_bytes())?;
    write(c"/proc/self/gid_map", group.as_bytes())
}

/// What is left to do in the process that becomes the program.
#[derive(Clone, Copy)]
enum Preparation {
    /// Everything.
    Whole { parent: Pid },
    /// The first process of its namespace did the rest.
    Rest,
}

fn reap(pid: Pid) {
    let options = rustix::process::WaitOptions::empty();
    while matches!(rustix::process::waitpid(Some(pid), options), Err(Errno::INTR)) {}
}

/// The orders of the process. It shares the agent's memory, so it tells its problem there.
struct Birth<'a> {
    preparation: Preparation,
    problem: AtomicI32,
    plan: &'a Plan<'a>,
}

/// The entry point of the process.
extern "C" fn begin(birth: *mut libc::c_void) -> c_int {
    #[allow(unsafe_code, reason = "the kernel hands on a pointer")]
    // SAFETY: it is the one that was handed over, and its owner waits.
    let birth = unsafe { &*birth.cast::<Birth<'_>>() };
    let problem = match birth.plan.prepare(birth.preparation) {
        Ok(()) => {
            let Plan { program, arguments, variables, .. } = birth.plan;
            kernel::execute(program, &arguments.places, &variables.places)
        }
        Err(problem) => problem.raw_os_error(),
    };
    birth.problem.store(problem, Ordering::SeqCst);
    NOT_EXECUTED
}

/// The exit code of a process that did not become another program; it is not read.
const NOT_EXECUTED: c_int = 127;

/// The program with its directory. The path is that of the process, not the agent's.
fn found(execution: &Execution) -> PathBuf {
    let program = &execution.program;
    if program.components().count() > 1 {
        return program.clone();
    }
    let path = execution.variables.iter().find(|(name, _)| name == "PATH");
    let dirs = path.map_or(b"/usr/bin:/bin".as_slice(), |(_, dirs)| dirs.as_bytes());
    let found = dirs
        .split(|byte| *byte == b':')
        .map(|dir| Path::new(OsStr::from_bytes(dir)).join(program))
        .find(|path| path.is_absolute() && path.is_file());
    found.unwrap_or_else(|| program.clone())
}

fn variable(name: &OsStr, value: &OsStr) -> Vec<u8> {
    [name.as_bytes(), b"=", value.as_bytes()].concat()
}

/// The same file under a number that no standard file has.
fn above_standard(file: OwnedFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(file, 3)?)
}

fn write(path: &std::ffi::CStr, text: &[u8]) -> rustix::io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text).map(|_| ())
}

/// Mounts a `/proc` that shows the processes of the namespace, for these alone.
fn show_processes() -> rustix::io::Result<()> {
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", alone)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount(c"proc", c"/proc", c"proc", flags, None::<&std::ffi::CStr>)
}

/// The most capabilities that a kernel can have.
const CAPABILITIES_MAX: u32 = 64;

/// Takes the capabilities out of the reach of whatever is executed. A user who has none cannot and need not do that: a
/// process that has given up rights gets none from a program either.
fn drop_capabilities() -> rustix::io::Result<()> {
    let mut sets = rustix::thread::capabilities(None)?;
    for number in 0..CAPABILITIES_MAX {
        match kernel::never_again(number) {
            Ok(()) => {}
            // The kernel has no more of them.
            Err(Errno::INVAL) => break,
            Err(Errno::PERM) if sets.permitted.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    // Those that would pass from program to program go with these.
    sets.inheritable = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, sets)
}

#[allow(unsafe_code, reason = "rustix has no safe wrapper for these system calls")]
mod kernel {
    use std::os::fd::{AsRawFd as _, BorrowedFd};
    use std::{io, mem, ptr};

    use libc::{c_char, c_int, sigset_t};
    use rustix::io::Errno;

    fn last_error() -> Errno {
        Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
    }

    /// Blocks all signals of the thread and returns the previous mask.
    pub(super) fn hold_signals_back() -> sigset_t {
        // SAFETY: both sets are filled before they are read.
        unsafe {
            let (mut all, mut before) = (mem::zeroed(), mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            before
        }
    }

    /// Restores the signal mask.
    pub(super) fn let_signals_through(held_back: &sigset_t) {
        // SAFETY: the set is whole.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::from_ref(held_back), ptr::null_mut()) };
    }

    const SIGNALS_MAX: c_int = 64;

    /// Lets every signal do what it usually does; those that are ignored remain so. `SIGPIPE` is ignored by Rust alone.
    pub(super) fn forget_handlers() {
        for signal in 1..=SIGNALS_MAX {
            // SAFETY: the table of handlers is the process's own; both actions are whole. Errors mean that there is no such
            // signal, or that it has no handler.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                let known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
                let is_ignored = action.sa_sigaction == libc::SIG_IGN && signal != libc::SIGPIPE;
                if known && !is_ignored && action.sa_sigaction != libc::SIG_DFL {
                    let mut usual: libc::sigaction = mem::zeroed();
                    usual.sa_sigaction = libc::SIG_DFL;
                    libc::sigaction(signal, &raw const usual, ptr::null_mut());
                }
            }
        }
    }

    /// Makes these the standard files.
    pub(super) fn standard_files(input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> rustix::io::Result<()> {
        // One of them may be in a place that the other is to take.
        let output = rustix::io::fcntl_dupfd_cloexec(output, 3)?;
        let output_number = output.as_raw_fd();
        for (from, to) in [(input.as_raw_fd(), 0), (output_number, 1), (output_number, 2)] {
            // SAFETY: the table of files is the process's own, and nothing here owns the standard ones.
            let done = unsafe {
                // A file that is in its place already would be closed when the program is executed.
                if from == to { libc::fcntl(from, libc::F_SETFD, 0) } else { libc::dup2(from, to) }
            };
            if done == -1 {
                return Err(last_error());
            }
        }
        Ok(())
    }

    /// Makes this the standard error.
    pub(super) fn standard_error(errors: BorrowedFd<'_>) -> rustix::io::Result<()> {
        // SAFETY: the table of files is the process's own, and nothing here owns the standard ones.
        if unsafe { libc::dup2(errors.as_raw_fd(), 2) } == -1 { Err(last_error()) } else { Ok(()) }
    }

    /// Makes this the file after the standard ones, which the other program inherits.
    pub(super) fn third_file(input: BorrowedFd<'_>) -> rustix::io::Result<()> {
        let from = input.as_raw_fd();
        // SAFETY: the table of files is the process's own, and what is replaced is closed right afterwards anyway.
        let done =
            unsafe { if from == 3 { libc::fcntl(from, libc::F_SETFD, 0) } else { libc::dup2(from, 3) } };
        if done == -1 { Err(last_error()) } else { Ok(()) }
    }

    /// Marks all files but the standard ones to be closed when another program is executed. Those that this library and the
    /// standard library open are marked anyway; those that the agent was started with may not be.
    pub(super) fn close_on_exec() {
        // SAFETY: it closes nothing yet. A kernel without this call leaves them as they are.
        unsafe { libc::syscall(libc::SYS_close_range, 3, c_int::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    }

    /// Drops a capability for all programs executed from now on.
    pub(super) fn never_again(capability: u32) -> rustix::io::Result<()> {
        // SAFETY: it touches no memory.
        let done = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0, 0, 0) };
        if done == -1 { Err(last_error()) } else { Ok(()) }
    }

    /// Executes the program with no signals blocked. Returns only on failure.
    pub(super) fn execute(
        program: &std::ffi::CStr,
        arguments: &[*const c_char],
        variables: &[*const c_char],
    ) -> c_int {
        // SAFETY: the set is emptied before it is read; both lists end with nothing and what they point to lives.
        unsafe {
            let mut none = mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
            libc::execve(program.as_ptr(), arguments.as_ptr(), variables.as_ptr());
        }
        last_error().raw_os_error()
    }
}
