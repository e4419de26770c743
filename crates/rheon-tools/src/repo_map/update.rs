//! Bringing a survey up to date: only files that changed are read, and only those whose content changed are parsed.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::extract::{Extracted, Extractor};
use super::language;
use super::limits::RepoMapLimits;
use super::survey::{Entry, Stamp, Survey};
use super::tags::FileTags;
use super::walk::{LeftOut, walk};
use crate::files::{DirectoryHandle, OnMissing};

/// How many threads read at once. The map is made beside other work, and must not take the machine.
const THREADS: usize = 2;

/// How many files are read before it is looked whether there is room for more tags.
const BATCH: usize = 256;

/// Why a repository cannot be mapped.
#[derive(Debug, thiserror::Error)]
pub enum RepoMapError {
    /// The root cannot be looked into.
    #[error("cannot map {}: {source}; check that it is a folder, not a link to one, and may be read", root.display())]
    Root {
        /// The root.
        root: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// How many files are in the map now.
    pub files: usize,
    /// How many were parsed, because they are new or changed.
    pub parsed: usize,
    /// How many were read but had the same content as before.
    pub touched: usize,
    /// How many are gone.
    pub removed: usize,
    /// How many were passed over: too large, no text, unreadable, or with a name that cannot be shown.
    pub passed_over: usize,
    /// How many the parser gave up on; they are in the map without definitions.
    pub given_up: usize,
    /// How it ended.
    pub end: UpdateEnd,
    /// Why the cache could not be written, if so. The map is complete all the same; the next session begins anew.
    pub cache_problem: Option<String>,
}

/// How an update ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpdateEnd {
    /// Everything is in the map.
    #[default]
    Complete,
    /// A limit was reached; what lies beyond is not in the map.
    Full,
    /// It was cancelled; the map has what it had, and what was read until then.
    Cancelled,
}

/// What an update goes by.
pub(super) struct Ground<'a> {
    pub(super) root: &'a Path,
    pub(super) limits: &'a RepoMapLimits,
    pub(super) left_out: Option<&'a LeftOut>,
    pub(super) cancel: &'a CancellationToken,
}

/// What became of a file that was looked at.
enum Look {
    /// It is as it was.
    Same,
    /// Only its stamp is new.
    Touched(Stamp),
    /// Its content is new.
    Parsed(Entry),
    /// Its content is new, and the parser gave up.
    GivenUp(Entry),
    /// It has no place in the map.
    PassedOver,
    /// There is no room for its tags.
    NoRoom,
    /// It is not known, since nobody wants to know any more.
    Cancelled,
}

/// Brings `survey` up to date, whose entries were seen at `seen_at`.
pub(super) fn update(
    ground: &Ground<'_>,
    survey: &mut Survey,
    seen_at: Option<SystemTime>,
) -> Result<UpdateReport, RepoMapError> {
    let folder = DirectoryHandle::open(ground.root, Path::new(""), OnMissing::Refuse)
        .and_then(|folder| std::fs::read_dir(ground.root).map(|_| folder))
        .map_err(|source| RepoMapError::Root { root: ground.root.to_owned(), source })?;
    let walked = walk(ground.root, &folder, ground.limits, ground.left_out, ground.cancel);
    let mut report = UpdateReport { passed_over: walked.passed_over, ..UpdateReport::default() };
    if ground.cancel.is_cancelled() {
        report.end = UpdateEnd::Cancelled;
        report.files = survey.len();
        return Ok(report);
    }
    report.removed = forget_missing(survey, &walked.files);
    let mut is_full = walked.is_cut;
    let mut room = Room::Left;
    for batch in walked.files.chunks(BATCH) {
        let looks = look_at(batch, &Looking { folder: &folder, ground, survey, seen_at, room });
        for (path, look) in looks {
            settle(path, look, survey, &mut report);
        }
        if forget_beyond(survey, ground.limits.tags_max) {
            room = Room::None;
            is_full = true;
        }
    }
    report.files = survey.len();
    if ground.cancel.is_cancelled() {
        report.end = UpdateEnd::Cancelled;
    } else if is_full {
        report.end = UpdateEnd::Full;
    }
    Ok(report)
}

/// Forgets what is not among `files`, which are sorted. Says how many that were.
fn forget_missing(survey: &mut Survey, files: &[String]) -> usize {
    let before = survey.len();
    survey.retain(|path, _| files.binary_search(path).is_ok());
    before - survey.len()
}

fn look_at<'f>(batch: &'f [String], looking: &Looking<'_>) -> Vec<(&'f str, Look)> {
    let share = batch.len().div_ceil(THREADS).max(1);
    let work = |part: &'f [String]| -> Vec<(&'f str, Look)> {
        let ground = looking.ground;
        let mut extractor = Extractor::new(*ground.limits, ground.cancel);
        let at = |path: &'f String| (path.as_str(), looking.at(path, &mut extractor));
        part.iter().map(at).collect()
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = batch.chunks(share).map(|part| (part, scope.spawn(move || work(part)))).collect();
        let joined = parts.into_iter().map(|(part, thread)| match thread.join() {
            Ok(looks) => looks,
            Err(_) => part.iter().map(|path| (path.as_str(), Look::PassedOver)).collect(),
        });
        joined.flatten().collect()
    })
}

/// Whether there is room for more tags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Left,
    None,
}

/// Looking at files.
struct Looking<'a> {
    folder: &'a DirectoryHandle,
    ground: &'a Ground<'a>,
    survey: &'a Survey,
    seen_at: Option<SystemTime>,
    room: Room,
}

impl Looking<'_> {
    fn at(&self, path: &str, extractor: &mut Extractor<'_>) -> Look {
        if self.ground.cancel.is_cancelled() {
            return Look::Cancelled;
        }
        self.try_at(path, extractor).unwrap_or(Look::PassedOver)
    }

    fn try_at(&self, path: &str, extractor: &mut Extractor<'_>) -> io::Result<Look> {
        let known = self.survey.get(path);
        if known.is_none() && self.room == Room::None {
            return Ok(Look::NoRoom);
        }
        let file = self.folder.file(Path::new(path))?;
        let stamp = Stamp::of(&file.metadata()?);
        let is_same = known.is_some_and(|known| known.stamp == stamp);
        if is_same && self.seen_at.is_some_and(|seen_at| stamp.is_settled(seen_at)) {
            return Ok(Look::Same);
        }
        let (Some(content), Some(language)) =
            (self.content(file, stamp)?, language::of(path.rsplit('/').next().unwrap_or(path)))
        else {
            return Ok(Look::PassedOver);
        };
        let hash: Box<str> = blake3::hash(&content).to_hex().as_str().into();
        if known.is_some_and(|known| known.hash == hash) {
            return Ok(Look::Touched(stamp));
        }
        Ok(match extractor.extract(language, &content) {
            Extracted::Tags(tags) => Look::Parsed(Entry { stamp, hash, tags }),
            Extracted::TooHard => Look::GivenUp(Entry { stamp, hash, tags: FileTags::default() }),
            Extracted::NoSource => Look::PassedOver,
            Extracted::Cancelled => Look::Cancelled,
        })
    }

    /// The content; none where it is too large, also where it grows while it is read.
    fn content(&self, file: File, stamp: Stamp) -> io::Result<Option<Vec<u8>>> {
        let bytes_max = self.ground.limits.file_bytes_max;
        if stamp.size > bytes_max {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default() + 1);
        let count = file.take(bytes_max.saturating_add(1)).read_to_end(&mut content)?;
        Ok((count as u64 <= bytes_max).then_some(content))
    }
}

fn settle(path: &str, look: Look, survey: &mut Survey, report: &mut UpdateReport) {
    match look {
        Look::Same | Look::NoRoom | Look::Cancelled => {}
        Look::Touched(stamp) => {
            report.touched += 1;
            if let Some(entry) = survey.get_mut(path) {
                entry.stamp = stamp;
            }
        }
        Look::Parsed(entry) => {
            report.parsed += 1;
            survey.insert(path.to_owned(), entry);
        }
        Look::GivenUp(entry) => {
            report.given_up += 1;
            survey.insert(path.to_owned(), entry);
        }
        Look::PassedOver => {
            report.passed_over += 1;
            survey.remove(path);
        }
    }
}

/// Forgets the files behind those that have `tags_max` tags together, and says whether there were any.
fn forget_beyond(survey: &mut Survey, tags_max: usize) -> bool {
    let before = survey.len();
    let mut count = 0_usize;
    survey.retain(|_, entry| {
        count = count.saturating_add(entry.tags.count());
        count <= tags_max
    });
    survey.len() < before
}
