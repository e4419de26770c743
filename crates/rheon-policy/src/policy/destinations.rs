//! The files that `cp`, `mv` and the like create in a directory: the name of the source below the destination.

use std::path::Path;

use ignore::WalkBuilder;

use crate::shell::SimpleCommand;

/// Files of a source directory to name. A directory with more is unknown.
const FILES_MAX: usize = 1_000;

/// Commands that put files into a directory, and their short options with a value.
const COPIES: [(&str, &str); 5] =
    [("cp", "tS"), ("mv", "tS"), ("ln", "tS"), ("install", "tSmog"), ("rsync", "efBMT")];

/// A file that a command creates.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    /// The index of the source among the words.
    pub(crate) index: usize,
    pub(crate) path: String,
}

/// How far to look into sources that are directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceDepth {
    /// Name the source only.
    Name,
    /// Name every file in it.
    Contents,
}

/// The files that a command in `dir` creates. `None` if there are too many to name.
pub(crate) fn of(command: &SimpleCommand, dir: &Path, depth: SourceDepth) -> Option<Vec<Destination>> {
    let mut found = Vec::new();
    let Some(Some(name)) = command.words.first() else { return Some(found) };
    let base = name.rsplit('/').next().unwrap_or(name);
    let Some((_, letters)) = COPIES.iter().find(|(name, _)| *name == base) else { return Some(found) };
    let Operands { sources, target } = operands(&command.words, letters);
    let Some(target) = target.map(|target| target.trim_end_matches('/')) else { return Some(found) };
    for (index, source) in sources {
        let path = Path::new(source);
        let own = path.file_name().and_then(|name| name.to_str());
        found.extend(own.map(|own| Destination { index, path: format!("{target}/{own}") }));
        if depth == SourceDepth::Name {
            continue;
        }
        for inner in files_in(&dir.join(path))? {
            found.extend(own.map(|own| Destination { index, path: format!("{target}/{own}/{inner}") }));
            found.push(Destination { index, path: format!("{target}/{inner}") });
        }
        if found.len() > 2 * FILES_MAX {
            return None;
        }
    }
    Some(found)
}

/// Where a command copies what to.
struct Operands<'a> {
    sources: Vec<(usize, &'a str)>,
    target: Option<&'a str>,
}

fn operands<'a>(words: &'a [Option<String>], letters_with_value: &str) -> Operands<'a> {
    let mut sources: Vec<(usize, &str)> = Vec::new();
    let mut target = None;
    let mut options_end = false;
    let mut words = words.iter().enumerate().skip(1);
    while let Some((index, word)) = words.next() {
        let Some(word) = word.as_deref() else { continue };
        let value = |words: &mut dyn Iterator<Item = (usize, &'a Option<String>)>| {
            words.next().and_then(|(_, value)| value.as_deref())
        };
        if options_end || word == "-" || !word.starts_with('-') {
            sources.push((index, word));
        } else if word == "--" {
            options_end = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, attached) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            if name.len() > 1 && "target-directory".starts_with(name) {
                target = attached.or_else(|| value(&mut words));
            }
        } else if let Some(at) =
            word.char_indices().skip(1).find(|(_, letter)| letters_with_value.contains(*letter))
        {
            let attached = word.get(at.0 + 1..).filter(|rest| !rest.is_empty());
            let value = attached.or_else(|| value(&mut words));
            // Only `rsync -T` means something else.
            if at.1 == 't' {
                target = value;
            }
        }
    }
    if target.is_none() && sources.len() > 1 {
        target = sources.pop().map(|(_, word)| word);
    }
    Operands { sources, target }
}

/// The paths below a directory; none for anything else. `None` if there are too many.
fn files_in(dir: &Path) -> Option<Vec<String>> {
    if !dir.is_dir() {
        return Some(Vec::new());
    }
    let walk = WalkBuilder::new(dir).standard_filters(false).follow_links(false).build();
    let mut found = Vec::new();
    for entry in walk.flatten().filter(|entry| entry.depth() > 0) {
        let inner = entry.path().strip_prefix(dir).ok()?.to_str()?.to_owned();
        found.push(inner);
        if found.len() > FILES_MAX {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::analyze;

    #[test]
    fn the_name_of_a_destination_is_that_of_its_source() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("tree/sub")).unwrap();
        std::fs::write(dir.path().join("tree/sub/x"), "").unwrap();
        let cases: [(&str, &[&str]); 13] = [
            ("cp x dir/", &["dir/x"]),
            ("cp a/x b/y dir", &["dir/x", "dir/y"]),
            ("cp -t dir a/x", &["dir/x"]),
            ("cp -rtdir x", &["dir/x"]),
            ("mv --target-directory=dir x", &["dir/x"]),
            ("mv --target dir x", &["dir/x"]),
            ("/bin/cp -S .bak x dir", &["dir/x"]),
            ("install -m 755 x dir", &["dir/x"]),
            ("cp -- -x dir", &["dir/-x"]),
            ("cp -r tree dir", &["dir/tree", "dir/tree/sub", "dir/sub", "dir/tree/sub/x", "dir/sub/x"]),
            ("rsync -a tree/ dir", &["dir/tree", "dir/tree/sub", "dir/sub", "dir/tree/sub/x", "dir/sub/x"]),
            ("cp x", &[]),
            ("cat a b", &[]),
        ];
        for (line, expected) in cases {
            let found = of(&analyze(line).commands[0], dir.path(), SourceDepth::Contents).unwrap();
            let found: Vec<&str> = found.iter().map(|it| it.path.as_str()).collect();
            assert_eq!(found, expected, "{line}");
        }
        for file in 0..=FILES_MAX {
            std::fs::write(dir.path().join(format!("tree/{file}")), "").unwrap();
        }
        assert_eq!(of(&analyze("cp -r tree dir").commands[0], dir.path(), SourceDepth::Contents), None);
    }
}
