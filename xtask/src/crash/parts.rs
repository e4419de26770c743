//! The parts of `cargo xtask crash`, and how much of each is tried.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use super::effort::Effort;
use super::victim::{Victim, stage};
use super::{faults, power, random, syscalls};

/// How `cargo xtask crash` is called.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The only part to run.
    part: Option<Part>,
    /// Every point instead of some, and more of what chance decides.
    #[arg(long)]
    long: bool,
    /// Where chance begins; printed by every run.
    #[arg(long)]
    seed: Option<u64>,
    /// How many random kills.
    #[arg(long)]
    kills: Option<u64>,
    /// How many power cuts.
    #[arg(long)]
    power_cuts: Option<u64>,
    /// How many sequences of steps.
    #[arg(long, default_value_t = 20_000)]
    sequences: u64,
}

/// What can happen to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// A kill before each call to the kernel of every write path.
    Syscalls,
    /// Kills at random moments.
    Random,
    /// Files cut and flipped.
    Damage,
    /// Calls that fail, and a disk that is full.
    Faults,
    /// Simulated power cuts.
    Power,
    /// Random sequences of steps across processes, with Claude Code in between. Only when asked for: `cargo test` tries some.
    Sequences,
}

/// Runs the part that was asked for, or all.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("a clock before 1970")?;
    let seed = arguments.seed.unwrap_or(u64::from(now.subsec_nanos()));
    let mut effort = if arguments.long { Effort::long(seed) } else { Effort::short(seed) };
    effort.kills = arguments.kills.unwrap_or(effort.kills);
    effort.power_cuts = arguments.power_cuts.unwrap_or(effort.power_cuts);
    println!("== crash: seed {seed} (repeat with `--seed {seed}`)");
    if arguments.part == Some(Part::Sequences) {
        return sequences(arguments.sequences, seed);
    }
    let victim = Victim::build()?;
    for part in Part::value_variants().iter().filter(|part| arguments.part.is_none_or(|it| it == **part)) {
        let name = format!("{part:?}").to_lowercase();
        let start = Instant::now();
        let done = match part {
            Part::Syscalls => syscalls::run(&victim, &effort),
            Part::Random => random::run(&victim, &effort),
            Part::Damage => damage(&victim, &effort),
            Part::Faults => faults::run(&victim, &effort),
            Part::Power => power::run(&victim, &effort),
            Part::Sequences => continue,
        };
        let again = format!("repeat it with `cargo xtask crash {name} --seed {seed}`");
        let said = done.with_context(|| format!("{name} failed; {again}"))?;
        println!("== crash: {name}: {said} ({:.1} s)", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Runs the sequences of `crates/rheon-app/tests/it/sequences.rs`, as many as asked for.
fn sequences(count: u64, seed: u64) -> Result<()> {
    let start = Instant::now();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .args(["test", "--locked", "-p", "rheon-app", "--test", "it", "sequences", "--", "--nocapture"])
        .env("RHEON_SEQUENCES", count.to_string())
        .env("RHEON_SEED", seed.to_string())
        .current_dir(xtask::walk::root())
        .status()
        .context("cannot start cargo")?;
    anyhow::ensure!(status.success(), "sequences failed; the number of the sequence is above");
    println!("== crash: sequences: {count} from seed {seed} ({:.1} s)", start.elapsed().as_secs_f64());
    Ok(())
}

/// Cuts and flips files of a small session.
fn damage(victim: &Victim, effort: &Effort) -> Result<String> {
    let place = stage(&victim.dir_in_memory("damage")?, "life")?;
    let said = victim.run(&["damage", &place, &effort.damages.to_string()])?;
    Ok(said.replace('\n', "; "))
}
