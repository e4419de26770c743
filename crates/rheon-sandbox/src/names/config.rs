//! Which lines of a git configuration are harmless in a repository that a command created. All others would make git run
//! programs, or read more settings from elsewhere, when the user works there.

/// Keys that only hold values. A section is written with a dot in front of a subsection, which may have any name.
const HARMLESS: [(&str, &[&str]); 26] = [
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "symlinks",
            "ignorecase",
            "precomposeunicode",
            "autocrlf",
            "eol",
            "safecrlf",
            "abbrev",
            "quotepath",
            "sparsecheckout",
            "sparsecheckoutcone",
            "untrackedcache",
            "preloadindex",
            "longpaths",
            "whitespace",
            "splitindex",
            "multipackindex",
            "commitgraph",
            "checkstat",
            "trustctime",
        ],
    ),
    (
        "remote.",
        &["url", "pushurl", "fetch", "push", "tagopt", "prune", "promisor", "partialclonefilter", "mirror"],
    ),
    ("remote", &["pushdefault"]),
    (
        "branch.",
        &["remote", "pushremote", "merge", "rebase", "description", "vscode-merge-base", "gh-merge-base"],
    ),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    ("user", &["name", "email", "useconfigonly"]),
    ("author", &["name", "email"]),
    ("committer", &["name", "email"]),
    ("submodule.", &["url", "active", "branch", "ignore", "shallow", "fetchrecursesubmodules"]),
    ("submodule", &["active", "recurse", "fetchjobs"]),
    (
        "extensions",
        &["objectformat", "partialclone", "worktreeconfig", "refstorage", "preciousobjects", "noop"],
    ),
    ("init", &["defaultbranch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("fetch", &["prune", "prunetags", "parallel", "recursesubmodules"]),
    ("rebase", &["autostash", "autosquash", "updaterefs"]),
    ("merge", &["ff", "conflictstyle", "renames", "autostash"]),
    ("commit", &["gpgsign", "verbose", "cleanup"]),
    ("tag", &["sort", "gpgsign"]),
    ("diff", &["renames", "algorithm", "context", "colormoved", "mnemonicprefix", "noprefix"]),
    ("status", &["short", "branch", "showuntrackedfiles", "submodulesummary"]),
    ("gc", &["auto", "autodetach", "pruneexpire"]),
    ("index", &["version", "threads", "skiphash"]),
    ("feature", &["manyfiles", "experimental"]),
    ("lfs", &["repositoryformatversion"]),
    ("advice", &["detachedhead", "addembeddedrepo", "skippedcherrypicks"]),
];

/// The configuration with every other line commented out. `None` if there is none.
///
/// A line is judged by itself: one that would continue in the next is not kept, so that no line is part of another.
pub(super) fn disarmed(text: &str) -> Option<String> {
    let mut section = Some(String::new());
    let mut kept = String::with_capacity(text.len());
    let mut is_changed = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches('\u{feff}').trim();
        let (head, rest) = match header(bare) {
            Some(Header { name, text, rest }) => {
                section = Some(name);
                (text, rest)
            }
            None if bare.starts_with('[') => {
                // Git would read it in a way that is not known here.
                section = None;
                ("", bare)
            }
            None => ("", bare),
        };
        if is_harmless(section.as_deref(), rest) && !bare.ends_with('\\') {
            kept.push_str(line);
        } else {
            is_changed = true;
            if !head.is_empty() {
                kept.push_str(head);
                kept.push('\n');
            }
            kept.push_str("# disabled by Rheon: ");
            kept.push_str(rest);
            kept.push('\n');
        }
    }
    is_changed.then_some(kept)
}

struct Header<'a> {
    /// In lower case; with a dot at the end if there is a subsection.
    name: String,
    text: &'a str,
    /// What follows on the same line.
    rest: &'a str,
}

/// The header of a section at the beginning of a line.
fn header(line: &str) -> Option<Header<'_>> {
    let inner = line.strip_prefix('[')?;
    let mut is_quoted = false;
    let mut is_escaped = false;
    let end = inner.char_indices().find_map(|(at, c)| match c {
        _ if is_escaped => {
            is_escaped = false;
            None
        }
        '\\' if is_quoted => {
            is_escaped = true;
            None
        }
        '"' => {
            is_quoted = !is_quoted;
            None
        }
        ']' if !is_quoted => Some(at),
        _ => None,
    })?;
    let (whole, rest) = (inner.get(..end)?, inner.get(end + 1..)?.trim());
    let text = line.get(..end + 2)?;
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let name = match whole.split_once(['"', '.']) {
        None => whole.trim().to_ascii_lowercase(),
        Some((name, _)) => format!("{}.", name.trim().to_ascii_lowercase()),
    };
    plain(name.trim_end_matches('.')).then_some(Header { name, text, rest })
}

fn is_harmless(section: Option<&str>, line: &str) -> bool {
    if line.is_empty() || line.starts_with(['#', ';']) {
        return true;
    }
    let key =
        line.split(|c: char| c == '=' || c.is_whitespace()).next().unwrap_or_default().to_ascii_lowercase();
    HARMLESS.iter().any(|(name, keys)| Some(*name) == section && keys.contains(&key.as_str()))
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
