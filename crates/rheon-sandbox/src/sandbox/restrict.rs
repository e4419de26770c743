//! Rights that a thread drops before it starts a process, which inherits the rest: Landlock for files, seccomp for
//! sockets. Both affect the calling thread only.

use std::io;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub(super) struct Restrictions {
    pub(super) files: Files,
    /// The allowed socket types; all if `None`.
    pub(super) sockets: Option<Sockets>,
}

/// Which files stay writable.
#[derive(Debug, Clone)]
pub(super) enum Files {
    OnlyIn(Vec<PathBuf>),
    /// Mounts decide that. Landlock only confines signals and abstract sockets to the sandbox, if the kernel supports
    /// it.
    AsMounted,
}

/// Which socket types stay allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Unix sockets only.
    Local,
    /// Those that a network namespace confines. Others, such as vsock to the host of a virtual machine, would bypass
    /// it.
    Namespaced,
}

/// Applies the restrictions to the calling thread and everything it starts.
#[cfg(target_os = "linux")]
pub(super) fn restrict(restrictions: &Restrictions) -> io::Result<()> {
    match &restrictions.files {
        Files::OnlyIn(folders) => linux::write_only_in(folders)?,
        Files::AsMounted => linux::stay_among_themselves()?,
    }
    match restrictions.sockets {
        Some(sockets) => linux::sockets_only(sockets),
        None => Ok(()),
    }
}

/// Applies the restrictions to the calling thread and everything it starts.
#[cfg(not(target_os = "linux"))]
pub(super) fn restrict(_restrictions: &Restrictions) -> io::Result<()> {
    Err(io::Error::other("this system has no sandbox support"))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::io;
    use std::path::PathBuf;

    use landlock::{
        ABI, Access as _, AccessFs, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _,
        RulesetStatus, Scope, path_beneath_rules,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    use super::Sockets;

    /// Files that every program may write to.
    const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

    pub(super) fn write_only_in(writable: &[PathBuf]) -> io::Result<()> {
        let writes = AccessFs::from_write(ABI::V5);
        // An older kernel enforces what it supports; the probe finds what that leaves open.
        let ruleset = Ruleset::default()
            .handle_access(writes)
            .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI::V6)))
            .and_then(Ruleset::create)
            .and_then(|ruleset| ruleset.add_rules(path_beneath_rules(writable, writes)))
            .and_then(|ruleset| ruleset.add_rules(path_beneath_rules(DEVICES, writes)))
            .map_err(io::Error::other)?;
        let status = ruleset.restrict_self().map_err(io::Error::other)?;
        if status.ruleset == RulesetStatus::NotEnforced {
            return Err(io::Error::other("this kernel does not support Landlock"));
        }
        Ok(())
    }

    /// A namespace enforces the same, except for the sockets of an open network.
    pub(super) fn stay_among_themselves() -> io::Result<()> {
        let ruleset = Ruleset::default().scope(Scope::from_all(ABI::V6)).and_then(Ruleset::create);
        ruleset.and_then(RulesetCreated::restrict_self).map(|_| ()).map_err(io::Error::other)
    }

    /// The numbers of `socket` and `io_uring_setup`, whose rings can create sockets too.
    #[cfg(target_arch = "x86_64")]
    const CALLS: (i64, i64) = (41, 425);
    #[cfg(not(target_arch = "x86_64"))]
    const CALLS: (i64, i64) = (198, 425);

    /// x32 programs use the same numbers with this bit set.
    const X32_BIT: i64 = 0x4000_0000;

    /// Address families.
    const UNIX: u64 = 1;
    const INET: u64 = 2;
    const INET6: u64 = 10;
    const NETLINK: u64 = 16;

    const EPERM: u32 = 1;

    pub(super) fn sockets_only(sockets: Sockets) -> io::Result<()> {
        let program = filter(sockets).map_err(io::Error::other)?;
        seccompiler::apply_filter(&program).map_err(io::Error::other)
    }

    fn filter(sockets: Sockets) -> Result<BpfProgram, seccompiler::BackendError> {
        let families: &[u64] = match sockets {
            Sockets::Local => &[UNIX],
            Sockets::Namespaced => &[UNIX, INET, INET6, NETLINK],
        };
        let others: Result<Vec<_>, _> = families
            .iter()
            .map(|family| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, *family))
            .collect();
        let other = SeccompRule::new(others?)?;
        let (socket, ring) = CALLS;
        let rules = BTreeMap::from([
            (socket, vec![other]),
            (ring, Vec::new()),
            (socket | X32_BIT, Vec::new()),
            (ring | X32_BIT, Vec::new()),
        ]);
        let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(EPERM), architecture)?.try_into()
    }
}
