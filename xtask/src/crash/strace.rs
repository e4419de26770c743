//! `strace`: whether it works here, its lines as values, and how it kills and fails.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::victim::Victim;

/// The calls that change what is on a disk, or promise that it stays.
pub(crate) const CALLS: &str = "openat,write,pwrite64,writev,ftruncate,fallocate,fsync,fdatasync,syncfs,rename,\
                                renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,flock,lseek,close";

/// Why there is nothing to do without it.
pub(crate) const MISSING: &str =
    "skipped: strace is not installed or may not trace (Debian: `apt install strace`)";

/// Whether programs can be traced here.
pub(crate) fn works() -> bool {
    let traced = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "-e", "trace=write", "true"])
        .stderr(Stdio::null())
        .status();
    traced.is_ok_and(|status| status.success())
}

/// One call of a traced program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// The thread.
    pub(crate) thread: u32,
    pub(crate) name: String,
    /// What stands between the parentheses.
    pub(crate) arguments: String,
    /// What it returned; nothing if it never did.
    pub(crate) result: Option<i64>,
    /// How many calls had returned when it began.
    pub(crate) began: usize,
    /// The how-manieth of its name in its thread, from 1.
    pub(crate) nth: usize,
}

/// Runs the victim under strace, however it ends.
pub(crate) fn run(victim: &Victim, log: &Path, options: &[&str], arguments: &[&str]) -> Result<()> {
    output(victim, log, options, arguments).map(drop)
}

/// Runs the victim under strace. What it complains of; nothing if it came to a good end.
pub(crate) fn output(
    victim: &Victim,
    log: &Path,
    options: &[&str],
    arguments: &[&str],
) -> Result<Option<String>> {
    let output = Command::new("strace")
        .args(["-f", "-qq", "-y", "-xx", "-s", "1000000", "-o"])
        .arg(log)
        .args(options)
        .arg(victim.program())
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .context("cannot start strace")?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok((!output.status.success()).then_some(said))
}

/// Runs the victim to its good end; its calls in the order in which they returned.
pub(crate) fn record(victim: &Victim, log: &Path, arguments: &[&str]) -> Result<Vec<Call>> {
    run(victim, log, &["-e", &format!("trace={CALLS}")], arguments)?;
    let text = std::fs::read_to_string(log).context("cannot read what strace wrote")?;
    let calls = parse(&text);
    ensure!(!calls.is_empty(), "strace wrote nothing about `crash_victim {}`", arguments.join(" "));
    Ok(calls)
}

/// The lines of strace as values.
pub(crate) fn parse(text: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open: HashMap<u32, Call> = HashMap::new();
    let mut counts: HashMap<(u32, String), usize> = HashMap::new();
    for line in text.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Ok(thread) = thread.parse::<u32>() else { continue };
        let rest = rest.trim_start();
        if let Some(resumed) = rest.strip_prefix("<... ") {
            let Some(mut call) = open.remove(&thread) else { continue };
            let tail = resumed.split_once(" resumed>").map_or("", |(_, tail)| tail);
            call.finish(tail);
            calls.push(call);
            continue;
        }
        let Some((name, tail)) = rest.split_once('(') else { continue };
        let count = counts.entry((thread, name.to_owned())).or_default();
        *count += 1;
        let (name, arguments) = (name.to_owned(), String::new());
        let mut call = Call { thread, name, arguments, result: None, began: calls.len(), nth: *count };
        if let Some(begun) = tail.strip_suffix(" <unfinished ...>") {
            call.arguments = begun.to_owned();
            open.insert(thread, call);
        } else {
            call.finish(tail);
            calls.push(call);
        }
    }
    // What never returned may have happened.
    calls.extend(open.into_values());
    calls
}

impl Call {
    fn finish(&mut self, tail: &str) {
        let (arguments, result) = tail.rsplit_once(" = ").unwrap_or((tail, ""));
        self.arguments.push_str(arguments.trim_end().strip_suffix(')').unwrap_or(arguments));
        let number = result.split(|it: char| it != '-' && !it.is_ascii_digit()).next();
        self.result = number.and_then(|number| number.parse().ok());
    }

    /// Whether it can change what is on a disk, or promises that it stays.
    pub(crate) fn is_change(&self) -> bool {
        match self.name.as_str() {
            "openat" => self.arguments.contains("O_CREAT"),
            "close" | "lseek" | "flock" => false,
            _ => true,
        }
    }

    /// Whether it is about something in this directory.
    pub(crate) fn is_in(&self, dir: &str) -> bool {
        self.arguments.contains(dir) || self.arguments.contains(&hex(dir))
    }
}

/// A text as strace shows it with `-xx`.
pub(crate) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("\\x{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "strace_tests.rs"]
mod tests;
