//! `bash`: what a command costs beyond a bare spawn, by the level of the sandbox and in its parts, what a toolkit costs at
//! the start, and what a gigabyte of output keeps in memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rheon::policy::{PatternRoots, Policy};
use rheon::sandbox::process::{
    Capture, Containment, Launcher, ProcessEnvironment, ProcessSetup, ResourceLimits, SessionHelper,
    ShellLine, StopCondition, run,
};
use rheon::sandbox::{
    Boundary, CacheMode, CacheSettings, Caches, HostList, Level, NamespaceUse, NetworkAccess, ProbeCache,
    Programs, Requirement, Sandbox,
};
use rheon::tools::builtin::AddressRule;
use rheon::tools::builtin::bash::{BashSession, BashSettings, BashTool};
use rheon::tools::{OwnPaths, Toolkit, ToolkitSettings, Workspace};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::calls::bare;
use crate::race::{race, whole};
use crate::{report, runtime};

const ROUNDS: usize = 60;
/// What the first process sets for the one it starts.
const CHILD: &str = "RHEON_BENCH_OUTPUT";
const OUTPUT_BYTES: u64 = 1 << 30;

/// What holds commands, weakest first.
const WAYS: [Held; 5] = [Held::None, Held::Landlock, Held::Bubblewrap, Held::Namespaces, Held::Everyday];

/// What holds commands.
#[derive(Clone, Copy)]
enum Held {
    None,
    Landlock,
    /// Namespaces that bubblewrap makes.
    Bubblewrap,
    /// Namespaces that are made without it.
    Namespaces,
    /// The same with what a session usually has: hidden keys, package caches with layers, hosts behind the proxy.
    Everyday,
}

impl Held {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Bubblewrap => "bubblewrap",
            Self::Namespaces => "namespaces",
            Self::Everyday => "everyday",
        }
    }
}

pub(crate) fn measure() {
    let runtime = runtime();
    let mut ways = vec![
        whole("spawn", || {
            let status = Command::new("/bin/true").status().expect("true can be started");
            assert!(status.success());
        }),
        whole("bash", || {
            let output = Command::new("bash").args(["-c", "echo x"]).stdin(Stdio::null()).output();
            assert_eq!(output.expect("bash can be started").stdout, b"x\n");
        }),
        whole("process", || runtime.block_on(alone(plain()))),
    ];
    let mut names = vec!["spawn".to_owned(), "bash".to_owned(), "process".to_owned()];
    for held in WAYS {
        let Some(session) = runtime.block_on(session(held)) else {
            eprintln!("== bash held by {}: skipped, this machine does not have it", held.name());
            continue;
        };
        let runtime = &runtime;
        let (process, name) = (format!("{}/process", held.name()), held.name().to_owned());
        names.extend([process.clone(), name.clone()]);
        let tool = BashTool(Arc::clone(&session));
        ways.push(whole(process, move || runtime.block_on(alone(session.sandbox().launcher()))));
        ways.push(whole(name, move || {
            let result = runtime.block_on(bare(&tool, json!({ "command": "echo x" })));
            assert_eq!(result.as_text(), "x\nexit code 0");
        }));
    }
    let times = race(ROUNDS, ways);
    for name in names {
        report(&format!("bash/{name}"), times.best(&name));
        report(&format!("bash/{name}/median"), times.median(&name));
    }
    measure_helper();
    measure_toolkit(&runtime);
    report("output/mib", child());
}

/// What starts a process that nothing holds.
fn plain() -> Launcher {
    Launcher {
        prefix: Vec::new(),
        bash: Programs::find().bash,
        variables: Vec::new(),
        setup: ProcessSetup::PLAIN,
        view: None,
        containment: Containment::Namespace,
        restrictions: None,
        limits: ResourceLimits::default(),
        helper: None,
        guard: None,
    }
}

/// A command without the tool around it.
async fn alone(launcher: Launcher) {
    let dir = dir();
    let line = ShellLine { text: "echo x".into(), dir: dir.join("workspace"), environment: environment() };
    let capture = Mutex::new(Capture::new(BashSettings::output_limits(dir.join("saved"))));
    let stop = StopCondition { timeout: None, cancel: CancellationToken::new() };
    let ended = run(&line, launcher, stop, &capture, |_| {}).await.expect("bash can be started");
    assert_eq!(ended.exit_code, Some(0));
}

/// What it costs to start the helper of a session, which the first command waits for.
fn measure_helper() {
    if !SessionHelper::is_available() || SessionHelper::new(None, Vec::new()).warm().is_err() {
        return eprintln!("== helper: skipped, this machine does not have it");
    }
    let start = whole("helper", || SessionHelper::new(None, Vec::new()).warm().expect("it started before"));
    let times = race(ROUNDS, [start]);
    report("bash/helper", times.best("helper"));
    report("bash/helper/median", times.median("helper"));
}

/// What it costs to put all tools together, with a sandbox that has to be tried and with one that is remembered.
fn measure_toolkit(runtime: &tokio::runtime::Runtime) {
    let memory = dir().join("sandbox.json");
    let toolkit = |memory: Option<PathBuf>| {
        let places = PatternRoots { working_dir: dir().join("workspace"), home: Some(dir()) };
        let clock = Arc::new(rheon::agent::SystemClock::default());
        let settings = ToolkitSettings {
            own_paths: OwnPaths { sandbox_cache: memory, ..OwnPaths::default() },
            web: Some(AddressRule::Public),
            ..ToolkitSettings::new(Policy::empty(places), clock)
        };
        runtime.block_on(Toolkit::new(settings)).ok()
    };
    if toolkit(Some(memory.clone())).is_none() {
        return eprintln!("== toolkit: skipped, this machine has no sandbox");
    }
    let tried = whole("tried", || drop(toolkit(None)));
    let recalled = whole("recalled", || {
        let toolkit = toolkit(Some(memory.clone())).expect("there was one before");
        assert_eq!(toolkit.sandbox().probe_cache(), &ProbeCache::Hit);
    });
    let times = race(ROUNDS, [tried, recalled]);
    for name in ["tried", "recalled"] {
        report(&format!("toolkit/{name}"), times.best(name));
        report(&format!("toolkit/{name}/median"), times.median(name));
    }
}

fn environment() -> ProcessEnvironment {
    ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin")
}

/// A session that is held in just this way.
async fn session(held: Held) -> Option<Arc<BashSession>> {
    let dir = dir();
    let workspace = Workspace::new(&dir.join("workspace")).expect("the directory is there");
    let all = Programs::find();
    let for_processes = NamespaceUse::ProcessesOnly;
    let (programs, requirement) = match held {
        Held::None => (all, Requirement::NoSandbox),
        Held::Landlock => (
            Programs { bwrap: None, namespaces: for_processes, ..all },
            Requirement::AtLeast(Level::Landlock),
        ),
        Held::Bubblewrap => {
            (Programs { namespaces: for_processes, ..all }, Requirement::AtLeast(Level::Namespaces))
        }
        Held::Namespaces | Held::Everyday => {
            (Programs { bwrap: None, ..all }, Requirement::AtLeast(Level::Namespaces))
        }
    };
    let boundary = Boundary::new(workspace.roots());
    let boundary = match held {
        Held::None | Held::Landlock | Held::Bubblewrap | Held::Namespaces => boundary,
        Held::Everyday => everyday(boundary, &dir),
    };
    let sandbox = Sandbox::choose_with(programs, requirement, boundary).await.ok()?;
    let output = BashSettings::output_limits(dir.join("saved"));
    let settings = BashSettings { workspace, sandbox, environment: environment(), output };
    Some(Arc::new(BashSession::new(settings)))
}

/// What a session usually has.
fn everyday(boundary: Boundary, dir: &Path) -> Boundary {
    let home = dir.join("home");
    for name in [".cargo/registry", ".npm", ".cache/pip", ".ssh", ".aws"] {
        std::fs::create_dir_all(home.join(name)).expect("the target directory can be written");
    }
    let settings = CacheSettings {
        mode: CacheMode::Overlay,
        dir: home.join(".local/state/rheon/caches"),
        project: dir.join("workspace"),
        bytes_max: 1 << 30,
        reports: Default::default(),
        home: home.clone(),
    };
    let caches = Caches::prepare(&settings, &[]).expect("the layers can be prepared");
    let hosts = HostList::registries();
    boundary.with_keys_hidden(&home).with_caches(caches).with_network(NetworkAccess::Hosts(hosts))
}

fn dir() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools-bash");
    for inner in ["workspace", "saved"] {
        std::fs::create_dir_all(dir.join(inner)).expect("the target directory can be written");
    }
    dir
}

/// By how many MiB the peak of a fresh process grows that runs a command with a gigabyte of output.
fn child() -> f64 {
    let program = std::env::current_exe().expect("the benchmark has a path");
    let mut child = Command::new(program);
    let output =
        child.env(CHILD, "1").stderr(Stdio::inherit()).output().expect("the benchmark can be started");
    assert!(output.status.success(), "the process with the output failed");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("the process prints a number")
}

pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

pub(crate) fn run_child() {
    let runtime = runtime();
    let growth = runtime.block_on(async {
        let mut found = None;
        for held in WAYS.into_iter().rev() {
            found = session(held).await;
            if found.is_some() {
                break;
            }
        }
        let tool = BashTool(found.expect("without a sandbox there is always a session"));
        // Whatever the first command sets up is not its output's.
        bare(&tool, json!({ "command": "true" })).await;
        let before = peak_mib();
        let command = format!("head -c {OUTPUT_BYTES} /dev/zero | tr '\\0' 'x'");
        let result = bare(&tool, json!({ "command": command })).await;
        assert!(result.as_text().ends_with("exit code 0"), "all of it is printed");
        peak_mib() - before
    });
    println!("{growth}");
}

/// The most memory this process has had, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system tells of its processes");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system tells of the peak");
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().expect("the peak is a number");
    kibibytes / 1024.0
}
