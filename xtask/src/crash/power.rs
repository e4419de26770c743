//! Simulated power cuts: what a real session did to its disk is recorded, and cut off in all the ways a disk knows.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::chance::Chance;
use super::disk::{Disk, after_power_cut};
use super::effort::Effort;
use super::operation::{Follower, History, Node};
use super::strace;
use super::victim::{Victim, empty, stage};

/// How many power cuts a recorded session is used for.
const CUTS_PER_RECORDING: u64 = 150;

/// Before which call the first life of a session ends: what it leaves was never made safe.
const LAST_CALLS: &[&str] = &["fsync", "fdatasync", "write", "rename"];

/// Records sessions and cuts their power.
pub(crate) fn run(victim: &Victim, effort: &Effort) -> Result<String> {
    if !strace::works() {
        return Ok(strace::MISSING.into());
    }
    let dir = victim.dir_in_memory("power")?;
    let mut verifier = victim.verifier()?;
    let recordings = effort.power_cuts.div_ceil(CUTS_PER_RECORDING);
    let mut operations = 0;
    for nth in 0..recordings {
        let first = effort.seed.wrapping_add(nth.wrapping_mul(CUTS_PER_RECORDING));
        let history = record(victim, &dir, first)?;
        operations += history.operations.len();
        let copy = dir.join("image");
        for seed in (0..CUTS_PER_RECORDING).map(|number| first.wrapping_add(number)) {
            let disk = after_power_cut(&history, &mut Chance::new(seed));
            write_image(&disk, &history.dirs, &copy)?;
            let problem =
                || format!("power cut {seed} of session {first}; what is left is in {}", copy.display());
            verifier.ask(&format!("power {}", copy.display())).with_context(problem)?;
        }
    }
    fs::remove_dir_all(&dir)?;
    let cuts = recordings * CUTS_PER_RECORDING;
    Ok(format!("{cuts} power cuts in {recordings} sessions of {operations} operations: nothing lost"))
}

/// What a session did to its disk that was killed at a moment that `seed` decides, and then resumed.
fn record(victim: &Victim, dir: &Path, seed: u64) -> Result<History> {
    let mut chance = Chance::new(seed);
    let call = LAST_CALLS.get(chance.below(LAST_CALLS.len())).copied().unwrap_or("fsync");
    let nth = 2 + chance.below(30);
    let place = stage(dir, &format!("life-{seed}"))?;
    let log = dir.join("trace");
    let mut follower = Follower::new(&place);
    let trace = format!("trace={}", strace::CALLS);
    let inject = format!("inject={call}:signal=KILL:when={nth}");
    strace::run(victim, &log, &["-e", &trace, "-e", &inject], &["work", &place, "2"])?;
    follower.follow(&strace::parse(&fs::read_to_string(&log)?))?;
    follower.follow(&strace::record(victim, &log, &["work", &place, "1"])?)?;
    let history = follower.history();
    ensure!(history.operations.len() > 50, "only {} operations were recorded", history.operations.len());
    Ok(history)
}

/// Writes `disk` to the stage `stage`, in the place of what is there: a directory that the real store can open.
fn write_image(disk: &Disk, dirs: &[bool], stage: &Path) -> Result<()> {
    empty(stage)?;
    for (file, bytes) in &disk.told {
        fs::write(stage.join(file), bytes).context("cannot write an image")?;
    }
    fill(disk, dirs, 0, &stage.join("store"))
}

fn fill(disk: &Disk, dirs: &[bool], dir: Node, path: &Path) -> Result<()> {
    fs::create_dir(path).context("cannot make a directory of an image")?;
    let names = disk.names.range((dir, String::new())..(dir + 1, String::new()));
    for ((_, name), node) in names {
        let inner = path.join(name);
        if dirs.get(*node).copied().unwrap_or_default() {
            fill(disk, dirs, *node, &inner)?;
        } else {
            let content = disk.content.get(node).map(Vec::as_slice).unwrap_or_default();
            fs::write(&inner, content).context("cannot write a file of an image")?;
        }
    }
    Ok(())
}
