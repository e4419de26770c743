//! `Facts`: everything about the machine, this process and the request that can change the probe results.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::boundary::Boundary;
use super::level::Requirement;
use super::programs::Programs;

/// Facts by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Facts(BTreeMap<String, String>);

/// The sandbox request.
pub(super) struct SandboxRequest<'a> {
    pub(super) requirement: Requirement,
    pub(super) programs: &'a Programs,
    pub(super) boundary: &'a Boundary,
    /// The temporary directory, on the file system where the probe ran.
    pub(super) temporary: &'a Path,
}

impl Facts {
    /// Collects the facts. `None` if the system does not say whether it was rebooted.
    pub(super) fn gather(request: &SandboxRequest<'_>) -> Option<Self> {
        let mut facts = system::facts()?;
        let Programs { bash, bwrap, namespaces } = request.programs;
        facts.extend([
            ("version".into(), env!("CARGO_PKG_VERSION").into()),
            ("requirement".into(), format!("{:?}", request.requirement)),
            (
                "network".into(),
                if request.boundary.network().is_confined() { "Blocked".into() } else { "Open".into() },
            ),
            ("hides".into(), (!request.boundary.hidden().is_empty()).to_string()),
            ("own_namespaces".into(), format!("{namespaces:?}")),
            ("bash".into(), system::identity(bash)),
            ("bwrap".into(), bwrap.as_deref().map_or("none".into(), system::identity)),
            ("temporary_device".into(), system::device(request.temporary)),
        ]);
        Some(Self(facts))
    }

    #[cfg(test)]
    pub(super) fn of(facts: &[(&str, &str)]) -> Self {
        Self(facts.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeMap;
    use std::fs::read_to_string;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    /// Kernel settings that may forbid namespaces and can change at runtime.
    const SETTINGS: [&str; 3] = [
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    ];

    /// The namespaces that distinguish containers from each other and from the host.
    const NAMESPACES: [&str; 3] = ["/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/pid"];

    /// The lines of `/proc/self/status` about process rights.
    const RIGHTS: [&str; 6] = ["Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp"];

    pub(super) fn facts() -> Option<BTreeMap<String, String>> {
        let boot = read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let status = read_to_string("/proc/self/status").ok()?;
        let rights = status.lines().filter(|line| RIGHTS.iter().any(|name| line.starts_with(name)));
        let rights: Vec<String> = rights.map(|line| line.replace('\t', " ")).collect();
        let kernel = rustix::system::uname();
        let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
        let mut facts = BTreeMap::from([
            ("boot".into(), boot.trim().into()),
            ("kernel".into(), format!("{} {}", text(kernel.release()), text(kernel.version()))),
            ("rights".into(), rights.join("; ")),
            ("profile".into(), read_to_string("/proc/self/attr/current").unwrap_or_default().trim().into()),
            ("program".into(), identity(Path::new("/proc/self/exe"))),
        ]);
        for path in SETTINGS {
            facts.insert(path.into(), read_to_string(path).unwrap_or_default().trim().into());
        }
        for path in NAMESPACES {
            let namespace = std::fs::read_link(path).unwrap_or_default();
            facts.insert(path.into(), namespace.display().to_string());
        }
        Some(facts)
    }

    /// Distinguishes a program from another at the same path.
    pub(super) fn identity(path: &Path) -> String {
        match path.metadata() {
            Ok(found) => format!(
                "{} of {} bytes, inode {} of device {}, mode {:o}, user {}, changed at {}.{:09}",
                path.display(),
                found.len(),
                found.ino(),
                found.dev(),
                found.mode(),
                found.uid(),
                found.mtime(),
                found.mtime_nsec(),
            ),
            Err(error) => format!("{}: {error}", path.display()),
        }
    }

    pub(super) fn device(path: &Path) -> String {
        path.metadata().map_or_else(|error| error.to_string(), |found| found.dev().to_string())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::collections::BTreeMap;
    use std::path::Path;

    pub(super) fn facts() -> Option<BTreeMap<String, String>> {
        None
    }

    pub(super) fn identity(path: &Path) -> String {
        path.display().to_string()
    }

    pub(super) fn device(_path: &Path) -> String {
        String::new()
    }
}
