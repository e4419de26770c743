//! `Caches`: the layers of one session. Each project has a directory with numbered slots; a session locks the first
//! free one, so that two sessions of a project never share a layer.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use super::quota::{is_over, make_private_dir, remove_tree, trim};
use super::registry::{RegistryFile, sanitized_files};
use super::watch::{CacheReports, QuotaWatch};
use crate::process::Overlay;

/// How commands use the user's package caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMode {
    /// They see the user's caches, and their changes go to a copy-on-write layer. Where that is not possible, as
    /// [`Self::Private`].
    Overlay,
    /// They change the user's caches.
    Shared,
    /// They have caches of their own, which begin empty.
    Private,
}

/// Where caches are, and where their layers go.
#[derive(Debug, Clone)]
pub struct CacheSettings {
    pub mode: CacheMode,
    pub home: PathBuf,
    /// The directory of all layers. It must not be inside a cache.
    pub dir: PathBuf,
    /// The root of the project.
    pub project: PathBuf,
    /// The limit for the layers of all projects. The least recently used are removed first.
    pub bytes_max: u64,
    /// Told what the user should know.
    pub reports: CacheReports,
}

/// A cache and its layer.
#[derive(Debug, Clone)]
pub(crate) struct CacheLayer {
    /// Missing if there is nothing below it.
    pub(crate) overlay: Option<Overlay>,
    /// Used where the overlay cannot be mounted.
    pub(crate) private: Option<PrivateCache>,
}

/// A cache of its own, and the variables that make programs use it.
#[derive(Debug, Clone)]
pub(crate) struct PrivateCache {
    pub(crate) dir: PathBuf,
    pub(crate) variables: Vec<(String, String)>,
}

/// The layers of one session. Keep it as long as the session: it holds the lock of its slot.
#[derive(Debug)]
pub struct Caches {
    layers: Vec<CacheLayer>,
    shared: Vec<PathBuf>,
    registry: Vec<RegistryFile>,
    dir: PathBuf,
    watch: QuotaWatch,
    _lock: Option<File>,
}

/// A cache that a tool keeps in the home directory.
struct KnownCache {
    name: &'static str,
    /// Relative to the home directory.
    path: &'static str,
    /// The variable with which the user moves it.
    variable: Option<&'static str>,
    /// What makes the tool use another directory, with `@` for it.
    private: &'static [(&'static str, &'static str)],
}

const KNOWN: [KnownCache; 12] = [
    known("cargo", ".cargo", Some("CARGO_HOME"), &[("CARGO_HOME", "@")]),
    known("npm", ".npm", Some("npm_config_cache"), &[("npm_config_cache", "@")]),
    known("cache", ".cache", Some("XDG_CACHE_HOME"), &[("XDG_CACHE_HOME", "@"), ("PIP_CACHE_DIR", "@/pip")]),
    known("go", "go", Some("GOPATH"), &[("GOMODCACHE", "@/pkg/mod")]),
    known("gradle", ".gradle", Some("GRADLE_USER_HOME"), &[("GRADLE_USER_HOME", "@")]),
    known("m2", ".m2", None, &[("MAVEN_ARGS", "-Dmaven.repo.local=@/repository")]),
    known("pnpm", ".local/share/pnpm", None, &[]),
    known("bun", ".bun", Some("BUN_INSTALL"), &[]),
    known("deno", ".deno", Some("DENO_DIR"), &[]),
    known("yarn", ".yarn", None, &[]),
    known("nuget", ".nuget", None, &[]),
    known("gem", ".gem", None, &[]),
];

const fn known(
    name: &'static str,
    path: &'static str,
    variable: Option<&'static str>,
    private: &'static [(&'static str, &'static str)],
) -> KnownCache {
    KnownCache { name, path, variable, private }
}

/// The most sessions of one project with layers at the same time. Further ones have no caches.
const SLOTS_MAX: usize = 16;

impl Caches {
    /// Prepares the caches of a session. `variables` are the user's: some of them say where a cache is.
    pub fn prepare(settings: &CacheSettings, variables: &[(String, String)]) -> io::Result<Self> {
        make_private_dir(&settings.dir)?;
        let (slot, lock) = claim_slot(settings)?;
        let registry = sanitized_files(&settings.home, &slot.join("settings"))?;
        let mut caches = Self {
            layers: Vec::new(),
            shared: Vec::new(),
            registry,
            dir: settings.dir.clone(),
            watch: QuotaWatch::new(slot.clone(), settings.bytes_max, settings.reports.clone()),
            _lock: Some(lock),
        };
        for cache in &KNOWN {
            caches.add(cache, settings, &slot, variables)?;
        }
        let (dir, bytes_max) = (settings.dir.clone(), settings.bytes_max);
        // Counting the files of large caches takes a while.
        drop(std::thread::Builder::new().name("rheon-caches".into()).spawn(move || trim(&dir, bytes_max)));
        Ok(caches)
    }

    fn add(
        &mut self,
        cache: &KnownCache,
        settings: &CacheSettings,
        slot: &Path,
        variables: &[(String, String)],
    ) -> io::Result<()> {
        let moved = cache.variable.and_then(|name| variables.iter().find(|(variable, _)| variable == name));
        let moved = moved.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute());
        let path = moved.unwrap_or_else(|| settings.home.join(cache.path));
        let lower = path.canonicalize().ok().filter(|path| path.is_dir() && path.parent().is_some());
        // A layer over the workspace or over itself would take changes that belong elsewhere.
        let lower = lower.filter(|path| {
            !settings.project.starts_with(path) && !settings.dir.starts_with(path) && *path != settings.home
        });
        if settings.mode == CacheMode::Shared {
            self.shared.extend(lower);
            return Ok(());
        }
        let dir = slot.join(cache.name);
        let lower = lower.filter(|_| settings.mode == CacheMode::Overlay);
        if lower.is_none() && cache.private.is_empty() {
            return Ok(());
        }
        let overlay = match lower {
            Some(lower) => {
                let (upper, work) = (dir.join("upper"), dir.join("work"));
                make_private_dir(&upper)?;
                make_private_dir(&work)?;
                Some(Overlay { lower, upper, work })
            }
            None => None,
        };
        let private = match cache.private {
            [] => None,
            private => {
                let dir = dir.join("private");
                make_private_dir(&dir)?;
                let shown = dir.display().to_string();
                let variables =
                    private.iter().map(|(name, value)| ((*name).to_owned(), value.replace('@', &shown)));
                let cache = PrivateCache { variables: variables.collect(), dir };
                if let Some(config) = self.registry.iter().find(|file| file.path == path.join("config.toml"))
                {
                    drop(fs::copy(&config.content, cache.dir.join("config.toml")));
                }
                Some(cache)
            }
        };
        self.layers.push(CacheLayer { overlay, private });
        Ok(())
    }

    pub(crate) fn layers(&self) -> &[CacheLayer] {
        &self.layers
    }

    /// The caches that commands change.
    pub(crate) fn shared(&self) -> &[PathBuf] {
        &self.shared
    }

    /// Settings files, each with its copy without secrets.
    pub(crate) fn registry(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.registry.iter().map(|file| (file.path.as_path(), file.content.as_path()))
    }

    /// Whether the session has used up the limit, so that its caches take no more. Called for each command.
    pub(crate) fn is_full(&self) -> bool {
        self.watch.is_full()
    }

    /// The directory of all layers.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Locks the first slot of the project that no other session uses, and empties it if it grew over the limit.
fn claim_slot(settings: &CacheSettings) -> io::Result<(PathBuf, File)> {
    let mut hasher = DefaultHasher::new();
    settings.project.hash(&mut hasher);
    let name = settings.project.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).take(24).collect();
    let project = settings.dir.join(format!("{name}-{:016x}", hasher.finish()));
    for number in 0..SLOTS_MAX {
        let slot = project.join(number.to_string());
        make_private_dir(&slot)?;
        let Some(lock) = super::quota::lock_slot(&slot) else { continue };
        if is_over(&slot, settings.bytes_max) {
            remove_tree(&slot);
            make_private_dir(&slot)?;
            let Some(lock) = super::quota::lock_slot(&slot) else { continue };
            return Ok((slot, lock));
        }
        return Ok((slot, lock));
    }
    Err(io::Error::other(format!("more than {SLOTS_MAX} sessions use {}", project.display())))
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
