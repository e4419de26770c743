//! `Policy`: the rules of all sources in their order. Deny goes before ask, ask before allow; how exact a rule is does not count.

use std::fmt;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use rheon_types::event::PermissionMode;
use url::Url;

use crate::policy::call::{Action, Words, host_of};
use crate::policy::document::{Document, RuleEntry};
use crate::policy::paths::{BoundPath, Extent, NamedPath, PatternRoots, fits};
use crate::policy::rule::{Pattern, Rule, RuleError, RuleKind};
use crate::policy::shell_analyzer::ShellAnalyzer;
use crate::workspace::{Access, Workspace};

/// Where rules come from, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSource {
    /// Set by whoever owns the machine.
    Managed,
    /// Given on the command line, or by the program that embeds us.
    CommandLine,
    /// The project's settings that are not shared.
    ProjectLocal,
    /// The project's settings.
    Project,
    /// The user's settings.
    User,
    /// Answers of this session.
    Session,
}

impl RuleSource {
    /// Whether it lies in the repository, where anybody may have written it.
    fn is_project(self) -> bool {
        match self {
            Self::ProjectLocal | Self::Project => true,
            Self::Managed | Self::CommandLine | Self::Session | Self::User => false,
        }
    }
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Managed => "managed settings",
            Self::CommandLine => "the command line",
            Self::Session => "answers of this session",
            Self::ProjectLocal => "local project settings",
            Self::Project => "project settings",
            Self::User => "user settings",
        })
    }
}

/// Whether the user trusts the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyTrust {
    /// What its settings allow counts.
    Trusted,
    /// Its settings can only forbid and ask.
    Untrusted,
}

/// One file of rules, and where it comes from.
#[derive(Debug, Clone)]
pub struct PolicySource {
    /// Where it comes from.
    pub source: RuleSource,
    /// The folder that `/` means in its patterns: the project's root, or the folder of the user's settings.
    pub folder: PathBuf,
    /// The rules.
    pub document: Document,
}

/// A policy that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A rule cannot be used here.
    #[error("the rule {rule} in {list} of {from} cannot be used: {problem}")]
    Unusable {
        /// The rule.
        rule: String,
        /// Its list.
        list: RuleKind,
        /// Its source.
        from: RuleSource,
        /// Why, and what to write instead.
        problem: String,
    },
    /// A rule does not do what its examples say.
    #[error(
        "the rule {rule} in {list} of {from} {verb} its example {example:?}; correct the rule or the example"
    )]
    Example {
        /// The rule.
        rule: String,
        /// Its list.
        list: RuleKind,
        /// Its source.
        from: RuleSource,
        /// What it does with the example.
        verb: &'static str,
        /// The example.
        example: String,
    },
    /// A folder that should belong to the workspace cannot be found.
    #[error("cannot add the folder {folder} to the workspace: {problem}; correct additionalDirectories")]
    Folder {
        /// The folder.
        folder: String,
        /// Why.
        problem: String,
    },
    /// A rule cannot be read.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A session has too many rules of its own.
    #[error(
        "a session takes at most {most} rules besides those of its settings; write them into a settings file"
    )]
    TooManyRules {
        /// How many it takes.
        most: usize,
    },
    /// Nobody may skip questions here.
    #[error("the mode bypassPermissions is switched off by settings; choose another mode")]
    BypassDisabled,
}

/// The rules of all sources. One without any rules allows nothing but looking around in the workspace.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: Vec<BoundRule>,
    mode: PermissionMode,
    bypass_disabled: bool,
    additional_directories: Vec<String>,
    warnings: Vec<String>,
    roots: PatternRoots,
}

/// A rule with its source, its pattern of paths bound to folders.
#[derive(Debug, Clone)]
pub(crate) struct BoundRule {
    pub(crate) rule: Rule,
    pub(crate) source: RuleSource,
    paths: Vec<BoundPath>,
}

impl Policy {
    /// The policy of `sources`. Projects that are not trusted can only make it tighter.
    pub fn new(
        sources: Vec<PolicySource>,
        roots: PatternRoots,
        trust: PolicyTrust,
        shell: ShellAnalyzer,
    ) -> Result<Self, PolicyError> {
        let mut policy = Self {
            rules: Vec::new(),
            mode: PermissionMode::Default,
            bypass_disabled: false,
            additional_directories: Vec::new(),
            warnings: Vec::new(),
            roots,
        };
        let mut sources = sources;
        sources.sort_by_key(|source| source.source);
        let mut mode = None;
        for PolicySource { source, folder, document } in sources {
            policy.warnings.extend(document.warnings.iter().map(|warning| format!("{source}: {warning}")));
            policy.bypass_disabled |= document.bypass_disabled;
            let document = policy.only_tighter(source, document, trust);
            mode = mode.or(document.default_mode);
            policy.additional_directories.extend(document.additional_directories.iter().cloned());
            for entry in document.into_entries() {
                policy.add(entry, source, &folder, shell)?;
            }
        }
        policy.mode = mode.unwrap_or_default();
        if policy.mode == PermissionMode::BypassPermissions && policy.bypass_disabled {
            policy.warnings.push(format!("{}; \"default\" is used", PolicyError::BypassDisabled));
            policy.mode = PermissionMode::Default;
        }
        // The order is that of lists, then that of sources; sorting keeps the order within both.
        policy.rules.sort_by_key(|bound| (bound.rule.list(), bound.source));
        Ok(policy)
    }

    /// A policy without rules.
    pub fn empty(roots: PatternRoots) -> Self {
        Self {
            rules: Vec::new(),
            mode: PermissionMode::Default,
            bypass_disabled: false,
            additional_directories: Vec::new(),
            warnings: Vec::new(),
            roots,
        }
    }

    /// The mode that a session begins in.
    pub fn default_mode(&self) -> PermissionMode {
        self.mode
    }

    /// Whether a session may be in `mode`.
    pub fn permits(&self, mode: PermissionMode) -> Result<(), PolicyError> {
        if mode == PermissionMode::BypassPermissions && self.bypass_disabled {
            return Err(PolicyError::BypassDisabled);
        }
        Ok(())
    }

    /// What the authors of rules should know: rules that can never match, settings that do not count.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The workspace at the working folder with all folders that rules add to it. Tools and gate must share it.
    pub fn workspace(&self) -> Result<Workspace, PolicyError> {
        let fault = |folder: &Path, error: std::io::Error| PolicyError::Folder {
            folder: folder.display().to_string(),
            problem: error.to_string(),
        };
        let root = &self.roots.working_folder;
        let mut workspace = Workspace::new(root).map_err(|error| fault(root, error))?;
        for directory in &self.additional_directories {
            let folder = self.below_home(directory).unwrap_or_else(|| root.join(directory));
            workspace = workspace.with_root(&folder).map_err(|error| fault(&folder, error))?;
        }
        Ok(workspace)
    }

    /// Whether a tool is forbidden altogether, so that the model need not hear of it.
    pub fn removes_tool(&self, tool_name: &str) -> bool {
        self.of(RuleKind::Deny).any(|bound| match bound.rule.pattern() {
            Pattern::Command(pattern) => {
                tool_name == "bash" && *pattern == crate::policy::wildcard::CommandPattern::Any
            }
            Pattern::Path { access, pattern: None } => covered_by(*access).contains(&tool_name),
            Pattern::Tool(_) | Pattern::Server(_) => {
                bound.matches(&Action::Tool { name: tool_name, arguments: &serde_json::Value::Null })
            }
            Pattern::Path { pattern: Some(_), .. }
            | Pattern::Domain(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. }
            | Pattern::Nothing => false,
        })
    }

    /// Whether nobody may look at `path`, so that tools that look at many files leave it out.
    pub fn hides(&self, path: &Path) -> bool {
        self.of(RuleKind::Deny).any(|bound| bound.hides(path))
    }

    /// What nobody may look at, or change, in `workspace` and in the home, so that a sandbox can see to it. Names without
    /// wildcards are among them whether or not there is such a file; of the others those in the workspace that a quick look
    /// finds now, so that a file that is made later and fits only a wildcard is not.
    pub fn denied_paths(&self, workspace: &Workspace, access: Access) -> Vec<PathBuf> {
        let rules: Vec<&BoundRule> = self.of(RuleKind::Deny).filter(|bound| bound.is_about(access)).collect();
        let at_home = |path: &Path| self.roots.home.as_ref().is_some_and(|home| path.starts_with(home));
        let mut found: Vec<PathBuf> = rules.iter().flat_map(|bound| bound.literal_paths()).collect();
        found.retain(|path| at_home(path) || workspace.root_of(path).is_some());
        let roots = workspace.roots().filter(|_| !rules.is_empty());
        for entry in roots.flat_map(quick_look) {
            let is_new = !found.iter().any(|known| entry.path().starts_with(known));
            if is_new && rules.iter().any(|bound| fits(&bound.paths, entry.path())) {
                found.push(entry.into_path());
            }
        }
        found.truncate(DENIED_MAX);
        found
    }

    /// The folders that patterns of paths count from.
    pub fn pattern_roots(&self) -> &PatternRoots {
        &self.roots
    }

    /// All rules, in the order of their sources.
    pub(crate) fn bound_rules(&self) -> &[BoundRule] {
        &self.rules
    }

    pub(crate) fn of(&self, list: RuleKind) -> impl Iterator<Item = &BoundRule> {
        self.rules.iter().filter(move |bound| bound.rule.list() == list)
    }

    /// `~/...` made absolute.
    pub(crate) fn below_home(&self, path: &str) -> Option<PathBuf> {
        let home = self.roots.home.as_ref()?;
        if path == "~" {
            return Some(home.clone());
        }
        path.strip_prefix("~/").map(|rest| home.join(rest))
    }

    /// What of a project's settings counts.
    fn only_tighter(&mut self, source: RuleSource, document: Document, trust: PolicyTrust) -> Document {
        let mut document = document;
        if !source.is_project() {
            return document;
        }
        if document.default_mode == Some(PermissionMode::BypassPermissions) {
            self.warnings
                .push(format!("{source}: a project cannot switch questions off; its mode is ignored"));
            document.default_mode = None;
        }
        let loosens = !document.allow.is_empty()
            || !document.additional_directories.is_empty()
            || document.default_mode.is_some();
        if trust == PolicyTrust::Untrusted && loosens {
            self.warnings.push(format!(
                "{source}: the project is not trusted; its mode and what it allows are ignored"
            ));
            document.allow.clear();
            document.additional_directories.clear();
            document.default_mode = None;
        }
        document
    }

    fn add(
        &mut self,
        entry: RuleEntry,
        source: RuleSource,
        folder: &Path,
        shell: ShellAnalyzer,
    ) -> Result<(), PolicyError> {
        if let Some(warning) = entry.rule.warning() {
            self.warnings.push(format!("{source}: {warning}"));
        }
        let bound = BoundRule::bind(entry.rule, source, &self.roots, folder)?;
        for (examples, wanted) in [(entry.matching, Wanted::Match), (entry.not_matching, Wanted::NoMatch)] {
            for example in examples {
                bound.check_example(&example, wanted, &self.roots, shell)?;
            }
        }
        self.rules.push(bound);
        Ok(())
    }
}

/// Folders that are not looked through: large, and made by programs.
const LARGE_FOLDERS: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// How many files of a folder of the workspace are looked at, and how many places a sandbox is told of.
const ENTRIES_MAX: usize = 20_000;
const DENIED_MAX: usize = 256;

/// What is below `root`, as far as a quick look goes.
fn quick_look(root: &Path) -> impl Iterator<Item = DirEntry> {
    let entries = WalkBuilder::new(root)
        .standard_filters(false)
        .follow_links(false)
        .filter_entry(|entry| !LARGE_FOLDERS.iter().any(|name| entry.file_name() == *name))
        .build();
    entries.flatten().filter(|entry| entry.depth() > 0).take(ENTRIES_MAX)
}

/// What a rule should do with an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Match,
    NoMatch,
}

impl BoundRule {
    pub(crate) fn bind(
        rule: Rule,
        source: RuleSource,
        roots: &PatternRoots,
        folder: &Path,
    ) -> Result<Self, PolicyError> {
        let paths = match rule.pattern() {
            Pattern::Path { pattern: Some(pattern), .. } => {
                let extent = match rule.list() {
                    RuleKind::Deny | RuleKind::Ask => Extent::FolderToo,
                    RuleKind::Allow => Extent::Contents,
                };
                pattern.bind(roots, folder, extent)
            }
            Pattern::Path { pattern: None, .. }
            | Pattern::Command(_)
            | Pattern::Tool(_)
            | Pattern::Server(_)
            | Pattern::Domain(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. }
            | Pattern::Nothing => Ok(Vec::new()),
        };
        match paths {
            Ok(paths) => Ok(Self { rule, source, paths }),
            Err(problem) => Err(PolicyError::Unusable {
                rule: rule.text().to_owned(),
                list: rule.list(),
                from: source,
                problem,
            }),
        }
    }

    /// How many matchers of paths have been made for it.
    #[cfg(test)]
    pub(crate) fn compiled(&self) -> usize {
        self.paths.iter().filter(|path| path.is_compiled()).count()
    }

    /// Whether it is about certain paths, and this use of them.
    fn is_about(&self, wanted: Access) -> bool {
        match self.rule.pattern() {
            Pattern::Path { access, pattern } => *access == wanted && pattern.is_some(),
            Pattern::Command(_)
            | Pattern::Tool(_)
            | Pattern::Server(_)
            | Pattern::Domain(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. }
            | Pattern::Nothing => false,
        }
    }

    /// The paths that it names without wildcards.
    fn literal_paths(&self) -> impl Iterator<Item = PathBuf> {
        let literal = match self.rule.pattern() {
            Pattern::Path { pattern: Some(pattern), .. } => pattern.literal(),
            Pattern::Path { pattern: None, .. }
            | Pattern::Command(_)
            | Pattern::Tool(_)
            | Pattern::Server(_)
            | Pattern::Domain(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. }
            | Pattern::Nothing => None,
        };
        self.paths.iter().filter_map(move |bound| Some(bound.folder().join(literal?)))
    }

    /// Whether it forbids to look at `path`.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        self.rule.list() == RuleKind::Deny && self.is_about(Access::Read) && fits(&self.paths, path)
    }

    /// Whether the rule names this. To forbid, one reading of it is enough; to allow, every reading has to fit.
    pub(crate) fn matches(&self, action: &Action<'_>) -> bool {
        match (self.rule.pattern(), action) {
            (Pattern::Command(pattern), Action::Command(words)) => match self.rule.list() {
                RuleKind::Deny | RuleKind::Ask => {
                    words.readings.iter().any(|reading| pattern.matches(reading))
                }
                RuleKind::Allow => words.plain.as_ref().is_some_and(|plain| {
                    pattern.matches(plain) || (pattern.is_exact() && pattern.matches(&words.text))
                }),
            },
            (Pattern::Path { access, pattern }, Action::Path(path)) => {
                *access == path.access && (pattern.is_none() || self.fits(path))
            }
            (Pattern::Tool(pattern), Action::Tool { name, .. }) => pattern.matches(name),
            (Pattern::Server(server), Action::Tool { name, .. }) => name
                .strip_prefix("mcp__")
                .and_then(|rest| rest.strip_prefix(server.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("__")),
            (Pattern::Domain(pattern), Action::Fetch { host }) => pattern.matches(host),
            (Pattern::Named { tool, name }, Action::Named { tool: called, name: wanted }) => {
                tool == called && name.matches(wanted)
            }
            (Pattern::Argument { tool, key, value }, Action::Tool { name, arguments }) => {
                tool == name
                    && arguments.get(key).is_some_and(|found| match found.as_str() {
                        Some(text) => value.matches(text),
                        None => value.matches(&found.to_string()),
                    })
            }
            (
                Pattern::Command(_)
                | Pattern::Path { .. }
                | Pattern::Tool(_)
                | Pattern::Server(_)
                | Pattern::Domain(_)
                | Pattern::Named { .. }
                | Pattern::Argument { .. }
                | Pattern::Nothing,
                Action::Command(_)
                | Action::Path(_)
                | Action::Fetch { .. }
                | Action::Named { .. }
                | Action::Tool { .. },
            ) => false,
        }
    }

    fn fits(&self, path: &NamedPath) -> bool {
        let (written, real) = (fits(&self.paths, &path.written), fits(&self.paths, &path.real));
        match self.rule.list() {
            RuleKind::Deny | RuleKind::Ask => written || real,
            RuleKind::Allow => written && real,
        }
    }

    fn check_example(
        &self,
        example: &str,
        wanted: Wanted,
        roots: &PatternRoots,
        shell: ShellAnalyzer,
    ) -> Result<(), PolicyError> {
        let (rule, list, from) = (self.rule.text().to_owned(), self.rule.list(), self.source);
        let found = self.example_matches(example, roots, shell).map_err(|problem| PolicyError::Unusable {
            rule: rule.clone(),
            list,
            from,
            problem,
        })?;
        let verb = match (wanted, found) {
            (Wanted::Match, true) | (Wanted::NoMatch, false) => return Ok(()),
            (Wanted::Match, false) => "does not match",
            (Wanted::NoMatch, true) => "matches",
        };
        Err(PolicyError::Example { rule, list, from, verb, example: example.to_owned() })
    }

    fn example_matches(
        &self,
        example: &str,
        roots: &PatternRoots,
        shell: ShellAnalyzer,
    ) -> Result<bool, String> {
        match self.rule.pattern() {
            Pattern::Command(_) => {
                let analysis = (shell.analyze)(example);
                let mut commands = analysis
                    .commands
                    .iter()
                    .map(|command| self.matches(&Action::Command(&Words::of(command))));
                Ok(match self.rule.list() {
                    RuleKind::Deny | RuleKind::Ask => commands.any(|found| found),
                    RuleKind::Allow => {
                        analysis.unknown.is_empty()
                            && !analysis.commands.is_empty()
                            && commands.all(|found| found)
                    }
                })
            }
            Pattern::Path { access, .. } => {
                let fault = |error: std::io::Error| error.to_string();
                let workspace = Workspace::new(&roots.working_folder).map_err(fault)?;
                let path = NamedPath::new(&workspace, workspace.root(), example, *access)
                    .map_err(|error| error.to_string())?;
                Ok(self.matches(&Action::Path(&path)))
            }
            Pattern::Tool(_) | Pattern::Server(_) => {
                Ok(self.matches(&Action::Tool { name: example, arguments: &serde_json::Value::Null }))
            }
            Pattern::Domain(_) => {
                let host = Url::parse(example).ok().as_ref().and_then(host_of);
                Ok(self.matches(&Action::Fetch { host: host.as_deref().unwrap_or(example) }))
            }
            Pattern::Named { tool, .. } => Ok(self.matches(&Action::Named { tool, name: example })),
            Pattern::Argument { .. } | Pattern::Nothing => {
                Err("such a rule cannot have examples; leave them out".into())
            }
        }
    }
}

/// The tools that a rule of paths covers.
fn covered_by(access: Access) -> &'static [&'static str] {
    match access {
        Access::Read => &["read", "list", "glob", "search"],
        Access::Write => &["write", "edit", "notebook_edit"],
    }
}
