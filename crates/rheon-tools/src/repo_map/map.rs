//! `RepoMap`: the map of one project.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::cache;
use super::index::File;
use super::limits::RepoMapLimits;
use super::mention::TaskMentions;
use super::rank::rank;
use super::render::fit;
use super::survey::Survey;
use super::update::{RepoMapError, UpdateContext, UpdateEnd, UpdateReport, update};
use super::walk::ExcludeRule;

/// The map of one project. Its methods read files and compute, so call them on a thread that may block.
#[derive(Debug, Default)]
pub struct RepoMap {
    /// `None` if the map is turned off: nothing is read.
    project: Option<ProjectPaths>,
    survey: Survey,
    /// When the survey was saved, by the clock of the file system.
    seen_at: Option<SystemTime>,
}

/// The paths and limits of a project.
struct ProjectPaths {
    root: PathBuf,
    cache_file: PathBuf,
    limits: RepoMapLimits,
    exclude: Option<ExcludeRule>,
}

/// What to render.
pub struct MapQuery<'a> {
    /// The user's task. Definitions and files it mentions come first.
    pub mentioned: &'a str,
    /// Files that were read or edited, relative to the root or absolute.
    pub focus: &'a [PathBuf],
    /// The longest text, in tokens.
    pub tokens_max: u64,
    /// Counts the tokens of a text.
    pub count: &'a dyn Fn(&str) -> u64,
}

impl RepoMap {
    /// Opens the map of the project at `root` from `cache_file`. Nothing of the project is read yet.
    ///
    /// Use one cache file per project, outside the project.
    pub fn open(root: impl Into<PathBuf>, cache_file: impl Into<PathBuf>, limits: RepoMapLimits) -> Self {
        let (root, cache_file) = (root.into(), cache_file.into());
        // The root may be a link; nothing below it may.
        let root = root.canonicalize().unwrap_or(root);
        let cached = cache::load(&cache_file, &root);
        let seen_at = cached.as_ref().map(|cached| cached.saved_at);
        let survey = cached.map(|cached| cached.survey).unwrap_or_default();
        Self { project: Some(ProjectPaths { root, cache_file, limits, exclude: None }), survey, seen_at }
    }

    /// A map that is turned off: it reads and writes nothing, and its text is empty.
    pub fn off() -> Self {
        Self::default()
    }

    /// Leaves out absolute paths that match `rule`, such as those the user's rules forbid reading.
    #[must_use]
    pub fn excluding(mut self, rule: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        if let Some(project) = &mut self.project {
            project.exclude = Some(Arc::new(rule));
        }
        self
    }

    /// Finds the files that changed and reads them. The result is cached for the next session, even if the update is
    /// cancelled: the next one continues from there.
    pub fn update(&mut self, cancel: &CancellationToken) -> Result<UpdateReport, RepoMapError> {
        let Some(project) = &self.project else { return Ok(UpdateReport::default()) };
        let context = UpdateContext {
            root: &project.root,
            limits: &project.limits,
            exclude: project.exclude.as_ref(),
            cancel,
        };
        let draft = cache::start_draft(&project.cache_file);
        let mut report = update(&context, &mut self.survey, self.seen_at)?;
        let is_changed = report.parsed + report.touched + report.removed + report.abandoned > 0;
        let is_first = self.seen_at.is_none() && report.end != UpdateEnd::Cancelled;
        if is_changed || is_first {
            match draft.and_then(|draft| save(project, draft, &self.survey, self.seen_at, report.end)) {
                Ok(at) => self.seen_at = Some(at),
                Err(problem) => {
                    let file = project.cache_file.display();
                    report.cache_problem =
                        Some(format!("cannot write the repository map to {file}: {problem}"));
                }
            }
        }
        Ok(report)
    }

    /// The map as text: paths, each with its most important definitions. Empty if nothing fits.
    pub fn render(&self, query: &MapQuery<'_>) -> String {
        let files: Vec<File<'_>> =
            self.survey.iter().map(|(path, entry)| (path.as_str(), &entry.tags)).collect();
        let root = self.project.as_ref().map(|project| project.root.as_path()).unwrap_or(Path::new(""));
        let focus: HashSet<&Path> =
            query.focus.iter().map(|path| path.strip_prefix(root).unwrap_or(path)).collect();
        let is_focus = |path: &str| focus.contains(Path::new(path));
        let ranked = rank(&files, &TaskMentions::of(query.mentioned), &is_focus);
        fit(&files, &ranked, query.tokens_max, query.count)
    }
}

/// Saves a survey and returns its time. A cancelled update keeps the old time, because some files were not checked.
fn save(
    project: &ProjectPaths,
    draft: cache::CacheDraft,
    survey: &Survey,
    seen_before: Option<SystemTime>,
    end: UpdateEnd,
) -> io::Result<SystemTime> {
    let seen_at = match end {
        UpdateEnd::Complete | UpdateEnd::Full => draft.started_at,
        UpdateEnd::Cancelled => seen_before.unwrap_or(draft.started_at),
    };
    draft.save(&project.cache_file, &project.root, survey, seen_at)?;
    Ok(seen_at)
}

impl fmt::Debug for ProjectPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlaceOnDisk").field("root", &self.root).finish_non_exhaustive()
    }
}

impl fmt::Debug for MapQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapQuery").field("tokens_max", &self.tokens_max).finish_non_exhaustive()
    }
}
