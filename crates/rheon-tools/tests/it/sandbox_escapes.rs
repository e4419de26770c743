//! Attempts to escape the sandbox through `bash`, checked from outside. Every level this machine supports is tested
//! against everything it promises to block.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_sandbox::process::{EnvironmentSettings, ProcessEnvironment};
use rheon_sandbox::{Boundary, Level, NamespaceUse, Programs, Requirement, Sandbox};
use rheon_tools::Workspace;
use rheon_tools::builtin::bash::{BashSession, BashSettings, BashTool};
use rheon_types::{Tool, ToolContext};
use serde_json::json;
use tempfile::TempDir;

use crate::escape_list::{CALLS, ESCAPES};

/// Must not be readable anywhere.
const CANARY: &str = "canary-6f1d";

struct Fixture {
    _dir: TempDir,
    _quarantine: TempDir,
    base: PathBuf,
    root: PathBuf,
    outside: PathBuf,
    bash: BashTool,
    tcp: TcpListener,
    udp: UdpSocket,
    socket: UnixListener,
    abstract_socket: UnixListener,
}

/// Not below `/tmp` if possible, which commands cannot see.
fn dir() -> TempDir {
    let parents = [Path::new("/var"), Path::new(env!("CARGO_TARGET_TMPDIR"))];
    parents
        .iter()
        .find_map(|fixture| TempDir::new_in(fixture).ok())
        .unwrap_or_else(|| TempDir::new().unwrap())
}

async fn fixture(programs: Programs, level: Level) -> Option<Fixture> {
    let dir = dir();
    let base = dir.path().canonicalize().unwrap();
    let (root, outside) = (base.join("workspace"), base.join("outside"));
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join(".git/config"), "[core]\n").unwrap();
    fs::create_dir_all(outside.join("folder")).unwrap();
    fs::write(outside.join("file"), "as it was").unwrap();
    fs::write(outside.join("key"), CANARY).unwrap();
    let workspace = Workspace::new(&root).unwrap();
    let quarantine = self::dir();
    let boundary =
        Boundary::new(workspace.roots()).with_hidden(outside.join("key")).with_quarantine(quarantine.path());
    let sandbox = Sandbox::choose_with(programs, Requirement::AtLeast(level), boundary).await.ok()?;
    let source = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/nowhere"),
        ("ANTHROPIC_API_KEY", CANARY),
        ("DB_PASSWORD", CANARY),
    ];
    let source = source.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let environment = ProcessEnvironment::passed_on(source, &EnvironmentSettings::default());
    let settings =
        BashSettings { workspace, sandbox, environment, output: BashSettings::output_limits(&outside) };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let socket = UnixListener::bind(outside.join("socket")).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    socket.set_nonblocking(true).unwrap();
    let name = stays(&tcp);
    let abstract_socket =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(name.as_bytes()).unwrap()).unwrap();
    abstract_socket.set_nonblocking(true).unwrap();
    let bash = BashTool(Arc::new(BashSession::new(settings)));
    Some(Fixture {
        _dir: dir,
        _quarantine: quarantine,
        base,
        root,
        outside,
        bash,
        tcp,
        udp,
        socket,
        abstract_socket,
    })
}

impl Fixture {
    fn line(&self, escape: &str) -> String {
        let shown = |path: PathBuf| path.display().to_string();
        let escape = CALLS.iter().fold(escape.to_owned(), |line, (name, number)| line.replace(name, number));
        escape
            .replace("OUTSIDE", &shown(self.outside.clone()))
            .replace("SOCKET", &shown(self.outside.join("socket")))
            .replace("KEY", &shown(self.outside.join("key")))
            .replace("AGENT", &std::process::id().to_string())
            .replace("CANARY", CANARY)
            .replace("STAYS", &self.stays())
            .replace("TCP", &self.tcp.local_addr().unwrap().port().to_string())
            .replace("UDP", &self.udp.local_addr().unwrap().port().to_string())
    }

    fn stays(&self) -> String {
        stays(&self.tcp)
    }

    async fn run(&self, line: &str) -> String {
        let context = ToolContext::new("call", "bash").in_run("session", "run");
        let arguments = json!({ "command": line, "timeout_ms": 60_000 });
        match self.bash.execute(Arc::new(arguments), context).await {
            Ok(result) => result.as_text(),
            Err(error) => error.to_string(),
        }
    }

    /// Everything a command must not change at this level, as text.
    fn state(&self, level: Level) -> BTreeMap<PathBuf, String> {
        let mut state = BTreeMap::new();
        look(&self.outside, &mut state);
        for entry in fs::read_dir(&self.base).unwrap().flatten() {
            state.insert(entry.path(), "there".into());
        }
        for entry in fs::read_dir(&self.root).unwrap().flatten() {
            if level == Level::Namespaces && entry.file_name().as_encoded_bytes().starts_with(b".") {
                look(&entry.path(), &mut state);
            }
        }
        for shared in ["/tmp", "/dev/shm"] {
            let path = Path::new(shared).join(format!("rheon-ways-out-{}", std::process::id()));
            state.insert(path.clone(), path.exists().to_string());
        }
        state
    }

    /// The effect of an escape, if it succeeded.
    fn effect(&self, level: Level, (before, output): (&BTreeMap<PathBuf, String>, &str)) -> Option<String> {
        let after = self.state(level);
        let changed = after.iter().find(|(path, was)| before.get(*path) != Some(*was));
        let gone = before.keys().find(|path| !after.contains_key(*path));
        if let Some(path) = changed.map(|(path, _)| path).or(gone) {
            return Some(format!("{} changed", path.display()));
        }
        let heard = [
            self.tcp.accept().is_ok(),
            self.udp.recv(&mut [0; 8]).is_ok(),
            self.socket.accept().is_ok(),
            self.abstract_socket.accept().is_ok(),
        ];
        if heard.contains(&true) {
            return Some(format!("TCP, UDP, socket, abstract socket: {heard:?}"));
        }
        if output.contains(CANARY) {
            return Some("the canary was read".into());
        }
        is_running(&self.stays()).then(|| "a process stayed".into())
    }
}

/// A name that no other test uses.
fn stays(tcp: &TcpListener) -> String {
    format!("rheon-ways-out-{}", tcp.local_addr().unwrap().port())
}

/// Kinds, modes, times and contents below a path.
fn look(path: &Path, state: &mut BTreeMap<PathBuf, String>) {
    let effect = fs::symlink_metadata(path).unwrap();
    let content = if effect.is_file() { fs::read_to_string(path).unwrap() } else { String::new() };
    state.insert(path.into(), format!("{:o} {} {content:?}", effect.mode(), effect.mtime()));
    if effect.is_dir() {
        fs::read_dir(path).unwrap().flatten().for_each(|entry| look(&entry.path(), state));
    }
}

/// A killed process may need a moment to exit.
fn is_running(argument: &str) -> bool {
    let look = || {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let mut lines = entries.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
        lines.any(|line| line.split('\0').any(|word| word == argument))
    };
    (0..1_000).all(|_| {
        std::thread::yield_now();
        look()
    })
}

#[tokio::test]
async fn no_command_escapes_the_sandbox() {
    let all = Programs::find();
    let with_bubblewrap = Programs { namespaces: NamespaceUse::ProcessesOnly, ..all.clone() };
    let without_views = Programs { bwrap: None, ..with_bubblewrap.clone() };
    let without_namespaces = Programs { bwrap: None, namespaces: NamespaceUse::Never, ..all.clone() };
    for (name, programs, level) in [
        ("namespaces", all, Level::Namespaces),
        ("namespaces by bubblewrap", with_bubblewrap, Level::Namespaces),
        ("landlock", without_views, Level::Landlock),
        ("landlock without namespaces", without_namespaces, Level::Landlock),
    ] {
        let Some(fixture) = fixture(programs, level).await else {
            // `cargo xtask escapes` reads these lines.
            println!("escapes\t{name}\tnot supported here");
            continue;
        };
        let before = fixture.state(level);
        let mut open = Vec::new();
        let mut tried = 0;
        for (blocked_from, what, escape) in ESCAPES.iter().filter(|(blocked_from, ..)| *blocked_from <= level)
        {
            let output = fixture.run(&fixture.line(escape)).await;
            tried += 1;
            if let Some(effect) = fixture.effect(level, (&before, &output)) {
                open.push(format!("{what} ({blocked_from}): {effect}\n{output}"));
                break;
            }
        }
        println!("escapes\t{name}\t{tried}\t{}", open.len());
        assert_eq!(open, Vec::<String>::new(), "level {level}");
        // Normal work still succeeds, and an escape would be detected.
        let worked = "mkdir -p made && cd made && echo good > file && cat file";
        assert_eq!(fixture.run(worked).await, "good\nexit code 0", "level {level}");
        assert_eq!(fixture.effect(level, (&before, CANARY)), Some("the canary was read".into()));
        fs::write(fixture.outside.join("file"), "changed").unwrap();
        assert_eq!(
            fixture.effect(level, (&before, "")),
            Some(format!("{} changed", fixture.outside.join("file").display()))
        );
    }
}
