//! `RepoMap`: the map of one project, kept up to date and asked for text.

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

/// The map of one project. Its methods read files and compute: call them where a thread may wait.
#[derive(Debug, Default)]
pub struct RepoMap {
    /// None where the user wants no map: then nothing is read.
    project: Option<ProjectPaths>,
    survey: Survey,
    /// When the survey was kept, by the clock of the disk.
    seen_at: Option<SystemTime>,
}

/// Where a project is, and what is looked at.
struct ProjectPaths {
    root: PathBuf,
    cache_file: PathBuf,
    limits: RepoMapLimits,
    exclude: Option<ExcludeRule>,
}

/// What the text is for.
pub struct MapQuery<'a> {
    /// The task, in the user's words: definitions and files that it mentions come first.
    pub mentioned: &'a str,
    /// Files that were read or edited: from the root, or absolute.
    pub focus: &'a [PathBuf],
    /// How long the text may be.
    pub tokens_max: u64,
    /// How long a text is.
    pub count: &'a dyn Fn(&str) -> u64,
}

impl RepoMap {
    /// The map of the project at `root`, as it was kept in `cache_file`. Nothing of the project is read yet.
    ///
    /// One project has one cache file; it should lie outside the project.
    pub fn open(root: impl Into<PathBuf>, cache_file: impl Into<PathBuf>, limits: RepoMapLimits) -> Self {
        let (root, cache_file) = (root.into(), cache_file.into());
        // A root may be a link; nothing below it may.
        let root = root.canonicalize().unwrap_or(root);
        let cached = cache::load(&cache_file, &root);
        let seen_at = cached.as_ref().map(|cached| cached.saved_at);
        let survey = cached.map(|cached| cached.survey).unwrap_or_default();
        Self { project: Some(ProjectPaths { root, cache_file, limits, exclude: None }), survey, seen_at }
    }

    /// A map of nothing, for users who want none: nothing is read, nothing is written, and the text is empty.
    pub fn off() -> Self {
        Self::default()
    }

    /// Leaves out what fits `rule`, which is asked for absolute paths: what the rules of the user forbid to read.
    #[must_use]
    pub fn excluding(mut self, rule: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        if let Some(project) = &mut self.project {
            project.exclude = Some(Arc::new(rule));
        }
        self
    }

    /// Looks which files changed, and reads those. What was found is kept for the next session, also where it is cancelled: the
    /// next update goes on from there.
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
                    report.cache_problem = Some(format!("cannot keep the map in {file}: {problem}"));
                }
            }
        }
        Ok(report)
    }

    /// The map as text: paths, and below each what matters most of what the file defines. Empty where nothing fits.
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

/// Keeps a survey, and says of when it is. What was not looked at because of a cancel is as old as it was.
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
