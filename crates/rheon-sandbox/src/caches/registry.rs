//! Registry settings without their secrets: commands need the address of a mirror, and never the token for it.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rheon_text::secrets;

/// A settings file, and its copy without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RegistryFile {
    pub(super) path: PathBuf,
    pub(super) content: PathBuf,
}

/// Relative to the home directory.
const FILES: [&str; 11] = [
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pip/pip.conf",
    ".config/pip/pip.conf",
    ".config/uv/uv.toml",
    ".cargo/config.toml",
    ".cargo/config",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
];

const BYTES_MAX: u64 = 1024 * 1024;

/// Words in the name of a setting that hold a secret.
const SECRET_WORDS: [&str; 9] =
    ["_auth", "token", "password", "passwd", "passphrase", "secret", "apikey", "api_key", "credential"];

/// Writes copies of the user's registry settings into `dir`.
pub(super) fn sanitized_files(home: &Path, dir: &Path) -> io::Result<Vec<RegistryFile>> {
    super::quota::make_private_dir(dir)?;
    let mut files = Vec::new();
    for name in FILES {
        let Some(path) = home.join(name).canonicalize().ok().filter(|path| path.is_file()) else { continue };
        let mut text = Vec::new();
        let read = fs::File::open(&path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut text));
        // What cannot be read has nothing to show; an empty copy hides it.
        let text = read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&text).into_owned());
        let content = dir.join(name.replace('/', "_"));
        drop(fs::remove_file(&content));
        fs::write(&content, sanitized(&text))?;
        files.push(RegistryFile { path, content });
    }
    Ok(files)
}

/// The text without the lines that hold secrets, and without the user in addresses.
fn sanitized(text: &str) -> String {
    let is_xml = text.trim_start().starts_with('<');
    let mut kept = String::new();
    let mut in_secret = false;
    for line in text.lines() {
        // A value may go on in lines that are indented more than its name.
        if in_secret && !is_xml && line.starts_with([' ', '\t']) && name_of(line).is_none() {
            continue;
        }
        in_secret = is_secret(line, is_xml);
        if !in_secret {
            kept.push_str(&without_users(line));
            kept.push('\n');
        } else if is_xml && !line.contains("</") {
            // An element that ends elsewhere cannot be cut out line by line.
            return "<settings/>\n".to_owned();
        }
    }
    kept
}

fn is_secret(line: &str, is_xml: bool) -> bool {
    let name = if is_xml { line } else { name_of(line).unwrap_or(line) };
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word)) || secrets::is_secret_text(line)
}

/// What comes before the value: up to the last separator, as npm has addresses in names.
fn name_of(line: &str) -> Option<&str> {
    let equals = line.split_once('=').map(|(name, _)| name);
    equals.or_else(|| line.split_once(": ").map(|(name, _)| name))
}

/// Removes `user:password@` from addresses.
fn without_users(line: &str) -> String {
    let mut rest = line;
    let mut clean = String::new();
    while let Some((before, after)) = rest.split_once("://") {
        clean.push_str(before);
        clean.push_str("://");
        let end = after.find(['/', ' ', '"', '\'', '<']).unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        clean.push_str(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
        rest = tail;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
