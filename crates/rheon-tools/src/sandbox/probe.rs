//! Tries to get out: each way is a line of bash that is run in the sandbox, and a look from outside at what came of it.

use std::io;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::boundary::{Boundary, Network};
use super::report::{Escape, Report, Verdict};
use super::wrap::Wrap;
use crate::process::{Capture, Ended, Environment, OutputLimits, ShellLine, Stop, run};
use crate::workspace::Workspace;

/// A place of its own to try in, so that a way that is open harms nothing.
struct Ground {
    _folder: TempDir,
    wrap: Wrap,
    workspace: PathBuf,
    outside: PathBuf,
}

/// Tries every way out of a sandbox like `wrap`, but around a workspace of its own.
pub(super) async fn probe(wrap: &Wrap) -> io::Result<Report> {
    let ground = Ground::new(wrap)?;
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
    ] {
        escapes.push((escape, ground.attempt(escape).await?));
    }
    Ok(Report { level: wrap.level, escapes })
}

/// Whether a process can be started at all.
pub(super) async fn starts(wrap: &Wrap) -> Result<(), String> {
    let ground = Ground::new(wrap).map_err(|error| error.to_string())?;
    let (ended, output) = ground.run("true").await.map_err(|error| error.to_string())?;
    match ended.exit_code {
        Some(0) => Ok(()),
        Some(_) | None => Err(output.trim().to_owned()),
    }
}

impl Ground {
    fn new(wrap: &Wrap) -> io::Result<Self> {
        let folder = TempDir::with_prefix("rheon-probe-")?;
        let place = folder.path().canonicalize()?;
        let [workspace, outside, temporary] =
            ["workspace", "outside", "temporary"].map(|name| place.join(name));
        for path in [&workspace, &outside, &temporary, &workspace.join(".git")] {
            std::fs::create_dir(path)?;
        }
        std::fs::write(outside.join("file"), "as it was")?;
        let boundary = Boundary::new(&Workspace::new(&workspace)?)
            .with_network(wrap.boundary.network())
            .with_hidden(outside.join("hidden"));
        std::fs::write(outside.join("hidden"), HIDDEN)?;
        let wrap = Wrap { boundary, temporary, ..wrap.clone() };
        Ok(Self { _folder: folder, wrap, workspace, outside })
    }

    async fn attempt(&self, escape: Escape) -> io::Result<Verdict> {
        match escape {
            Escape::WriteOutside => self.creates(&self.outside.join("new")).await,
            Escape::WriteProtected => self.creates(&self.workspace.join(".git/new")).await,
            Escape::CreateProtected => self.creates(&self.workspace.join(".rheon/new")).await,
            Escape::ChangeModeOutside => self.changes_mode().await,
            Escape::TcpConnect => self.connects().await,
            Escape::UdpSend => self.sends().await,
            Escape::UnixSocket => self.sees_socket().await,
            Escape::AgentEnvironment => self.reads_environment().await,
            Escape::DetachedProcess => self.leaves_process().await,
            Escape::ReadHidden => self.reads_hidden().await,
        }
    }

    async fn creates(&self, path: &Path) -> io::Result<Verdict> {
        let shown = path.display();
        self.run(&format!("mkdir -p \"$(dirname '{shown}')\"; echo out > '{shown}'")).await?;
        Ok(open_if(path.exists()))
    }

    async fn changes_mode(&self) -> io::Result<Verdict> {
        let file = self.outside.join("file");
        let before = std::fs::metadata(&file)?.permissions();
        self.run(&format!("chmod 0611 '{}'", file.display())).await?;
        Ok(open_if(std::fs::metadata(&file)?.permissions() != before))
    }

    async fn connects(&self) -> io::Result<Verdict> {
        if self.wrap.boundary.network() == Network::Open {
            return Ok(Verdict::Untested("the network is allowed".into()));
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        self.run(&format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr()?.port())).await?;
        Ok(open_if(listener.accept().is_ok()))
    }

    async fn sends(&self) -> io::Result<Verdict> {
        if self.wrap.boundary.network() == Network::Open {
            return Ok(Verdict::Untested("the network is allowed".into()));
        }
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_nonblocking(true)?;
        self.run(&format!("echo out > /dev/udp/127.0.0.1/{}", socket.local_addr()?.port())).await?;
        Ok(open_if(socket.recv(&mut [0; 8]).is_ok()))
    }

    #[cfg(unix)]
    async fn sees_socket(&self) -> io::Result<Verdict> {
        let path = self.outside.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path)?;
        let (ended, _) = self.run(&format!("[ -S '{}' ]", path.display())).await?;
        Ok(open_if(ended.exit_code == Some(0)))
    }

    #[cfg(not(unix))]
    async fn sees_socket(&self) -> io::Result<Verdict> {
        Ok(Verdict::Untested("there are no such sockets on this system".into()))
    }

    /// A process with the agent's number may be one of the sandbox itself, which has the variable of the probe.
    async fn reads_environment(&self) -> io::Result<Verdict> {
        let line = format!("tr '\\0' '\\n' < /proc/{}/environ", std::process::id());
        let (ended, output) = self.run(&line).await?;
        Ok(open_if(ended.exit_code == Some(0) && !output.is_empty() && !output.contains(PROBE_VARIABLE)))
    }

    async fn reads_hidden(&self) -> io::Result<Verdict> {
        let (_, output) = self.run(&format!("cat '{}'", self.outside.join("hidden").display())).await?;
        Ok(open_if(output.contains(HIDDEN)))
    }

    /// The process that is left ends with the folder, so that the probe itself leaves none.
    async fn leaves_process(&self) -> io::Result<Verdict> {
        let name = format!("rheon-probe-{}", self.workspace.display());
        let folder = self.workspace.display();
        self.run(&format!(
            "command -v setsid >/dev/null && run=setsid\n\
             ($run bash -c 'while [ -d \"$1\" ]; do sleep 0.1; done' '{name}' '{folder}' </dev/null >/dev/null 2>&1 &)\n\
             until grep -qsF '{name}' /proc/[0-9]*/cmdline; do :; done"
        ))
        .await?;
        // The kernel may need a moment to end what it was told to end.
        for _ in 0..LOOKS_MAX {
            if !is_running(&name) {
                return Ok(Verdict::Blocked);
            }
            tokio::task::yield_now().await;
        }
        Ok(Verdict::Open)
    }

    async fn run(&self, text: &str) -> io::Result<(Ended, String)> {
        let environment =
            Environment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin").with(PROBE_VARIABLE, "1");
        let line = ShellLine { text: text.into(), folder: self.workspace.clone(), environment };
        let limits = OutputLimits { head_bytes: 64 * 1024, tail_bytes: 0, spill: None };
        let capture = Mutex::new(Capture::new(limits));
        let stop = Stop { timeout: Some(TIMEOUT), cancel: CancellationToken::new() };
        let ended =
            run(&line, self.wrap.launcher(), stop, &capture, |_| {}).await.map_err(io::Error::other)?;
        let output = capture.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).finish();
        Ok((ended, output.head))
    }
}

/// What a hidden file holds.
const HIDDEN: &str = "not to be read";

const PROBE_VARIABLE: &str = "RHEON_PROBE";

/// The longest that one attempt may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How often is looked whether a process is gone.
const LOOKS_MAX: usize = 200;

fn open_if(worked: bool) -> Verdict {
    if worked { Verdict::Open } else { Verdict::Blocked }
}

/// Whether a process has this among its arguments.
fn is_running(argument: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}
