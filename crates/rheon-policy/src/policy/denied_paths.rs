//! The paths that deny rules are about, for the sandbox to enforce.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::WalkBuilder;

use crate::policy::paths::{BoundPath, fits};
use crate::policy::policy_set::Policy;
use crate::policy::rule::RuleKind;
use crate::workspace::{Access, Workspace};

/// Why not all denied paths are known. Commands must not run then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeniedPathsError {
    #[error(
        "deny rules are about more than {paths_max} files of the workspace ({rule} is one of them), too many to protect \
         each from commands; deny their directory instead, such as Read(./secrets/**)"
    )]
    TooManyPaths { rule: String, paths_max: usize },
    #[error(
        "the workspace has more than {entries_max} files and directories, too many to find those that deny rules with \
         wildcards are about ({rule}); start in a smaller directory, or name the files without wildcards, such as \
         Read(./.env)"
    )]
    TooManyEntries { rule: String, entries_max: usize },
}

/// How much to scan, and how many paths to pass to the sandbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanLimits {
    pub(crate) entries: usize,
    pub(crate) paths: usize,
}

const LIMITS: ScanLimits = ScanLimits { entries: 2_000_000, paths: 4_096 };

/// Directories that the scan skips: large and generated.
const LARGE_DIRS: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// A rule with wildcards.
#[derive(Debug, Clone)]
struct WildcardRule {
    text: String,
    paths: Vec<BoundPath>,
}

impl Policy {
    /// The denied paths in `workspace` and the home directory, for the sandbox to enforce. Paths without wildcards are
    /// included even if they do not exist. For wildcards, a scan lists the matching files that exist now; a file
    /// created later is not covered, nor are files in large generated directories (`node_modules`, `target`).
    pub fn denied_paths(
        &self,
        workspace: &Workspace,
        access: Access,
    ) -> Result<Vec<PathBuf>, DeniedPathsError> {
        self.denied_paths_within(workspace, access, LIMITS)
    }

    pub(crate) fn denied_paths_within(
        &self,
        workspace: &Workspace,
        access: Access,
        limits: ScanLimits,
    ) -> Result<Vec<PathBuf>, DeniedPathsError> {
        let home = self.pattern_roots().home.as_ref();
        let at_home = |path: &Path| home.is_some_and(|home| path.starts_with(home));
        let (mut found, mut rules) = (Vec::new(), Vec::new());
        for bound in self.of(RuleKind::Deny).filter(|bound| bound.is_about(access)) {
            found.extend(bound.literal_paths());
            rules.push(WildcardRule { text: bound.rule.text().to_owned(), paths: bound.paths.clone() });
        }
        found.retain(|path| at_home(path) || workspace.root_of(path).is_some());
        let Some(first) = rules.first().map(|rule| rule.text.clone()) else { return Ok(found) };
        for root in workspace.roots() {
            scan(root, &rules, &mut found, limits)?;
        }
        match found.len() > limits.paths {
            true => Err(DeniedPathsError::TooManyPaths { rule: first, paths_max: limits.paths }),
            false => Ok(found),
        }
    }
}

/// Adds what the rules are about in `root`. What is in a denied directory is not looked at.
fn scan(
    root: &Path,
    rules: &[WildcardRule],
    found: &mut Vec<PathBuf>,
    limits: ScanLimits,
) -> Result<(), DeniedPathsError> {
    let matches: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
    let (literals, sink, patterns) = (found.clone(), Arc::clone(&matches), rules.to_vec());
    let is_kept = move |entry: &ignore::DirEntry| {
        if entry.depth() == 0 {
            return true;
        }
        if literals.iter().any(|known| entry.path().starts_with(known)) {
            return false;
        }
        let is_denied = patterns.iter().any(|rule| fits(&rule.paths, entry.path()));
        if is_denied {
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(entry.path().to_path_buf());
        }
        !is_denied && !LARGE_DIRS.iter().any(|name| entry.file_name() == *name)
    };
    let walk =
        WalkBuilder::new(root).standard_filters(false).follow_links(false).filter_entry(is_kept).build();
    let rule_of = |path: Option<&PathBuf>| {
        let rule = rules.iter().find(|rule| path.is_none_or(|path| fits(&rule.paths, path)));
        rule.map(|rule| rule.text.clone()).unwrap_or_default()
    };
    for (index, _) in walk.enumerate() {
        let matched = matches.lock().unwrap_or_else(PoisonError::into_inner);
        if matched.len() > limits.paths {
            let rule = rule_of(matched.last());
            return Err(DeniedPathsError::TooManyPaths { rule, paths_max: limits.paths });
        }
        if index > limits.entries {
            let rule = rule_of(None);
            return Err(DeniedPathsError::TooManyEntries { rule, entries_max: limits.entries });
        }
    }
    found.append(&mut matches.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(())
}

#[cfg(test)]
#[path = "denied_paths_tests.rs"]
mod tests;
