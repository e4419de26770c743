//! A kill before each call to the kernel of every write path.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::effort::Effort;
use super::strace::{self, Call};
use super::victim::{Victim, empty, stage};

/// The write paths of the victim, and whether each begins with a session that is there.
pub(crate) const PATHS: &[(&str, Fixture)] = &[
    ("work", Fixture::Nothing),
    ("work", Fixture::Session),
    ("open", Fixture::TornSession),
    ("fork", Fixture::Session),
    ("delete", Fixture::Session),
    ("transcript", Fixture::Session),
    ("capture", Fixture::Session),
    ("restore", Fixture::Session),
    ("tree", Fixture::Session),
    ("index", Fixture::Session),
];

/// What is there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixture {
    Nothing,
    Session,
    /// A session whose last line is not whole.
    TornSession,
}

/// Walks every path, is killed before every call, and looks at what is left.
pub(crate) fn run(victim: &Victim, effort: &Effort) -> Result<String> {
    if !strace::works() {
        return Ok(strace::MISSING.into());
    }
    let mut verifier = victim.verifier()?;
    let dir = victim.dir_in_memory("syscalls")?;
    let (mut kills, mut points) = (0, 0);
    for (path, ground) in PATHS {
        prepare(victim, &dir, *ground)?;
        let place = restore(&dir)?;
        let log = dir.join("trace");
        let calls = strace::record(victim, &log, &["act", path, &place])?;
        verifier.ask(&format!("path {path} {place}")).with_context(|| format!("{path} without a kill"))?;
        let all = calls_to_kill(&calls, &place);
        ensure!(!all.is_empty(), "{path} changes nothing on the disk");
        points += all.len();
        for (name, nth) in all.iter().step_by(effort.call_step) {
            let place = restore(&dir)?;
            let inject = format!("inject={name}:signal=KILL:when={nth}");
            strace::run(victim, &log, &["-e", &inject], &["act", path, &place])?;
            let problem = || format!("{path} on {ground:?}, killed before {name} number {nth}, in {place}");
            verifier.ask(&format!("path {path} {place}")).with_context(problem)?;
            kills += 1;
        }
    }
    std::fs::remove_dir_all(&dir)?;
    Ok(format!("{} write paths, {kills} kills at {points} calls: old or new, never half", PATHS.len()))
}

/// Makes what is there before, once; `restore` brings it back.
pub(crate) fn prepare(victim: &Victim, dir: &Path, ground: Fixture) -> Result<()> {
    empty(dir)?;
    let place = stage(dir, "stage/life")?;
    if ground != Fixture::Nothing {
        victim.run(&["work", &place, "1"])?;
    }
    if ground == Fixture::TornSession {
        let torn =
            "f=$(find \"$0/store/sessions/projects\" -name s.jsonl); printf 'a line that was torn' >> \"$f\"";
        shell(torn, &place)?;
    }
    shell("mv \"$0/stage\" \"$0/before\"", &dir.display().to_string())
}

/// Brings back what was there before; the stage.
pub(crate) fn restore(dir: &Path) -> Result<String> {
    shell("rm -rf \"$0/stage\" && cp -a \"$0/before\" \"$0/stage\"", &dir.display().to_string())?;
    Ok(dir.join("stage/life").display().to_string())
}

fn shell(script: &str, argument: &str) -> Result<()> {
    let status = std::process::Command::new("sh").args(["-c", script, argument]).status()?;
    ensure!(status.success(), "`{script}` failed in {argument}");
    Ok(())
}

/// The calls that are about the stage: their names and which of that name they are in their thread.
pub(crate) fn calls_to_kill(calls: &[Call], place: &str) -> BTreeSet<(String, usize)> {
    let store = format!("{place}/");
    let is_change = |call: &&Call| call.is_in(&store) && call.is_change();
    calls.iter().filter(is_change).map(|call| (call.name.clone(), call.nth)).collect()
}
