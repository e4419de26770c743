//! Updates a survey: reads only files that changed, and parses only those with new content.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::extract::{Extraction, Extractor};
use super::language;
use super::limits::RepoMapLimits;
use super::survey::{Entry, Stamp, Survey};
use super::tags::FileTags;
use super::walk::{ExcludeRule, walk};
use crate::files::{DirectoryHandle, OnMissing};

/// The number of reading threads. Few, because the map is built in the background.
const THREADS: usize = 2;

/// The number of files between checks of the tag limit.
const BATCH: usize = 256;

#[derive(Debug, thiserror::Error)]
pub enum RepoMapError {
    #[error("cannot map {}: {source}; check that it is a readable directory and not a link", root.display())]
    Root { root: PathBuf, source: io::Error },
}

/// The outcome of an update.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Files in the map now.
    pub files: usize,
    /// Files parsed because they are new or changed.
    pub parsed: usize,
    /// Files read but unchanged.
    pub touched: usize,
    /// Files that no longer exist.
    pub removed: usize,
    /// Files that are too large, not text, unreadable, or have a name that cannot be shown.
    pub skipped: usize,
    /// Files the parser gave up on. They are in the map without definitions.
    pub abandoned: usize,
    pub end: UpdateEnd,
    /// Why the cache could not be written, if so. The map is complete, but the next session has to rebuild it.
    pub cache_problem: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpdateEnd {
    #[default]
    Complete,
    /// A limit was reached, so some files are not in the map.
    Full,
    /// Cancelled: the map has its old content and what was read so far.
    Cancelled,
}

/// The inputs of an update.
pub(super) struct UpdateContext<'a> {
    pub(super) root: &'a Path,
    pub(super) limits: &'a RepoMapLimits,
    pub(super) exclude: Option<&'a ExcludeRule>,
    pub(super) cancel: &'a CancellationToken,
}

/// The outcome for one file.
enum FileUpdate {
    Unchanged,
    /// Only the stamp changed.
    Touched(Stamp),
    Parsed(Entry),
    /// The content changed, and the parser gave up.
    Abandoned(Entry),
    /// Does not belong in the map.
    Skipped,
    /// No room for its tags.
    NoRoom,
    Cancelled,
}

/// Updates `survey`, whose entries were seen at `seen_at`.
pub(super) fn update(
    context: &UpdateContext<'_>,
    survey: &mut Survey,
    seen_at: Option<SystemTime>,
) -> Result<UpdateReport, RepoMapError> {
    let dir = DirectoryHandle::open(context.root, Path::new(""), OnMissing::Refuse)
        .and_then(|dir| std::fs::read_dir(context.root).map(|_| dir))
        .map_err(|source| RepoMapError::Root { root: context.root.to_owned(), source })?;
    let result = walk(context.root, &dir, context.limits, context.exclude, context.cancel);
    let mut report = UpdateReport { skipped: result.skipped, ..UpdateReport::default() };
    if context.cancel.is_cancelled() {
        report.end = UpdateEnd::Cancelled;
        report.files = survey.len();
        return Ok(report);
    }
    report.removed = remove_missing(survey, &result.files);
    let mut is_full = result.is_cut;
    let mut room = Room::Left;
    for batch in result.files.chunks(BATCH) {
        let updates = scan_batch(batch, &Scanner { dir: &dir, context, survey, seen_at, room });
        for (path, update) in updates {
            apply_update(path, update, survey, &mut report);
        }
        if remove_beyond(survey, context.limits.tags_max) {
            room = Room::None;
            is_full = true;
        }
    }
    report.files = survey.len();
    if context.cancel.is_cancelled() {
        report.end = UpdateEnd::Cancelled;
    } else if is_full {
        report.end = UpdateEnd::Full;
    }
    Ok(report)
}

/// Removes entries that are not in `files`, which is sorted, and returns their number.
fn remove_missing(survey: &mut Survey, files: &[String]) -> usize {
    let before = survey.len();
    survey.retain(|path, _| files.binary_search(path).is_ok());
    before - survey.len()
}

fn scan_batch<'f>(batch: &'f [String], scanner: &Scanner<'_>) -> Vec<(&'f str, FileUpdate)> {
    let share = batch.len().div_ceil(THREADS).max(1);
    let work = |part: &'f [String]| -> Vec<(&'f str, FileUpdate)> {
        let context = scanner.context;
        let mut extractor = Extractor::new(*context.limits, context.cancel);
        part.iter().map(|path| (path.as_str(), scanner.scan(path, &mut extractor))).collect()
    };
    std::thread::scope(|scope| {
        let start = |part| std::thread::Builder::new().spawn_scoped(scope, move || work(part)).ok();
        let parts: Vec<_> = batch.chunks(share).map(|part| (part, start(part))).collect();
        let joined = parts.into_iter().map(|(part, thread)| match thread.map(|thread| thread.join()) {
            Some(Ok(updates)) => updates,
            Some(Err(_)) => part.iter().map(|path| (path.as_str(), FileUpdate::Skipped)).collect(),
            // The machine has no more threads.
            None => work(part),
        });
        joined.flatten().collect()
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Left,
    None,
}

/// Checks files against a survey.
struct Scanner<'a> {
    dir: &'a DirectoryHandle,
    context: &'a UpdateContext<'a>,
    survey: &'a Survey,
    seen_at: Option<SystemTime>,
    room: Room,
}

impl Scanner<'_> {
    fn scan(&self, path: &str, extractor: &mut Extractor<'_>) -> FileUpdate {
        if self.context.cancel.is_cancelled() {
            return FileUpdate::Cancelled;
        }
        self.try_scan(path, extractor).unwrap_or(FileUpdate::Skipped)
    }

    fn try_scan(&self, path: &str, extractor: &mut Extractor<'_>) -> io::Result<FileUpdate> {
        let known = self.survey.get(path);
        if known.is_none() && self.room == Room::None {
            return Ok(FileUpdate::NoRoom);
        }
        let file = self.dir.file(Path::new(path))?;
        let stamp = Stamp::of(&file.metadata()?);
        let is_unchanged = known.is_some_and(|known| known.stamp == stamp);
        if is_unchanged && self.seen_at.is_some_and(|seen_at| stamp.is_settled(seen_at)) {
            return Ok(FileUpdate::Unchanged);
        }
        let (Some(content), Some(language)) =
            (self.content(file, stamp)?, language::of(path.rsplit('/').next().unwrap_or(path)))
        else {
            return Ok(FileUpdate::Skipped);
        };
        let hash: Box<str> = blake3::hash(&content).to_hex().as_str().into();
        if known.is_some_and(|known| known.hash == hash) {
            return Ok(FileUpdate::Touched(stamp));
        }
        Ok(match extractor.extract(language, &content) {
            Extraction::Tags(tags) => FileUpdate::Parsed(Entry { stamp, hash, tags }),
            Extraction::TooComplex => FileUpdate::Abandoned(Entry { stamp, hash, tags: FileTags::default() }),
            Extraction::NotSource => FileUpdate::Skipped,
            Extraction::Cancelled => FileUpdate::Cancelled,
        })
    }

    /// The content. `None` if it is too large, even if it grows while it is read.
    fn content(&self, file: File, stamp: Stamp) -> io::Result<Option<Vec<u8>>> {
        let bytes_max = self.context.limits.file_bytes_max;
        if stamp.size > bytes_max {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default() + 1);
        let count = file.take(bytes_max.saturating_add(1)).read_to_end(&mut content)?;
        Ok((count as u64 <= bytes_max).then_some(content))
    }
}

fn apply_update(path: &str, update: FileUpdate, survey: &mut Survey, report: &mut UpdateReport) {
    match update {
        FileUpdate::Unchanged | FileUpdate::NoRoom | FileUpdate::Cancelled => {}
        FileUpdate::Touched(stamp) => {
            report.touched += 1;
            if let Some(entry) = survey.get_mut(path) {
                entry.stamp = stamp;
            }
        }
        FileUpdate::Parsed(entry) => {
            report.parsed += 1;
            survey.insert(path.to_owned(), entry);
        }
        FileUpdate::Abandoned(entry) => {
            report.abandoned += 1;
            survey.insert(path.to_owned(), entry);
        }
        FileUpdate::Skipped => {
            report.skipped += 1;
            survey.remove(path);
        }
    }
}

/// Removes files beyond the first `tags_max` tags, and returns whether there were any.
fn remove_beyond(survey: &mut Survey, tags_max: usize) -> bool {
    let before = survey.len();
    let mut count = 0_usize;
    survey.retain(|_, entry| {
        count = count.saturating_add(entry.tags.count());
        count <= tags_max
    });
    survey.len() < before
}
