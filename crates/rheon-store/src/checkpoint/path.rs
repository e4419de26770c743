//! Paths in a workspace: which ones are captured, and how they are stored.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rheon_types::is_protected_name;

/// Whether `path` may be captured and restored.
pub(super) fn is_plain(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some()
        && parts.all(|part| match part {
            Component::Normal(name) => !is_protected_name(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
        })
}

/// Stores `name` as text. Bytes that are not UTF-8, and `%`, become `%` and two hex digits.
pub(super) fn encode(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.as_bytes().utf8_chunks() {
        for (nth, plain) in chunk.valid().split('%').enumerate() {
            if nth > 0 {
                text.push_str("%25");
            }
            text.push_str(plain);
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            write!(text, "%{byte:02x}").ok();
        }
    }
    text
}

pub(super) fn decode(text: &str) -> Option<OsString> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, plain) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(plain.as_bytes());
    }
    Some(OsString::from_vec(bytes))
}

pub(super) fn decode_path(text: &str) -> Option<PathBuf> {
    decode(text).map(PathBuf::from).filter(|path| is_plain(path))
}

/// The names of temporary files in the workspace.
const DRAFT_PREFIX: &str = ".rheon-restore-";
const DRAFT_SUFFIX: &str = ".tmp";

/// The name of temporary file `number`.
pub(super) fn draft_name(number: u64) -> OsString {
    format!("{DRAFT_PREFIX}{}-{number}{DRAFT_SUFFIX}", std::process::id()).into()
}

/// Whether `name` comes from [`draft_name`].
pub(super) fn is_draft(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(DRAFT_PREFIX.as_bytes()) && name.ends_with(DRAFT_SUFFIX.as_bytes())
}
