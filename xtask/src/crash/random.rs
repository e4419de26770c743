//! Kills at random moments of a session under load.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::chance::Chance;
use super::effort::Effort;
use super::victim::{Victim, stage};

/// After so many lives a new session begins, so that opening it stays short.
const LIVES: u64 = 10;
/// A life is at most this long, counted from its first word in most lives, and from its start in some.
const LIFE_MS: usize = 600;
const FROM_START_EVERY: u64 = 4;
/// How long to wait for a first word.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts, kills, checks and resumes, again and again.
pub(crate) fn run(victim: &Victim, effort: &Effort) -> Result<String> {
    let mut chance = Chance::new(effort.seed);
    let mut verifier = victim.verifier()?;
    let dir = victim.dir("random")?;
    let mut effects = 0;
    let mut events = 0;
    for kill in 0..effort.kills {
        let place = stage(&dir, &format!("session-{}", kill / LIVES))?;
        let life_ms = u64::try_from(chance.below(LIFE_MS)).unwrap_or_default();
        let mut child = victim.command(&["work", &place, "0"]).spawn().context("cannot start the victim")?;
        if kill % FROM_START_EVERY != 0 {
            wait_for_a_word(Path::new(&place), &mut child)?;
        }
        std::thread::sleep(Duration::from_millis(life_ms));
        // Dead before it was killed means that it found something that it could not continue with.
        if let Some(status) = child.try_wait()? {
            let said = victim.run(&["work", &place, "1"]);
            anyhow::bail!("life {kill} ended by itself with {status}; once more: {said:?}");
        }
        child.kill()?;
        child.wait()?;
        let found = verifier
            .ask(&format!("kill {place}"))
            .with_context(|| format!("kill {kill}, after {life_ms} ms, in {place}"))?;
        if kill % LIVES == LIVES - 1 || kill == effort.kills - 1 {
            let mut numbers = found.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
            events += numbers.next().unwrap_or_default();
            effects += numbers.next().unwrap_or_default();
            // The session goes on to a good end.
            victim.run(&["work", &place, "1"])?;
            verifier
                .ask(&format!("kill {place}"))
                .with_context(|| format!("after the last kill in {place}"))?;
        }
    }
    Ok(format!("{} kills, {events} events and {effects} effects: nothing lost, nothing twice", effort.kills))
}

/// Waits until the victim has said something, or is gone.
fn wait_for_a_word(place: &Path, child: &mut Child) -> Result<()> {
    let said = || std::fs::metadata(place.join("acks")).map_or(0, |acks| acks.len());
    let (before, start) = (said(), Instant::now());
    while said() == before && start.elapsed() < PATIENCE && child.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
