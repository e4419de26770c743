//! `Policy`: the rules of all sources. Deny rules come first, then ask, then allow; how specific a rule is does not
//! matter.

use std::fmt;
use std::path::{Path, PathBuf};

use rheon_types::event::PermissionMode;
use url::Url;

use crate::policy::call::{Action, host_of};
use crate::policy::document::{Document, RuleEntry};
use crate::policy::names::UNSANDBOXED_RULE;
use crate::policy::paths::{BoundPath, Extent, NamedPath, PatternRoots, fits};
use crate::policy::rule::{Pattern, Rule, RuleError, RuleKind};
use crate::policy::shell_analyzer::ShellAnalyzer;
use crate::policy::words::Words;
use crate::workspace::{Access, Workspace};

/// Where a rule comes from, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSource {
    /// Set by the machine's administrator.
    Managed,
    /// From the command line or the embedding program.
    CommandLine,
    /// Project settings that are not checked in.
    ProjectLocal,
    /// Project settings that are not checked in and hold what the user answered.
    ProjectAnswers,
    Project,
    User,
    Session,
}

impl RuleSource {
    /// Whether the rule is stored in the repository, where others may have written it.
    fn is_project(self) -> bool {
        match self {
            Self::ProjectLocal | Self::Project => true,
            Self::Managed | Self::CommandLine | Self::ProjectAnswers | Self::Session | Self::User => false,
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
            Self::ProjectAnswers => "your answers in this project",
            Self::Project => "project settings",
            Self::User => "user settings",
        })
    }
}

/// Whether the user trusts the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyTrust {
    Trusted,
    /// Project settings can only make the policy stricter.
    Untrusted,
}

/// One file of rules and its source.
#[derive(Debug, Clone)]
pub struct PolicySource {
    pub source: RuleSource,
    /// The directory that `/` means in its patterns: the project root, or the directory of the user's settings.
    pub dir: PathBuf,
    pub document: Document,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("cannot use the {list} rule {rule} from {from}: {problem}")]
    Unusable {
        rule: String,
        list: RuleKind,
        from: RuleSource,
        /// The problem and how to fix it.
        problem: String,
    },
    /// A rule contradicts one of its own examples.
    #[error("the {list} rule {rule} from {from} {verb} its example {example:?}; fix the rule or the example")]
    Example { rule: String, list: RuleKind, from: RuleSource, verb: &'static str, example: String },
    /// An additional directory cannot be opened.
    #[error("cannot add the directory {dir} to the workspace: {problem}; fix additionalDirectories")]
    Directory { dir: String, problem: String },
    #[error(transparent)]
    Rule(#[from] RuleError),
    #[error("a session can add at most {max} rules; put them in a settings file")]
    TooManyRules { max: usize },
    #[error("the mode bypassPermissions is disabled by settings; choose another mode")]
    BypassDisabled,
}

/// The rules of all sources. Without any rules it allows only reading in the workspace.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: Vec<BoundRule>,
    mode: PermissionMode,
    bypass_disabled: bool,
    additional_directories: Vec<String>,
    warnings: Vec<String>,
    dead_rules: Vec<String>,
    roots: PatternRoots,
}

/// A rule with its source, its path patterns bound to directories.
#[derive(Debug, Clone)]
pub(crate) struct BoundRule {
    pub(crate) rule: Rule,
    pub(crate) source: RuleSource,
    pub(crate) paths: Vec<BoundPath>,
}

impl Policy {
    /// Combines `sources`. Untrusted projects can only make the policy stricter.
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
            dead_rules: Vec::new(),
            roots,
        };
        let mut sources = sources;
        sources.sort_by_key(|source| source.source);
        let mut mode = None;
        for PolicySource { source, dir, document } in sources {
            policy.warnings.extend(document.warnings.iter().map(|warning| format!("{source}: {warning}")));
            policy.bypass_disabled |= document.bypass_disabled;
            let document = policy.only_tighter(source, document, trust);
            mode = mode.or(document.default_mode);
            policy.additional_directories.extend(document.additional_directories.iter().cloned());
            for entry in document.into_entries() {
                policy.add(entry, source, &dir, shell)?;
            }
        }
        policy.mode = mode.unwrap_or_default();
        if policy.mode == PermissionMode::BypassPermissions && policy.bypass_disabled {
            policy.warnings.push(format!("{}; using \"default\"", PolicyError::BypassDisabled));
            policy.mode = PermissionMode::Default;
        }
        let dirs = policy.additional_dirs();
        for bound in &mut policy.rules {
            dirs.iter().for_each(|dir| bound.bind_in(dir));
        }
        // Ordered by list, then by source. The sort is stable, so file order is kept within both.
        policy.rules.sort_by_key(|bound| (bound.rule.list(), bound.source));
        Ok(policy)
    }

    pub fn empty(roots: PatternRoots) -> Self {
        Self {
            rules: Vec::new(),
            mode: PermissionMode::Default,
            bypass_disabled: false,
            additional_directories: Vec::new(),
            warnings: Vec::new(),
            dead_rules: Vec::new(),
            roots,
        }
    }

    /// Commands that always run outside the sandbox, as `Unsandboxed(...)` rules of the user.
    pub fn with_outside(mut self, commands: &[String]) -> Result<Self, PolicyError> {
        let dir = self.roots.working_dir.clone();
        for command in commands {
            let rule = Rule::parse(&format!("{UNSANDBOXED_RULE}({command})"), RuleKind::Allow)?;
            self.rules.push(BoundRule::bind(rule, RuleSource::User, &self.roots, &dir)?);
        }
        self.rules.sort_by_key(|bound| (bound.rule.list(), bound.source));
        Ok(self)
    }

    pub fn default_mode(&self) -> PermissionMode {
        self.mode
    }

    /// Whether a session may use `mode`.
    pub fn permits(&self, mode: PermissionMode) -> Result<(), PolicyError> {
        if mode == PermissionMode::BypassPermissions && self.bypass_disabled {
            return Err(PolicyError::BypassDisabled);
        }
        Ok(())
    }

    /// Problems for the authors of rules: rules that can never match, settings that are ignored.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The rules that can never match, and why. They are among the warnings too.
    pub fn dead_rules(&self) -> &[String] {
        &self.dead_rules
    }

    /// The workspace at the working directory, with all additional directories. The tools and the gate must share it.
    pub fn workspace(&self) -> Result<Workspace, PolicyError> {
        let fault = |dir: &Path, error: std::io::Error| PolicyError::Directory {
            dir: dir.display().to_string(),
            problem: error.to_string(),
        };
        let root = &self.roots.working_dir;
        let workspace = Workspace::new(root).map_err(|error| fault(root, error))?;
        let mut workspace = workspace.with_home(self.roots.home.clone());
        for dir in self.additional_dirs() {
            workspace = workspace.with_root(&dir).map_err(|error| fault(&dir, error))?;
        }
        Ok(workspace)
    }

    fn additional_dirs(&self) -> Vec<PathBuf> {
        let root = &self.roots.working_dir;
        let dir = |directory: &String| self.below_home(directory).unwrap_or_else(|| root.join(directory));
        self.additional_directories.iter().map(dir).collect()
    }

    /// Whether a tool is denied entirely, so that the model should not see it.
    pub fn removes_tool(&self, tool_name: &str) -> bool {
        self.of(RuleKind::Deny).any(|bound| match bound.rule.pattern() {
            Pattern::Command(pattern) => {
                tool_name == "bash" && *pattern == crate::policy::wildcard::CommandPattern::Any
            }
            Pattern::Path { access, pattern: None } => {
                let also = bound.also_denies(Access::Write) && covered_by(Access::Write).contains(&tool_name);
                also || covered_by(*access).contains(&tool_name)
            }
            Pattern::Tool(_) | Pattern::Server(_) => {
                bound.matches(&Action::Tool { name: tool_name, arguments: &serde_json::Value::Null })
            }
            Pattern::Path { pattern: Some(_), .. }
            | Pattern::Domain(_)
            | Pattern::Network(_)
            | Pattern::Unsandboxed(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. } => false,
        })
    }

    /// Whether reading `path` is denied, so that tools that scan many files skip it.
    pub fn hides(&self, path: &Path) -> bool {
        self.of(RuleKind::Deny).any(|bound| bound.hides(path))
    }

    pub fn pattern_roots(&self) -> &PatternRoots {
        &self.roots
    }

    /// All rules in order of precedence.
    pub(crate) fn bound_rules(&self) -> &[BoundRule] {
        &self.rules
    }

    pub(crate) fn of(&self, list: RuleKind) -> impl Iterator<Item = &BoundRule> {
        self.rules.iter().filter(move |bound| bound.rule.list() == list)
    }

    /// Expands `~/`.
    pub(crate) fn below_home(&self, path: &str) -> Option<PathBuf> {
        let home = self.roots.home.as_ref()?;
        if path == "~" {
            return Some(home.clone());
        }
        path.strip_prefix("~/").map(|rest| home.join(rest))
    }

    /// Removes what an untrusted project may not set.
    fn only_tighter(&mut self, source: RuleSource, document: Document, trust: PolicyTrust) -> Document {
        let mut document = document;
        if !source.is_project() {
            return document;
        }
        if document.default_mode == Some(PermissionMode::BypassPermissions) {
            self.warnings.push(format!("{source}: a project cannot turn off approvals; ignoring its mode"));
            document.default_mode = None;
        }
        let loosens = !document.allow.is_empty()
            || !document.additional_directories.is_empty()
            || document.default_mode.is_some();
        if trust == PolicyTrust::Untrusted && loosens {
            self.warnings
                .push(format!("{source}: the project is not trusted; ignoring its mode and allow rules"));
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
        dir: &Path,
        shell: ShellAnalyzer,
    ) -> Result<(), PolicyError> {
        if let Some(warning) = entry.rule.warning() {
            self.warnings.push(format!("{source}: {warning}"));
        }
        let bound = BoundRule::bind(entry.rule, source, &self.roots, dir)?;
        if let Some(why) = bound.never_matches(dir) {
            let (rule, list) = (bound.rule.text().to_owned(), bound.rule.list());
            let problem = format!("the {list} rule {rule} never matches: {why}");
            self.warnings.push(format!("{source}: {problem}"));
            self.dead_rules.push(problem);
        }
        for (examples, wanted) in
            [(entry.matching, ExampleKind::Match), (entry.not_matching, ExampleKind::NoMatch)]
        {
            for example in examples {
                bound.check_example(&example, wanted, &self.roots, shell)?;
            }
        }
        self.rules.push(bound);
        Ok(())
    }
}

/// Directories of a file system root: a rule that starts with one most likely means that.
const SYSTEM_DIRS: [&str; 12] =
    ["etc", "usr", "var", "home", "root", "tmp", "opt", "proc", "sys", "dev", "Users", "private"];

/// What a rule must do with an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExampleKind {
    Match,
    NoMatch,
}

impl BoundRule {
    pub(crate) fn bind(
        rule: Rule,
        source: RuleSource,
        roots: &PatternRoots,
        dir: &Path,
    ) -> Result<Self, PolicyError> {
        let paths = match rule.pattern() {
            Pattern::Path { pattern: Some(pattern), .. } => {
                let extent = match rule.list() {
                    RuleKind::Deny | RuleKind::Ask => Extent::IncludingDirectory,
                    RuleKind::Allow => Extent::Contents,
                };
                pattern.bind(roots, dir, extent)
            }
            Pattern::Path { pattern: None, .. }
            | Pattern::Command(_)
            | Pattern::Tool(_)
            | Pattern::Server(_)
            | Pattern::Domain(_)
            | Pattern::Network(_)
            | Pattern::Unsandboxed(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. } => Ok(Vec::new()),
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

    /// Applies a deny or ask rule that matches at any depth to a further directory of the workspace as well.
    fn bind_in(&mut self, dir: &Path) {
        let Pattern::Path { pattern: Some(pattern), .. } = self.rule.pattern() else { return };
        if self.rule.list() == RuleKind::Allow || !pattern.is_at_any_depth() {
            return;
        }
        let mut bound = vec![pattern.bind_in(dir, Extent::IncludingDirectory)];
        let real = dir.canonicalize().ok().filter(|real| real != dir);
        bound.extend(real.map(|real| pattern.bind_in(&real, Extent::IncludingDirectory)));
        self.paths.extend(bound);
    }

    /// Why the rule, from settings in `dir`, can never match.
    fn never_matches(&self, dir: &Path) -> Option<String> {
        if let Some(why) = self.rule.never_matches() {
            return Some(why.to_owned());
        }
        let Pattern::Path { pattern: Some(pattern), .. } = self.rule.pattern() else { return None };
        let first = pattern.first_below_settings()?;
        let is_system = SYSTEM_DIRS.contains(&first) && !dir.join(first).exists();
        is_system.then(|| {
            let dir = dir.display();
            format!("/{first} means {dir}/{first}; write //{first}/... for the file system root")
        })
    }

    /// How many path matchers have been built.
    #[cfg(test)]
    pub(crate) fn compiled(&self) -> usize {
        self.paths.iter().filter(|path| path.is_compiled()).count()
    }

    /// Whether it denies or asks about files.
    pub(crate) fn restricts_paths(&self) -> bool {
        self.rule.list() != RuleKind::Allow && matches!(self.rule.pattern(), Pattern::Path { .. })
    }

    /// Whether the rule has path patterns for this access.
    pub(crate) fn is_about(&self, wanted: Access) -> bool {
        match self.rule.pattern() {
            Pattern::Path { access, pattern } => *access == wanted && pattern.is_some(),
            Pattern::Command(_)
            | Pattern::Tool(_)
            | Pattern::Server(_)
            | Pattern::Domain(_)
            | Pattern::Network(_)
            | Pattern::Unsandboxed(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. } => false,
        }
    }

    /// The paths that it names without wildcards.
    pub(crate) fn literal_paths(&self) -> impl Iterator<Item = PathBuf> {
        let literal = match self.rule.pattern() {
            Pattern::Path { pattern: Some(pattern), .. } => pattern.literal(),
            Pattern::Path { pattern: None, .. }
            | Pattern::Command(_)
            | Pattern::Tool(_)
            | Pattern::Server(_)
            | Pattern::Domain(_)
            | Pattern::Network(_)
            | Pattern::Unsandboxed(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. } => None,
        };
        self.paths.iter().filter_map(move |bound| Some(bound.dir().join(literal?)))
    }

    /// Whether it denies reading `path`.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        self.rule.list() == RuleKind::Deny && self.is_about(Access::Read) && fits(&self.paths, path)
    }

    /// Whether the rule matches. A deny or ask rule needs one matching form of the action; an allow rule needs all of
    /// them to match.
    pub(crate) fn matches(&self, action: &Action<'_>) -> bool {
        match (self.rule.pattern(), action) {
            (Pattern::Command(pattern), Action::Command(words)) => match self.rule.list() {
                RuleKind::Deny | RuleKind::Ask => {
                    words.readings.iter().any(|reading| pattern.matches(reading))
                }
                RuleKind::Allow => match (&words.plain, &words.beginning) {
                    (Some(plain), _) => {
                        pattern.matches(plain) || (pattern.is_exact() && pattern.matches(&words.text))
                    }
                    (None, Some(beginning)) => pattern.matches_any_end(beginning),
                    (None, None) => false,
                },
            },
            (Pattern::Path { access, pattern }, Action::Path(path)) => {
                let is_covered = *access == path.access || self.also_denies(path.access);
                is_covered && (pattern.is_none() || self.fits(path))
            }
            (Pattern::Tool(pattern), Action::Tool { name, .. }) => pattern.matches(name),
            (Pattern::Server(server), Action::Tool { name, .. }) => name
                .strip_prefix("mcp__")
                .and_then(|rest| rest.strip_prefix(server.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("__")),
            (Pattern::Domain(pattern), Action::Fetch { host }) => pattern.matches(host),
            (Pattern::Network(pattern), Action::Reach { host }) => pattern.matches(host),
            // What is never to run outside may still run inside.
            (Pattern::Unsandboxed(pattern), Action::Command(words)) => {
                self.rule.list() == RuleKind::Allow
                    && words.plain.as_ref().is_some_and(|plain| pattern.matches(plain))
            }
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
                | Pattern::Network(_)
                | Pattern::Unsandboxed(_)
                | Pattern::Named { .. }
                | Pattern::Argument { .. },
                Action::Command(_)
                | Action::Path(_)
                | Action::Fetch { .. }
                | Action::Reach { .. }
                | Action::Named { .. }
                | Action::Tool { .. },
            ) => false,
        }
    }

    /// What may not be read may not be changed either: an edit shows what was there.
    fn also_denies(&self, access: Access) -> bool {
        let denies_reading = matches!(self.rule.pattern(), Pattern::Path { access: Access::Read, .. });
        access == Access::Write && self.rule.list() == RuleKind::Deny && denies_reading
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
        kind: ExampleKind,
        roots: &PatternRoots,
        shell: ShellAnalyzer,
    ) -> Result<(), PolicyError> {
        let (rule, list, from) = (self.rule.text().to_owned(), self.rule.list(), self.source);
        let is_match = self
            .example_matches(example, roots, shell)
            .map_err(|problem| PolicyError::Unusable { rule: rule.clone(), list, from, problem })?;
        let verb = match (kind, is_match) {
            (ExampleKind::Match, true) | (ExampleKind::NoMatch, false) => return Ok(()),
            (ExampleKind::Match, false) => "does not match",
            (ExampleKind::NoMatch, true) => "matches",
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
                let workspace = Workspace::new(&roots.working_dir).map_err(fault)?;
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
            Pattern::Network(_) => Ok(self.matches(&Action::Reach { host: example })),
            Pattern::Unsandboxed(pattern) => Ok(pattern.matches(example)),
            Pattern::Named { tool, .. } => Ok(self.matches(&Action::Named { tool, name: example })),
            Pattern::Argument { .. } => Err("this kind of rule cannot have examples; remove them".into()),
        }
    }
}

/// The tools that a path rule covers.
fn covered_by(access: Access) -> &'static [&'static str] {
    match access {
        Access::Read => &["read", "list", "glob", "search"],
        Access::Write => &["write", "edit", "notebook_edit"],
    }
}
