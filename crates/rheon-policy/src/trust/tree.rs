//! A hash of a whole project, for hooks that run outside the sandbox: they may run anything in it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;

use blake3::Hash;

/// More than a hook should depend on.
const FILES_MAX: usize = 20_000;
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The hash of all names and contents, except for `.git` and logs. `None` if there is too much, or something cannot be
/// read.
pub(crate) fn tree_hash(root: &Path) -> Option<Hash> {
    let mut hasher = blake3::Hasher::new();
    let mut files = 0;
    let mut bytes_left = BYTES_MAX;
    let mut waiting = vec![root.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(&dir).ok()? {
            names.insert(entry.ok()?.file_name());
            files += 1;
            if files > FILES_MAX {
                return None;
            }
        }
        for name in names.iter().filter(|name| *name != ".git") {
            let path = dir.join(name);
            let found = path.symlink_metadata().ok()?;
            if found.is_file() && is_log(name) {
                continue;
            }
            let relative = path.strip_prefix(root).ok()?.as_os_str().as_encoded_bytes();
            hasher.update(&(relative.len() as u64).to_le_bytes()).update(relative);
            if found.is_dir() {
                waiting.push(path);
            } else if found.is_symlink() {
                let target = path.read_link().ok()?;
                hasher.update(b"link").update(target.as_os_str().as_encoded_bytes());
            } else if found.is_file() {
                let mut bytes = Vec::new();
                let file = std::fs::File::open(&path).ok()?;
                file.take(bytes_left + 1).read_to_end(&mut bytes).ok()?;
                bytes_left = bytes_left.checked_sub(bytes.len() as u64)?;
                hasher.update(b"file").update(blake3::hash(&bytes).as_bytes());
            }
        }
    }
    Some(hasher.finalize())
}

/// Whether a file is a log or the like, which a hook writes beside itself and nothing runs.
pub(crate) fn is_log(name: &OsStr) -> bool {
    const ENDINGS: [&str; 7] = ["log", "out", "err", "jsonl", "pid", "lock", "tmp"];
    let name = name.to_string_lossy();
    // Rotated logs end with a number.
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}
