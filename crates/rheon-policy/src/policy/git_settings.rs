//! Settings of a repository that make git run programs: `git status` in a hostile one would run whatever its owner chose.

use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a configuration file to read. A longer one is not trusted.
const CONFIG_BYTES_MAX: u64 = 256 * 1024;

/// How much of a `.git` file to read.
const POINTER_BYTES_MAX: u64 = 8 * 1024;

/// Settings whose value is a program, or a file with more settings: the section, and the key or `*` for all.
const PROGRAMS: [(&str, &str); 9] = [
    ("core", "fsmonitor"),
    ("core", "alternaterefscommand"),
    ("diff", "external"),
    ("diff", "command"),
    ("diff", "textconv"),
    ("filter", "*"),
    ("gpg", "*"),
    ("include", "*"),
    ("includeif", "*"),
];

/// Why git would run a program of the repository that `dir` belongs to when it only looks. `None` if it would not.
pub(crate) fn runs_programs(dir: &Path) -> Option<&'static str> {
    for place in dir.ancestors() {
        let dot_git = place.join(".git");
        if dot_git.symlink_metadata().is_ok() {
            return repository_at(&dot_git).map_or(Some(UNREADABLE), |repository| repository.problem(place));
        }
        // Git takes such a directory for a repository of its own, with the settings that came with it.
        let is_bare = place.join("HEAD").symlink_metadata().is_ok()
            && place.join("objects").is_dir()
            && place.join("refs").is_dir();
        if is_bare {
            return Some("a bare repository inside the directory has settings of its own");
        }
    }
    None
}

const UNREADABLE: &str = "the settings of the repository cannot be read";
const RUNS: &str = "settings of the repository make git run programs";

struct Repository {
    /// Where the index and the hooks of this worktree are.
    own: PathBuf,
    /// Where the settings are.
    common: PathBuf,
}

/// The repository that `.git` is or points to.
fn repository_at(dot_git: &Path) -> Option<Repository> {
    let own = if dot_git.is_dir() { dot_git.to_owned() } else { pointer(dot_git, "gitdir:")? };
    let commondir = own.join("commondir");
    let common = if commondir.exists() { pointer(&commondir, "")? } else { own.clone() };
    Some(Repository { own, common })
}

/// The directory that a file names after `prefix`.
fn pointer(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = text_of(file, POINTER_BYTES_MAX)?;
    let target = text.strip_prefix(prefix)?.trim();
    (!target.is_empty()).then(|| file.parent().unwrap_or(Path::new("")).join(target))
}

/// The text of a regular file that is not too long.
fn text_of(file: &Path, bytes_max: u64) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(bytes_max + 1).read_to_end(&mut bytes).ok()?;
    let is_whole = u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max);
    is_whole.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

impl Repository {
    /// `worktree` is the directory that relative paths of settings start from.
    fn problem(&self, worktree: &Path) -> Option<&'static str> {
        const HOOK: &str = "a hook of the repository runs when git looks at it";
        for dir in [&self.own, &self.common] {
            for name in ["config", "config.worktree"] {
                let file = dir.join(name);
                if file.symlink_metadata().is_err() {
                    continue;
                }
                match text_of(&file, CONFIG_BYTES_MAX) {
                    None => return Some(UNREADABLE),
                    Some(text) if names_program(&text) => return Some(RUNS),
                    // Looking at the status writes the index, which runs this hook.
                    Some(text)
                        if hook_dirs(&text).any(|hooks| worktree.join(hooks).join(INDEX_HOOK).exists()) =>
                    {
                        return Some(HOOK);
                    }
                    Some(_) => {}
                }
            }
            if dir.join("hooks").join(INDEX_HOOK).exists() {
                return Some(HOOK);
            }
        }
        None
    }
}

const INDEX_HOOK: &str = "post-index-change";

/// The directories of hooks that a configuration may name.
fn hook_dirs(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let at = line.to_lowercase().find("hookspath")?;
        let (_, value) = line.get(at..)?.split_once('=')?;
        Some(value.trim().trim_matches('"'))
    })
}

/// Whether a configuration names a program. Text that git would not read as a setting may count as one.
fn names_program(text: &str) -> bool {
    let mut section = String::new();
    text.lines().any(|line| {
        let mut line = line.trim_start();
        if line.starts_with('[') {
            let end = line.rfind(']').unwrap_or(line.len());
            let header = line.get(1..end).unwrap_or_default().to_lowercase();
            section = header.split([' ', '\t', '.', '"']).next().unwrap_or_default().to_owned();
            if matches!(section.as_str(), "include" | "includeif") {
                return true;
            }
            line = line.get(end + 1..).unwrap_or_default().trim_start();
        }
        let length = line.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
        let (key, value) = line.split_at(length);
        let key = key.to_lowercase();
        let value = value.trim_start().trim_start_matches('=').trim().to_lowercase();
        !key.is_empty()
            && PROGRAMS.iter().any(|(wanted, name)| *wanted == section && (*name == "*" || *name == key))
            && !is_harmless(&section, &key, &value)
    })
}

/// Values that run nothing but git itself.
fn is_harmless(section: &str, key: &str, value: &str) -> bool {
    let is_switch = matches!(value, "" | "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1");
    match section {
        "core" => key == "fsmonitor" && is_switch,
        "filter" if key == "required" => true,
        // As `git lfs install --local` writes it.
        "filter" => {
            matches!(value, "git-lfs clean -- %f" | "git-lfs smudge -- %f" | "git-lfs filter-process")
        }
        "gpg" => key == "format",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problem of a repository with this configuration.
    fn problem(config: &str) -> Option<&'static str> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".git")).unwrap();
        std::fs::create_dir_all(dir.path().join("sub/deep")).unwrap();
        std::fs::write(dir.path().join(".git/config"), config).unwrap();
        runs_programs(&dir.path().join("sub/deep"))
    }

    #[test]
    fn settings_that_name_programs_are_found_however_they_are_written() {
        let hostile = [
            "[core]\n\tfsmonitor = ./x\n",
            "[CORE]\nFSMonitor=./x",
            "[core] fsmonitor = ./x",
            "[core]fsmonitor=./x # y",
            "[diff]\nexternal = ./x",
            "[diff \"a]b\"]\n  textconv = ./x",
            "[diff.txt]\ncommand = ./x",
            "[filter \"f\"]\nclean = ./x",
            "[filter \"lfs\"]\nprocess = git-lfs filter-process; ./x",
            "[include]\npath = ../x",
            "[includeIf \"gitdir:/\"]\npath = ../x",
            "[gpg]\nprogram = ./x",
            "[gpg \"ssh\"]\nprogram = ./x",
        ];
        for config in hostile {
            assert_eq!(problem(config), Some(RUNS), "{config}");
        }
        let plain = [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = true\n",
            "[remote \"origin\"]\n\turl = https://x.org/fsmonitor\n[branch \"main\"]\n\tmerge = refs/heads/main\n",
            "[user]\nname = external\n[diff]\ncolorMoved = zebra\n",
            "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n",
            "[alias]\nst = status\n",
            "[core]\nhooksPath = .husky/_\n\tsshCommand = ssh -i key\n\tworktree = ../../../sub\n",
        ];
        for config in plain {
            assert_eq!(problem(config), None, "{config}");
        }
    }

    #[test]
    fn other_repositories_and_hooks_are_found_too() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), text).unwrap();
        };
        write(".git/config", "");
        assert_eq!(runs_programs(dir.path()), None);
        // A bare repository among the files.
        for name in ["inner/objects", "inner/refs", "inner/sub"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        write("inner/HEAD", "ref: refs/heads/main\n");
        assert!(runs_programs(&at("inner/sub")).is_some());
        assert!(runs_programs(&at("inner/sub/none")).is_some());
        // A worktree, whose settings are elsewhere.
        write("main/.git/config", "[core]\nfsmonitor = ./x\n");
        write("main/.git/worktrees/w/commondir", "../..\n");
        write("w/.git", &format!("gitdir: {}\n", at("main/.git/worktrees/w").display()));
        assert_eq!(runs_programs(&at("w")), Some(RUNS));
        write("main/.git/config", "");
        assert_eq!(runs_programs(&at("w")), None);
        write("main/.git/worktrees/w/config.worktree", "[diff]\nexternal = x\n");
        assert_eq!(runs_programs(&at("w")), Some(RUNS));
        write("broken/.git", "nothing\n");
        assert_eq!(runs_programs(&at("broken")), Some(UNREADABLE));
        write("hooked/.git/config", "[core]\n\thooksPath = .husky\n");
        assert_eq!(runs_programs(&at("hooked")), None);
        write("hooked/.husky/post-index-change", "");
        assert!(runs_programs(&at("hooked")).is_some());
        write(".git/hooks/post-index-change", "");
        assert!(runs_programs(dir.path()).is_some());
        write("long/.git/config", &"#".repeat(300 * 1024));
        assert_eq!(runs_programs(&at("long")), Some(UNREADABLE));
    }
}
