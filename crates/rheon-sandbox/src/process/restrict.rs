//! `Restrictions`: rights that a process drops right before it becomes another program: Landlock for files, seccomp for
//! system calls. Everything it starts inherits the rest.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restrictions {
    pub files: Files,
    /// The allowed socket types; all if `None`.
    pub sockets: Option<Sockets>,
}

/// Which files stay writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    OnlyIn(Vec<PathBuf>),
    /// Mounts decide that. Landlock only confines signals and abstract sockets to the sandbox, if the kernel supports
    /// it.
    AsMounted,
}

/// Which socket types stay allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// Pairs of sockets only, which reach no other program.
    Pairs,
    /// All but unix sockets, at the paths of which other programs listen. Pairs are allowed.
    NoPaths,
    /// Those that a network namespace confines. Others, such as vsock to the host of a virtual machine, would bypass
    /// it.
    Namespaced,
}

#[cfg(target_os = "linux")]
pub(super) use linux::PreparedRestrictions;

#[cfg(not(target_os = "linux"))]
pub(super) struct PreparedRestrictions;

#[cfg(not(target_os = "linux"))]
impl PreparedRestrictions {
    pub(super) fn new(_restrictions: &Restrictions) -> std::io::Result<Self> {
        Err(std::io::Error::other("this system has no sandbox support"))
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::io;
    use std::os::fd::{AsRawFd as _, OwnedFd};
    use std::path::PathBuf;

    use landlock::{
        ABI, Access as _, AccessFs, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, Scope,
        path_beneath_rules,
    };
    use rustix::io::Errno;
    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, TargetArch,
    };

    use super::{Files, Restrictions, Sockets};

    /// Restrictions that a process can apply to itself without allocating.
    pub(in super::super) struct PreparedRestrictions {
        /// A kernel without Landlock has none.
        ruleset: Option<OwnedFd>,
        filter: BpfProgram,
        /// Calls that a kernel without them would not know either.
        unknown_calls: BpfProgram,
    }

    impl PreparedRestrictions {
        pub(in super::super) fn new(restrictions: &Restrictions) -> io::Result<Self> {
            let ruleset = match &restrictions.files {
                Files::OnlyIn(dirs) => write_only_in(dirs).map(Some)?,
                Files::AsMounted => confine()?,
            };
            Ok(Self {
                ruleset,
                filter: filter(restrictions.sockets).map_err(io::Error::other)?,
                unknown_calls: unknown_calls().map_err(io::Error::other)?,
            })
        }

        /// Applies everything to the calling process. Only system calls.
        pub(in super::super) fn apply(&self) -> rustix::io::Result<()> {
            rustix::thread::set_no_new_privs(true)?;
            kernel::new_session_keyring();
            if let Some(ruleset) = &self.ruleset {
                kernel::restrict_self(ruleset.as_raw_fd())?;
            }
            seccompiler::apply_filter(&self.unknown_calls).map_err(|_| Errno::PERM)?;
            seccompiler::apply_filter(&self.filter).map_err(|_| Errno::PERM)
        }
    }

    /// Files that every program may write to.
    const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

    fn write_only_in(writable: &[PathBuf]) -> io::Result<OwnedFd> {
        let writes = AccessFs::from_write(ABI::V5);
        // An older kernel enforces what it supports; the probe finds what that leaves open.
        let ruleset = Ruleset::default()
            .handle_access(writes)
            .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI::V6)))
            .and_then(Ruleset::create)
            .and_then(|ruleset| ruleset.add_rules(path_beneath_rules(writable, writes)))
            .and_then(|ruleset| ruleset.add_rules(path_beneath_rules(DEVICES, writes)))
            .map_err(io::Error::other)?;
        Option::<OwnedFd>::from(ruleset)
            .ok_or_else(|| io::Error::other("this kernel does not support Landlock"))
    }

    /// A namespace enforces the same, except for the sockets of an open network.
    fn confine() -> io::Result<Option<OwnedFd>> {
        let ruleset = Ruleset::default().scope(Scope::from_all(ABI::V6)).and_then(Ruleset::create);
        ruleset.map(Option::from).map_err(io::Error::other)
    }

    /// x32 programs use the same numbers with this bit set.
    #[cfg(target_arch = "x86_64")]
    const X32_BIT: i64 = 0x4000_0000;

    /// Address families.
    const UNIX: u64 = 1;
    const INET: u64 = 2;
    const INET6: u64 = 10;
    const NETLINK: u64 = 16;

    const EPERM: u32 = 1;
    const ENOSYS: u32 = 38;

    /// Calls to the kernel's keyrings, where other programs of the user keep keys.
    const KEYRING_CALLS: [i64; 3] = [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];

    /// Rings of `io_uring` make calls that no filter sees.
    const RING_CALL: i64 = libc::SYS_io_uring_setup;

    /// Calls that set the mode of a file, and which of their arguments is the mode.
    const MODE_CALLS: &[(i64, u8)] = &[
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (SYS_FCHMODAT2, 2),
        (libc::SYS_mknodat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
    ];

    /// The same for calls that use the mode only if their flags, one argument before, say that they create a file.
    const OPEN_CALLS: &[(i64, u8)] = &[
        (libc::SYS_openat, 3),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 2),
    ];

    const SYS_FCHMODAT2: i64 = 452;

    /// Setuid and setgid.
    const MODE_BITS: [u64; 2] = [0o4000, 0o2000];

    fn filter(sockets: Option<Sockets>) -> Result<BpfProgram, BackendError> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            KEYRING_CALLS.into_iter().map(|call| (call, Vec::new())).collect();
        for (call, mode) in MODE_CALLS {
            let forbidden = MODE_BITS.map(|bit| SeccompRule::new(vec![has_bits(*mode, bit)?]));
            rules.insert(*call, forbidden.into_iter().collect::<Result<_, _>>()?);
        }
        for (call, mode) in OPEN_CALLS {
            let creates = || has_bits(*mode - 1, libc::O_CREAT.unsigned_abs().into());
            let forbidden = MODE_BITS.map(|bit| SeccompRule::new(vec![creates()?, has_bits(*mode, bit)?]));
            rules.insert(*call, forbidden.into_iter().collect::<Result<_, _>>()?);
        }
        if let Some(sockets) = sockets {
            let family = |comparison: SeccompCmpOp, family: u64| {
                SeccompCondition::new(0, SeccompCmpArgLen::Dword, comparison, family)
            };
            let forbidden = match sockets {
                Sockets::Pairs => Vec::new(),
                Sockets::NoPaths => vec![SeccompRule::new(vec![family(SeccompCmpOp::Eq, UNIX)?])?],
                Sockets::Namespaced => {
                    let allowed = [UNIX, INET, INET6, NETLINK];
                    let others: Result<Vec<_>, _> =
                        allowed.into_iter().map(|allowed| family(SeccompCmpOp::Ne, allowed)).collect();
                    vec![SeccompRule::new(others?)?]
                }
            };
            rules.insert(libc::SYS_socket, forbidden);
        }
        rules.insert(RING_CALL, Vec::new());
        #[cfg(target_arch = "x86_64")]
        {
            let as_x32: Vec<i64> = rules.keys().map(|call| call | X32_BIT).collect();
            rules.extend(as_x32.into_iter().map(|call| (call, Vec::new())));
        }
        let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(EPERM), architecture)?.try_into()
    }

    /// Its arguments are in memory, where no filter sees the mode of a new file. Programs use another call where the kernel
    /// does not have this one.
    fn unknown_calls() -> Result<BpfProgram, BackendError> {
        let mut rules = BTreeMap::from([(libc::SYS_openat2, Vec::new())]);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_openat2 | X32_BIT, Vec::new());
        let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(ENOSYS), architecture)?
            .try_into()
    }

    fn has_bits(argument: u8, bits: u64) -> Result<SeccompCondition, BackendError> {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), bits)
    }

    #[allow(unsafe_code, reason = "no crate has safe wrappers for these system calls")]
    mod kernel {
        use std::os::fd::RawFd;

        use rustix::io::Errno;

        /// Leaves the user's session keyring. A kernel without keyrings has none to leave.
        pub(super) fn new_session_keyring() {
            // SAFETY: a null name asks for an anonymous keyring; no memory is touched.
            unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<u8>()) };
        }

        const JOIN_SESSION_KEYRING: libc::c_long = 1;

        pub(super) fn restrict_self(ruleset: RawFd) -> rustix::io::Result<()> {
            // SAFETY: it touches no memory.
            let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) };
            if done == -1 {
                let error = std::io::Error::last_os_error();
                return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
            }
            Ok(())
        }
    }
}
