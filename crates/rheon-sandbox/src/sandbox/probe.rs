//! Tests a sandbox: runs a script inside that tries every escape, then checks from outside what happened.

use std::fs::Permissions;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::boundary::{Boundary, NetworkAccess};
use super::report::{Escape, EscapeVerdict, SandboxReport};
use super::wrap::Wrap;
use crate::process::{
    CONNECT_ARGUMENT, Capture, OutputLimits, ProcessEnvironment, ProcessError, ProcessOutcome, SessionHelper,
    ShellLine, StopCondition, run,
};
use crate::temporary::TemporaryDirectory;

/// A separate environment for the probe, so that an open escape harms nothing.
struct ProbeEnv {
    _dir: TemporaryDirectory,
    wrap: Wrap,
    workspace: PathBuf,
    outside: PathBuf,
    mode_before: Permissions,
    tcp: TcpListener,
    udp: UdpSocket,
    #[cfg(unix)]
    _socket: std::os::unix::net::UnixListener,
}

/// Tries every escape from a sandbox like `wrap`, around its own workspace. The error says why nothing could be tried:
/// no process could be started, or it did not finish.
pub(super) async fn probe(wrap: &Wrap) -> Result<SandboxReport, String> {
    let env = ProbeEnv::new(wrap).map_err(|error| error.to_string())?;
    let (outcome, output) = env.run(&env.script()).await.map_err(|error| error.to_string())?;
    if outcome.exit_code != Some(0) || output.lines().last() != Some(LAST) {
        return Err(output.trim().to_owned());
    }
    let mut escapes = Vec::new();
    for escape in [
        Escape::WriteOutside,
        Escape::ChangeModeOutside,
        Escape::WriteProtected,
        Escape::CreateProtected,
        Escape::TcpConnect,
        Escape::UdpSend,
        Escape::UnixSocket,
        Escape::AgentEnvironment,
        Escape::DetachedProcess,
        Escape::ReadHidden,
        Escape::KernelSettings,
    ] {
        escapes.push((escape, env.verdict(escape, &output).await));
    }
    Ok(SandboxReport { level: wrap.level, escapes })
}

impl ProbeEnv {
    fn new(wrap: &Wrap) -> io::Result<Self> {
        let dir = TemporaryDirectory::new("rheon-probe-")?;
        let place = dir.path().canonicalize()?;
        let [workspace, outside, temporary] =
            ["workspace", "outside", "temporary"].map(|name| place.join(name));
        for path in [&workspace, &outside, &temporary, &workspace.join(".git")] {
            std::fs::create_dir(path)?;
        }
        std::fs::write(outside.join("file"), "as it was")?;
        let boundary = Boundary::new([&workspace])
            .with_network(wrap.boundary.network().clone())
            .with_hidden(outside.join("hidden"));
        std::fs::write(outside.join("hidden"), HIDDEN_TEXT)?;
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        Ok(Self {
            _dir: dir,
            wrap: Wrap { boundary, temporary, ..wrap.clone() },
            mode_before: std::fs::metadata(outside.join("file"))?.permissions(),
            #[cfg(unix)]
            _socket: std::os::unix::net::UnixListener::bind(outside.join("socket"))?,
            workspace,
            outside,
            tcp,
            udp,
        })
    }

    /// Tries each escape in turn, each in its own shell, few with a separate program. A result is a line of output that
    /// starts with its name. The process left behind exits when the directory is removed, so the probe leaves none.
    fn script(&self) -> String {
        let port = |address: io::Result<std::net::SocketAddr>| address.map_or(0, |address| address.port());
        format!(
            "exec 2>/dev/null
            outside='{outside}'
            (echo out >\"$outside/new\")
            (echo out >.git/new)
            (mkdir .rheon; echo out >.rheon/new)
            (chmod 0611 \"$outside/file\")
            {connect} && echo {SOCKET}
            while IFS= read -r -d '' one; do
                case $one in {PROBE_VARIABLE}=*) seen={OWN_ENVIRONMENT}; break;; *) seen={ENVIRONMENT};; esac
            done </proc/{agent}/environ
            echo $seen
            echo \"{HIDDEN}$(<\"$outside/hidden\")\"
            for setting in {SETTINGS}; do (exec 3>>$setting) && echo {SETTING}; done
            {network}
            command -v setsid >/dev/null && run=setsid
            read -r _ < <($run bash -c 'echo; exec >/dev/null; while [ -d \"$1\" ]; do sleep 0.1; done' \
                '{process}' \"$outside\" </dev/null)
            echo {LAST}",
            outside = self.outside.display(),
            agent = std::process::id(),
            connect = self.connect(),
            network = match self.wrap.boundary.network() {
                NetworkAccess::Open => String::new(),
                NetworkAccess::Blocked | NetworkAccess::Hosts(_) => format!(
                    "(exec 3<>/dev/tcp/127.0.0.1/{}); (echo out >/dev/udp/127.0.0.1/{})",
                    port(self.tcp.local_addr()),
                    port(self.udp.local_addr())
                ),
            },
            process = self.process(),
        )
    }

    /// Tries to connect to the socket of another program, with this program where it can. Otherwise a socket that can be
    /// seen counts as open.
    fn connect(&self) -> String {
        let socket = self.outside.join("socket");
        match std::fs::read_link("/proc/self/exe") {
            Ok(program) if SessionHelper::is_available() => {
                format!("'{}' {CONNECT_ARGUMENT} '{}'", program.display(), socket.display())
            }
            Ok(_) | Err(_) => format!("[ -S '{}' ]", socket.display()),
        }
    }

    /// The name of the process to leave behind.
    fn process(&self) -> String {
        format!("rheon-probe-{}", self.workspace.display())
    }

    async fn verdict(&self, escape: Escape, output: &str) -> EscapeVerdict {
        let told = |name: &str| output.lines().any(|line| line.starts_with(name));
        match escape {
            Escape::WriteOutside => open_if(self.outside.join("new").exists()),
            Escape::WriteProtected => open_if(self.workspace.join(".git/new").exists()),
            Escape::CreateProtected => open_if(self.workspace.join(".rheon/new").exists()),
            Escape::ChangeModeOutside => {
                let after = std::fs::metadata(self.outside.join("file"));
                open_if(after.map_or(true, |found| found.permissions() != self.mode_before))
            }
            Escape::TcpConnect => self.unless_allowed(self.tcp.accept().is_ok()),
            Escape::UdpSend => self.unless_allowed(self.udp.recv(&mut [0; 8]).is_ok()),
            Escape::UnixSocket if cfg!(not(unix)) => {
                EscapeVerdict::Untested("this system has no such sockets".into())
            }
            Escape::UnixSocket => open_if(told(SOCKET)),
            // A process with the agent's number may belong to the sandbox itself, which has the variable of the probe.
            Escape::AgentEnvironment => open_if(told(ENVIRONMENT)),
            Escape::ReadHidden => open_if(told(&format!("{HIDDEN}{HIDDEN_TEXT}"))),
            Escape::DetachedProcess => self.process_stays().await,
            Escape::KernelSettings => open_if(told(SETTING)),
        }
    }

    fn unless_allowed(&self, worked: bool) -> EscapeVerdict {
        match self.wrap.boundary.network() {
            NetworkAccess::Open => EscapeVerdict::Untested("the network is allowed".into()),
            NetworkAccess::Blocked | NetworkAccess::Hosts(_) => open_if(worked),
        }
    }

    async fn process_stays(&self) -> EscapeVerdict {
        let name = self.process();
        // The kernel may take a moment to end a killed process.
        for _ in 0..LOOKS_MAX {
            if !is_running(&name) {
                return EscapeVerdict::Blocked;
            }
            tokio::task::yield_now().await;
        }
        EscapeVerdict::Open
    }

    async fn run(&self, text: &str) -> io::Result<(ProcessOutcome, String)> {
        let environment =
            ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin").with(PROBE_VARIABLE, "1");
        let line = ShellLine { text: text.into(), dir: self.workspace.clone(), environment };
        let limits = OutputLimits { head_bytes: 64 * 1024, tail_bytes: 0, spill: None };
        let capture = Mutex::new(Capture::new(limits));
        let stop = StopCondition { timeout: Some(TIMEOUT), cancel: CancellationToken::new() };
        let outcome = run(&line, self.wrap.launcher(), stop, &capture, |_| {}).await;
        let output = capture.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).finish().head;
        match outcome {
            Ok(outcome) => Ok((outcome, output)),
            // The program that should start the shell says why it did not.
            Err(ProcessError::NotBegun { .. }) if !output.trim().is_empty() => {
                Err(io::Error::other(output.trim().to_owned()))
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

const HIDDEN_TEXT: &str = "not to be read";

/// Prefixes of the probe's output lines.
const SOCKET: &str = "socket";
const ENVIRONMENT: &str = "environment";
const OWN_ENVIRONMENT: &str = "own-environment";
const HIDDEN: &str = "hidden:";
const SETTING: &str = "setting";
const LAST: &str = "all was tried";

/// Kernel settings of the machine, not of a namespace. They are opened for writing but never written.
const SETTINGS: &str = "/proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger";

const PROBE_VARIABLE: &str = "RHEON_PROBE";

const TIMEOUT: Duration = Duration::from_secs(30);

/// How often to check whether a process has ended.
const LOOKS_MAX: usize = 200;

fn open_if(worked: bool) -> EscapeVerdict {
    if worked { EscapeVerdict::Open } else { EscapeVerdict::Blocked }
}

fn is_running(argument: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}
