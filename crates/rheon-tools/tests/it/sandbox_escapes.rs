//! Attempts to escape the sandbox through `bash`, checked from outside. Every level this machine supports is tested
//! against everything it promises to block.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_sandbox::process::{EnvironmentSettings, ProcessEnvironment};
use rheon_sandbox::{Boundary, Level, NamespaceUse, Programs, Requirement, Sandbox};
use rheon_tools::Workspace;
use rheon_tools::builtin::bash::{BashSession, BashSettings, BashTool};
use rheon_types::{Tool, ToolContext};
use serde_json::json;
use tempfile::TempDir;

/// Must not be readable anywhere.
const CANARY: &str = "canary-6f1d";

/// The lowest level that blocks an escape, its description, and the command.
const ESCAPES: [(Level, &str, &str); 47] = [
    (Level::Landlock, "a new file", "echo x > OUTSIDE/new"),
    (Level::Landlock, "more in a file", "echo x >> OUTSIDE/file"),
    (Level::Landlock, "a copy over a file", "cp /etc/passwd OUTSIDE/file"),
    (Level::Landlock, "a link to a folder", "ln -sfn OUTSIDE link; echo x > link/new"),
    (Level::Landlock, "a link to a file", "ln -sf OUTSIDE/file link2; echo x > link2"),
    (Level::Landlock, "a hard link", "ln OUTSIDE/file hard; echo x > hard; rm -f hard"),
    (Level::Landlock, "a move to the outside", "echo x > moved; mv moved OUTSIDE/moved; rm -f moved"),
    (Level::Landlock, "a move from the outside", "mv OUTSIDE/file taken"),
    (Level::Landlock, "a removal", "rm -rf OUTSIDE/file OUTSIDE/folder"),
    (Level::Landlock, "a truncation", "truncate -s 0 OUTSIDE/file"),
    (Level::Landlock, "the folder above", "cd ..; mkdir evil; echo x > evil/file"),
    (Level::Landlock, "dots", "mkdir -p sub; echo x > sub/../../outside/new"),
    (Level::Landlock, "dd", "dd if=/dev/zero of=OUTSIDE/file bs=1 count=1 conv=notrunc"),
    (Level::Landlock, "tee", "echo x | tee -a OUTSIDE/file"),
    (Level::Landlock, "tar", "echo x > new; tar cf t.tar new; tar xf t.tar -C OUTSIDE; rm -f new t.tar"),
    (Level::Landlock, "perl", "perl -e 'open(F, \">\", \"OUTSIDE/new\") and print F 1'"),
    (Level::Landlock, "python", "python3 -c 'open(\"OUTSIDE/new\", \"w\").write(\"x\")'"),
    (Level::Landlock, "another repository", "git init OUTSIDE/repository; git -C OUTSIDE init"),
    (Level::Landlock, "the root of a process", "echo x > /proc/self/root/OUTSIDE/new"),
    (Level::Landlock, "the root of the first process", "echo x > /proc/1/root/OUTSIDE/new"),
    (Level::Landlock, "the root of the agent", "echo x > /proc/AGENT/root/OUTSIDE/new"),
    (Level::Landlock, "the folder of the agent", "ls /proc/AGENT/cwd/ && echo CANARY"),
    (Level::Landlock, "a mount", "mkdir -p at; mount --bind OUTSIDE at && echo x > at/new; rmdir at"),
    (
        Level::Landlock,
        "a mount anew",
        "mount -o remount,rw,bind / ; mount -o remount,rw OUTSIDE; echo x > OUTSIDE/new",
    ),
    (
        Level::Landlock,
        "a namespace",
        "unshare -rm bash -c 'mount -o remount,rw,bind /; mount --bind OUTSIDE /mnt; echo x > OUTSIDE/new; echo x > /mnt/new'",
    ),
    (Level::Landlock, "the namespace of the first process", "nsenter -t 1 -a bash -c 'echo x > OUTSIDE/new'"),
    (Level::Landlock, "the namespace of the agent", "nsenter -t AGENT -a bash -c 'echo x > OUTSIDE/new'"),
    (
        Level::Landlock,
        "temporary files of all",
        "echo x > /tmp/rheon-ways-out-AGENT; echo x > /dev/shm/rheon-ways-out-AGENT",
    ),
    (Level::Landlock, "TCP", "echo x > /dev/tcp/127.0.0.1/TCP"),
    (Level::Landlock, "UDP", "echo x > /dev/udp/127.0.0.1/UDP"),
    (
        Level::Landlock,
        "TCP from a new network",
        "unshare -rn bash -c 'ip link set lo up; echo x > /dev/tcp/127.0.0.1/TCP'; curl -s http://127.0.0.1:TCP",
    ),
    (Level::Landlock, "the environment", "env; set; export -p"),
    (Level::Landlock, "the environment of the agent", "cat /proc/AGENT/environ; strings /proc/AGENT/environ"),
    (
        Level::Landlock,
        "the environment of all",
        "cat /proc/[0-9]*/environ /proc/self/task/*/environ /proc/$PPID/environ",
    ),
    (
        Level::Landlock,
        "the memory of the agent",
        "head -c 1 /proc/AGENT/maps && echo CANARY; head -c 1 /proc/AGENT/mem",
    ),
    (Level::Landlock, "a signal to the agent", "kill -0 AGENT && echo CANARY"),
    (
        Level::Landlock,
        "a process that stays",
        "(setsid nohup bash -c 'exec -a STAYS sleep 60' >/dev/null 2>&1 &)",
    ),
    (
        Level::Landlock,
        "a process without a name",
        "(env -i setsid /bin/bash -c '(exec -a STAYS sleep 60 &) &' &)",
    ),
    (Level::Namespaces, "a mode", "chmod 0777 OUTSIDE/file; chmod 0700 OUTSIDE"),
    (Level::Namespaces, "a time", "touch -d 2001-01-01 OUTSIDE/file"),
    (Level::Namespaces, "a hook", "echo 'touch x' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"),
    (
        Level::Namespaces,
        "a setting of git",
        "git config core.fsmonitor 'touch x'; git config --global core.pager x",
    ),
    (
        Level::Namespaces,
        "another repository in its place",
        "mv .git old; rm -rf .git; git init -q; cp -r sub .git",
    ),
    (
        Level::Namespaces,
        "settings of agents",
        "mkdir -p .claude .rheon; echo {} > .claude/settings.json; echo {} > .mcp.json",
    ),
    (Level::Namespaces, "links as settings", "ln -s sub .vscode; ln -s sub .husky; mv sub .cursor"),
    (
        Level::Namespaces,
        "a socket",
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un(\"SOCKET\"))'",
    ),
    (Level::Namespaces, "a key", "cat KEY; cp KEY key; cat key; rm -f key"),
];

struct Fixture {
    _folder: TempDir,
    base: PathBuf,
    root: PathBuf,
    outside: PathBuf,
    bash: BashTool,
    tcp: TcpListener,
    udp: UdpSocket,
    socket: UnixListener,
}

/// Not below `/tmp` if possible, which commands cannot see.
fn folder() -> TempDir {
    let parents = [Path::new("/var"), Path::new(env!("CARGO_TARGET_TMPDIR"))];
    parents
        .iter()
        .find_map(|fixture| TempDir::new_in(fixture).ok())
        .unwrap_or_else(|| TempDir::new().unwrap())
}

async fn fixture(programs: Programs, level: Level) -> Option<Fixture> {
    let folder = folder();
    let base = folder.path().canonicalize().unwrap();
    let (root, outside) = (base.join("workspace"), base.join("outside"));
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join(".git/config"), "[core]\n").unwrap();
    fs::create_dir_all(outside.join("folder")).unwrap();
    fs::write(outside.join("file"), "as it was").unwrap();
    fs::write(outside.join("key"), CANARY).unwrap();
    let workspace = Workspace::new(&root).unwrap();
    let boundary = Boundary::new(workspace.roots()).with_hidden(outside.join("key"));
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
    let bash = BashTool(Arc::new(BashSession::new(settings)));
    Some(Fixture { _folder: folder, base, root, outside, bash, tcp, udp, socket })
}

impl Fixture {
    fn line(&self, escape: &str) -> String {
        let shown = |path: PathBuf| path.display().to_string();
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
        format!("rheon-ways-out-{}", self.tcp.local_addr().unwrap().port())
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
        let heard =
            [self.tcp.accept().is_ok(), self.udp.recv(&mut [0; 8]).is_ok(), self.socket.accept().is_ok()];
        if heard.contains(&true) {
            return Some(format!("TCP, UDP, socket: {heard:?}"));
        }
        if output.contains(CANARY) {
            return Some("the canary was read".into());
        }
        is_running(&self.stays()).then(|| "a process stayed".into())
    }
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
    for (programs, level) in [
        (all, Level::Namespaces),
        (with_bubblewrap, Level::Namespaces),
        (without_views, Level::Landlock),
        (without_namespaces, Level::Landlock),
    ] {
        let Some(fixture) = fixture(programs, level).await else {
            println!("level {level} was not tested: this machine does not support it");
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
        println!("level {level}: {tried} escapes tried, {} succeeded", open.len());
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
