//! Expands file name patterns on disk, as a shell would.

use std::path::Path;

/// Directory entries to look at for one pattern. With more, what it expands to is unknown.
const ENTRIES_MAX: usize = 20_000;

/// The names that `pattern` expands to in `dir`, sorted; the pattern itself without its backslashes if there are none.
/// At least the names that bash would take: a set such as `[a-c]` counts as any character. `None` if there are too many
/// or a name is not text.
pub(crate) fn expand(dir: &Path, pattern: &str, names_max: usize) -> Option<Vec<String>> {
    if pattern.starts_with('~') {
        return None;
    }
    let mut found = vec![String::new()];
    let mut entries_left = ENTRIES_MAX;
    let parts: Vec<&str> = pattern.split('/').collect();
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let mut next = Vec::new();
        for prefix in &found {
            if is_special(part) {
                let names = matching(dir, prefix, part, &mut entries_left)?;
                next.extend(names.into_iter().map(|name| format!("{prefix}{name}")));
            } else {
                next.push(format!("{prefix}{}", literal(part)));
            }
        }
        if !is_last {
            next.iter_mut().for_each(|path| path.push('/'));
        }
        let is_there = |path: &String| path.is_empty() || dir.join(path).symlink_metadata().is_ok();
        next.retain(is_there);
        if next.len() > names_max {
            return None;
        }
        found = next;
    }
    found.sort();
    Some(if found.is_empty() { vec![literal(pattern)] } else { found })
}

/// The names below `dir` and `prefix` that fit.
fn matching(dir: &Path, prefix: &str, part: &str, entries_left: &mut usize) -> Option<Vec<String>> {
    let Ok(entries) = dir.join(prefix).read_dir() else { return Some(Vec::new()) };
    let mut names = Vec::new();
    for entry in entries.flatten() {
        *entries_left = entries_left.checked_sub(1)?;
        let name = entry.file_name().into_string().ok()?;
        if (!name.starts_with('.') || part.starts_with('.')) && fits(part.as_bytes(), name.as_bytes()) {
            names.push(name);
        }
    }
    Some(names)
}

/// Whether a name fits a pattern without slashes.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // The place after the last `*`, and the first byte of the name that it has not taken yet.
    let mut retry: Option<(&[u8], &[u8])> = None;
    let (mut pattern, mut name) = (pattern, name);
    loop {
        match (pattern, name) {
            ([], []) => return true,
            ([b'*', rest @ ..], _) => {
                retry = Some((rest, name));
                pattern = rest;
                continue;
            }
            ([b'\\', wanted, rest @ ..], [found, after @ ..]) if wanted == found => {
                (pattern, name) = (rest, after);
                continue;
            }
            ([b'?', rest @ ..], [found, after @ ..]) => {
                (pattern, name) = (rest, skip_character(*found, after));
                continue;
            }
            ([b'[', set @ ..], [found, after @ ..]) if set_end(set).is_some() => {
                let end = set_end(set).unwrap_or_default();
                (pattern, name) = (set.get(end + 1..).unwrap_or_default(), skip_character(*found, after));
                continue;
            }
            ([wanted, rest @ ..], [found, after @ ..]) if *wanted != b'\\' && wanted == found => {
                (pattern, name) = (rest, after);
                continue;
            }
            _ => {}
        }
        match retry {
            Some((rest, [_, after @ ..])) => {
                retry = Some((rest, after));
                (pattern, name) = (rest, after);
            }
            Some((_, [])) | None => return false,
        }
    }
}

/// What follows the rest of a character that started with `first`.
fn skip_character(first: u8, rest: &[u8]) -> &[u8] {
    let more =
        if first < 0x80 { 0 } else { rest.iter().take_while(|byte| (0x80..0xc0).contains(*byte)).count() };
    rest.get(more..).unwrap_or_default()
}

/// Where the set that starts here closes. A bracket right at its start belongs to it.
fn set_end(set: &[u8]) -> Option<usize> {
    let from = match set {
        [b'!' | b'^', b']', ..] => 2,
        [b'!' | b'^', ..] | [b']', ..] => 1,
        _ => 0,
    };
    set.iter().skip(from).position(|byte| *byte == b']').map(|at| at + from)
}

fn is_special(part: &str) -> bool {
    let mut is_escaped = false;
    part.bytes().any(|byte| {
        let was_escaped = is_escaped;
        is_escaped = byte == b'\\' && !was_escaped;
        !was_escaped && matches!(byte, b'*' | b'?' | b'[')
    })
}

/// The text of a pattern, its backslashes removed.
fn literal(pattern: &str) -> String {
    let mut text = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        text.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    text
}

/// The text before the first special character.
pub(crate) fn literal_prefix(pattern: &str) -> String {
    let mut text = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '*' | '?' | '[' => break,
            '\\' => text.extend(characters.next()),
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_expand_to_the_names_that_fit() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("src/deep")).unwrap();
        for file in ["a.ts", "b.ts", "-c.ts", ".hidden.ts", "src/x.py", "src/deep/y.py", "a*b", "é.md"] {
            std::fs::write(dir.path().join(file), "").unwrap();
        }
        let cases: [(&str, &[&str]); 13] = [
            ("*.ts", &["-c.ts", "a.ts", "b.ts"]),
            ("src/*.py", &["src/x.py"]),
            ("*/*/*.py", &["src/deep/y.py"]),
            ("./*.ts", &["./-c.ts", "./a.ts", "./b.ts"]),
            (".h*", &[".hidden.ts"]),
            ("[ab].ts", &["a.ts", "b.ts"]),
            ("[].ts", &["[].ts"]),
            ("?.md", &["é.md"]),
            ("a\\**", &["a*b"]),
            ("none*/x", &["none*/x"]),
            ("s*/", &["src/"]),
            ("*", &["-c.ts", "a*b", "a.ts", "b.ts", "src", "é.md"]),
            ("**/x.py", &["src/x.py"]),
        ];
        for (pattern, expected) in cases {
            let expected: Vec<String> = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(expand(dir.path(), pattern, 100), Some(expected), "{pattern}");
        }
        assert_eq!(expand(dir.path(), "*", 3), None);
        assert_eq!(expand(dir.path(), "~/*", 3), None);
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        assert!(!fits("*a".repeat(2_000).as_bytes(), "a".repeat(1_999).as_bytes()));
    }
}
