//! Calls that fail as they do on a full or broken disk, and a disk that really is full.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::effort::Effort;
use super::strace;
use super::syscalls::{Fixture, calls_to_kill, prepare, restore};
use super::victim::{Victim, stage};

/// How large the disk is that fills up.
const SMALL_DISK: &str = "size=256k,nr_inodes=64";

/// Lets each call fail once, and fills a disk.
pub(crate) fn run(victim: &Victim, effort: &Effort) -> Result<String> {
    let failed = match strace::works() {
        true => fail(victim, effort)?,
        false => strace::MISSING.into(),
    };
    Ok(format!("{failed}; small disk: {}", fill(victim)?))
}

/// Each call of a session at work fails once: what was there stays, and the session goes on afterwards.
fn fail(victim: &Victim, effort: &Effort) -> Result<String> {
    let mut verifier = victim.verifier()?;
    let dir = victim.dir_in_memory("faults")?;
    let log = dir.join("trace");
    let (mut faults, mut stopped) = (0, 0);
    for ground in [Fixture::Nothing, Fixture::Session] {
        prepare(victim, &dir, ground)?;
        let place = restore(&dir)?;
        let calls = strace::record(victim, &log, &["act", "work", &place])?;
        let all = calls_to_kill(&calls, &format!("{place}/store"));
        for (name, nth) in all.iter().step_by(effort.call_step) {
            let error = if name.contains("sync") { "EIO" } else { "ENOSPC" };
            let place = restore(&dir)?;
            let inject = format!("inject={name}:error={error}:when={nth}");
            let said = strace::output(victim, &log, &["-e", &inject], &["act", "work", &place])?;
            let problem = || format!("{name} number {nth} failed with {error} on {ground:?}, in {place}");
            let is_ours = std::fs::read_to_string(&log)?.lines().any(|line| {
                line.ends_with("(INJECTED)") && line.contains(&strace::hex(&format!("{place}/store/")))
            });
            if let (Some(said), true) = (&said, is_ours) {
                let is_clear = said.contains("/store/") && said.contains("os error");
                ensure!(is_clear, "{}: it only says {said}", problem());
                stopped += 1;
            }
            verifier.ask(&format!("kill {place}")).with_context(problem)?;
            victim.run(&["work", &place, "1"]).with_context(problem)?;
            verifier.ask(&format!("kill {place}")).with_context(problem)?;
            faults += 1;
        }
    }
    std::fs::remove_dir_all(&dir)?;
    Ok(format!("{faults} failed calls, {stopped} stopped the run with a clear word, all went on afterwards"))
}

/// A file system in memory that is full while the session works.
fn fill(victim: &Victim) -> Result<String> {
    let place = stage(&victim.dir("full")?, "life")?;
    let script =
        format!("mount -t tmpfs -o {SMALL_DISK} tmpfs \"$0/store\" || exit 77; exec \"$1\" full \"$0\"");
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", &script, &place])
        .arg(Path::new(victim.program()))
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) => output,
        Ok(_) | Err(_) => return Ok("skipped: nothing can be mounted here".into()),
    };
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if errors.contains("unshare") {
        return Ok("skipped: nothing can be mounted here".into());
    }
    ensure!(output.status.success(), "the small disk ({SMALL_DISK}): {said} {errors}");
    Ok("full, then room, then on".into())
}
