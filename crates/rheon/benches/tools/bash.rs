//! `bash`: what a command costs beyond a bare spawn, by the level of the sandbox, and what a gigabyte of output keeps in
//! memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rheon::tools::Workspace;
use rheon::tools::builtin::bash::{Bash, BashSession, BashSettings};
use rheon::tools::process::Environment;
use rheon::tools::sandbox::{Boundary, Level, Programs, Requirement, Sandbox};
use serde_json::json;

use crate::calls::bare;
use crate::race::{race, whole};
use crate::{report, runtime};

const ROUNDS: usize = 60;
/// What the first process sets for the one it starts.
const CHILD: &str = "RHEON_BENCH_OUTPUT";
const OUTPUT_BYTES: u64 = 1 << 30;

/// How many commands of each kind take turns, one level after the other.
const LEVELS: [Level; 3] = [Level::None, Level::Landlock, Level::Namespaces];

pub(crate) fn measure() {
    let runtime = runtime();
    let mut ways = vec![
        whole("spawn", || {
            let status = Command::new("/bin/true").status().expect("true can be started");
            assert!(status.success());
        }),
        whole("bash", || {
            let output = Command::new("bash").args(["-c", "true"]).stdin(Stdio::null()).output();
            assert!(output.expect("bash can be started").status.success());
        }),
    ];
    let mut names = vec!["spawn".to_owned(), "bash".to_owned()];
    for level in LEVELS {
        match runtime.block_on(session(level)) {
            Some(session) => {
                names.push(level.to_string());
                let (tool, runtime) = (Bash(session), &runtime);
                ways.push(whole(level.to_string(), move || {
                    let result = runtime.block_on(bare(&tool, json!({ "command": "true" })));
                    assert_eq!(result.as_text(), "exit code 0");
                }));
            }
            None => eprintln!("== bash at level {level}: skipped, this machine does not have it"),
        }
    }
    let times = race(ROUNDS, ways);
    for name in names {
        report(&format!("bash/{name}"), times.best(&name));
        report(&format!("bash/{name}/median"), times.median(&name));
    }
    report("output/mib", child());
}

/// A session of just this level.
async fn session(level: Level) -> Option<Arc<BashSession>> {
    let folder = folder();
    let workspace = Workspace::new(&folder.join("workspace")).expect("the folder is there");
    let boundary = Boundary::new(&workspace);
    let mut programs = Programs::find();
    let requirement = match level {
        Level::None => Requirement::NoSandbox,
        Level::Landlock => {
            programs.bwrap = None;
            Requirement::AtLeast(Level::Landlock)
        }
        Level::Namespaces => Requirement::AtLeast(Level::Namespaces),
    };
    let sandbox = Sandbox::choose_with(programs, requirement, boundary).await.ok()?;
    let environment = Environment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin");
    let output = BashSettings::output_in(folder.join("saved"));
    let settings = BashSettings { workspace, sandbox, environment, output };
    Some(Arc::new(BashSession::new(settings)))
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools-bash");
    for inner in ["workspace", "saved"] {
        std::fs::create_dir_all(folder.join(inner)).expect("the target folder can be written");
    }
    folder
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
        for level in LEVELS.into_iter().rev() {
            found = session(level).await;
            if found.is_some() {
                break;
            }
        }
        let tool = Bash(found.expect("without a sandbox there is always a session"));
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
