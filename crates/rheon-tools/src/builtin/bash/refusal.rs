//! Notices when a command failed because of the sandbox: what it lacked, and what to tell the model.

use std::path::{Path, PathBuf};

use rheon_sandbox::process::{EndReason, Output, ProcessOutcome};
use rheon_types::{CallGrant, NetworkGrant};

/// What programs print when a name cannot be looked up or a host cannot be reached.
const NO_NETWORK: [&str; 14] = [
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "dns error",
    "no such host",
    "nodename nor servname",
    "failed to lookup address",
    "could not resolve hostname",
    "unable to resolve host",
    "failed to resolve",
];

/// What programs print when a connection is refused. On this machine that is no matter of the sandbox.
const REFUSED: [&str; 2] = ["connection refused", "econnrefused"];
const LOCAL: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];

const READ_ONLY: &str = "read-only file system";
const NO_PERMISSION: &str = "permission denied";

/// What a failed command lacked, as far as its output says. `None` if the sandbox was not the cause.
pub(super) fn lacked(
    ended: &ProcessOutcome,
    output: &Output,
    grant: &CallGrant,
    workspace: &Path,
) -> Option<CallGrant> {
    if ended.end != EndReason::Finished || ended.exit_code == Some(0) || grant.unsandboxed {
        return None;
    }
    let mut text = output.head.clone();
    text.extend(output.tail.iter().map(String::as_str));
    let lower = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if grant.network != NetworkGrant::All && (says(&NO_NETWORK) || (says(&REFUSED) && !says(&LOCAL))) {
        return Some(CallGrant { network: NetworkGrant::All, ..CallGrant::default() });
    }
    let line_with = |word: &str| text.lines().find(|line| line.to_lowercase().contains(word));
    if let Some(line) = line_with(READ_ONLY) {
        return Some(match outside_path(line, workspace) {
            Some(path) => CallGrant { write: vec![path], ..CallGrant::default() },
            None => CallGrant { unsandboxed: true, ..CallGrant::default() },
        });
    }
    let path = line_with(NO_PERMISSION).and_then(|line| outside_path(line, workspace))?;
    Some(CallGrant { read: vec![path], ..CallGrant::default() })
}

/// The note for the model.
pub(super) fn advice(lacked: &CallGrant) -> String {
    let what = match (&lacked.network, lacked.write.first(), lacked.read.first()) {
        (NetworkGrant::Hosts(_) | NetworkGrant::All, ..) => {
            "the sandbox blocks the network; the user may allow it".to_owned()
        }
        (NetworkGrant::None, Some(path), _) => {
            format!("{} is outside what the sandbox may change; the user may allow it", path.display())
        }
        (NetworkGrant::None, None, Some(path)) => {
            format!("the sandbox may hide {}; the user may allow it", path.display())
        }
        (NetworkGrant::None, None, None) => {
            "the sandbox refused a change; the user may let the command run outside of it".to_owned()
        }
    };
    format!("{what}: run the same command again to ask, or go on without it")
}

/// The absolute path that a message names, if it is outside the workspace.
fn outside_path(line: &str, workspace: &Path) -> Option<PathBuf> {
    let start = |word: &&str| word.starts_with('/') && word.len() > 1;
    let marks = |c: char| c.is_whitespace() || "'\"`‘’:,()".contains(c);
    let word = line.split(marks).find(start)?;
    let path = Path::new(word);
    (!path.starts_with(workspace)).then(|| path.to_owned())
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;
