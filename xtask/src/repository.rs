//! `Repository`: the files of the repository as one value, so that rules need no disk.

use std::collections::{BTreeMap, BTreeSet};

/// The files of a repository, with the text of those that a rule reads.
pub struct Repository {
    texts: BTreeMap<String, Option<String>>,
    dirs: BTreeSet<String>,
    sources: BTreeMap<String, Source>,
    crates: Vec<Crate>,
}

/// One Rust file.
pub struct Source {
    /// The file, from the root of the repository.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its syntax, or why it has none.
    pub syntax: syn::Result<syn::File>,
}

/// One crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crate {
    /// The name of its directory, which is the name of the crate.
    pub name: String,
    /// Its directory, from the root of the repository, without a slash at the end.
    pub dir: String,
}

/// The directories of a crate that hold Rust.
const SOURCE_DIRS: [&str; 4] = ["src/", "tests/", "benches/", "examples/"];

impl Repository {
    /// A repository of these files: path from the root, and the text where a rule may want to read it.
    pub fn new(files: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let texts: BTreeMap<_, _> = files.into_iter().collect();
        let crates: Vec<_> = texts.keys().filter_map(|path| Crate::of_manifest(path)).collect();
        let sources = texts
            .iter()
            .filter(|(path, _)| crates.iter().any(|member| member.owns(path)))
            .filter_map(|(path, text)| Some((path.clone(), Source::new(path, text.as_deref()?))))
            .collect();
        let dirs = texts.keys().flat_map(|path| dirs_above(path)).collect();
        Self { texts, dirs, sources, crates }
    }

    /// The crates of the workspace, by directory.
    pub fn crates(&self) -> &[Crate] {
        &self.crates
    }

    /// Every Rust file that belongs to a crate, by path.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.values()
    }

    /// The Rust files whose path begins with `dir` (which ends in a slash).
    pub fn sources_in(&self, dir: &str) -> impl Iterator<Item = &Source> {
        self.sources().filter(move |source| source.path.starts_with(dir))
    }

    /// The Rust file at `path`.
    pub fn source(&self, path: &str) -> Option<&Source> {
        self.sources.get(path)
    }

    /// The text of the file at `path`; none if there is no such file, or no rule reads files of its kind.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path)?.as_deref()
    }

    /// The path of every file.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// The path of every directory that holds a file, at any depth.
    pub fn dirs(&self) -> impl Iterator<Item = &str> {
        self.dirs.iter().map(String::as_str)
    }

    /// Whether `path` is a file or a directory of the repository.
    pub fn contains(&self, path: &str) -> bool {
        self.texts.contains_key(path) || self.dirs.contains(path)
    }
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), syntax: syn::parse_file(text) }
    }

    /// Whether the file holds unit tests only.
    pub fn is_unit_tests(&self) -> bool {
        self.path.ends_with("_tests.rs")
    }

    /// Whether the file holds tests only, of whatever kind.
    pub fn is_test(&self) -> bool {
        self.is_unit_tests() || self.path.contains("/tests/")
    }
}

impl Crate {
    /// The crate whose manifest is at `path`. Manifests elsewhere are no crates of the workspace: they are test data.
    fn of_manifest(path: &str) -> Option<Self> {
        let dir = path.strip_suffix("/Cargo.toml")?;
        let name = dir.strip_prefix("crates/").unwrap_or(dir);
        let is_member = dir == "xtask" || (dir.starts_with("crates/") && !name.contains('/'));
        is_member.then(|| Self { name: name.to_owned(), dir: dir.to_owned() })
    }

    /// The path of the manifest.
    pub fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.dir)
    }

    /// The directory of the library or program itself, with a slash at the end.
    pub fn src(&self) -> String {
        format!("{}/src/", self.dir)
    }

    /// Whether the file at `path` is Rust of this crate.
    fn owns(&self, path: &str) -> bool {
        let Some(inside) = path.strip_prefix(&self.dir).and_then(|rest| rest.strip_prefix('/')) else {
            return false;
        };
        inside == "build.rs"
            || (inside.ends_with(".rs") && SOURCE_DIRS.iter().any(|dir| inside.starts_with(dir)))
    }
}

/// Every directory above `path`, nearest first.
fn dirs_above(path: &str) -> impl Iterator<Item = String> {
    let parent = |path: &str| path.rsplit_once('/').map(|(dir, _)| dir.to_owned());
    std::iter::successors(parent(path), move |dir| parent(dir))
}
