//! `LayerText`: the texts of all layers, in their order, before anything in them is understood.

use std::path::{Path, PathBuf};

use super::inputs::ConfigInputs;
use super::origin::{Layer, SettingOrigin, SourceName};
use super::problem::ConfigProblem;
use super::read_file::{FILE_BYTES_MAX, Reach, read};
use crate::sessions::UserDirsError;

/// One source of settings.
#[derive(Debug, Clone)]
pub(super) struct LayerText {
    pub(super) origin: SettingOrigin,
    /// The directory that `/` means in its rules.
    pub(super) directory: PathBuf,
    pub(super) form: Form,
    pub(super) text: String,
    /// Where it is in the project, if it is there.
    pub(super) in_project: Option<ProjectFile>,
}

/// A file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProjectFile {
    /// Relative to the project.
    pub(super) name: &'static str,
    /// The repository, for an uncommitted file that a worktree of it uses.
    pub(super) repository: Option<PathBuf>,
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Toml,
    /// JSON from the user, with Rheon's or Claude Code's keys.
    Json,
    /// The file of another program: what we understand of it counts, the rest is none of our business.
    ClaudeSettings,
    /// `.mcp.json` and similar files. Invalid servers are ignored.
    McpServers,
    /// The value of `permissions`, as JSON.
    Permissions,
}

/// A file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigPath {
    pub path: PathBuf,
    pub layer: Layer,
    pub exists: bool,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(super) struct LayerTexts {
    pub(super) texts: Vec<LayerText>,
    pub(super) paths: Vec<ConfigPath>,
    pub(super) problems: Vec<ConfigProblem>,
}

/// What a missing file means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfMissing {
    Nothing,
    Problem,
}

/// The project's own files: the layer, where, and how written. Weakest first within each layer.
const PROJECT_FILES: [(Layer, &str, Form); 7] = [
    (Layer::Project, ".mcp.json", Form::McpServers),
    (Layer::Project, ".claude/settings.json", Form::ClaudeSettings),
    (Layer::Project, ".rheon/settings.json", Form::ClaudeSettings),
    (Layer::Project, ".rheon/config.toml", Form::Toml),
    (Layer::ProjectLocal, ".claude/settings.local.json", Form::ClaudeSettings),
    (Layer::ProjectLocal, PROJECT_RULES, Form::ClaudeSettings),
    (Layer::ProjectLocal, ".rheon/config.local.toml", Form::Toml),
];

/// The file of the user's rules for one project, in the project.
pub(crate) const PROJECT_RULES: &str = ".rheon/settings.local.json";

/// The file of the user's rules, to which answers of "always" are added.
pub(super) const USER_RULES: &str = "settings.json";

impl LayerTexts {
    /// Reads every source except flags, weakest first.
    pub(super) fn read(inputs: &ConfigInputs, project: Option<&Path>) -> Self {
        let mut found = Self::default();
        if !inputs.left_out.contains(&Layer::User) {
            found.user(inputs);
        }
        found.variable(inputs, "RHEON_CONFIG_CONTENT", Form::Toml);
        found.variable(inputs, "RHEON_PERMISSION", Form::Permissions);
        if let Some(root) = project {
            found.project(root, inputs);
        }
        if let Some(argument) = &inputs.settings {
            found.argument(argument, &inputs.working_dir);
        }
        for argument in &inputs.mcp_configs {
            found.servers(argument, &inputs.working_dir);
        }
        let (managed, of_machine) = (&inputs.managed, Layer::Managed);
        found.file(of_machine, managed, Form::Toml, Reach::Anywhere, IfMissing::Nothing);
        found
    }

    fn user(&mut self, inputs: &ConfigInputs) {
        let missing = IfMissing::Nothing;
        if let Ok(projects) = inputs.dirs.claude_projects()
            && let Some(directory) = projects.parent()
        {
            let file = directory.join("settings.json");
            self.file(Layer::User, &file, Form::ClaudeSettings, Reach::Anywhere, missing);
        }
        let directory = match inputs.dirs.config() {
            Ok(directory) => Some(directory),
            // Without a home directory there are no user settings; a session works without them.
            Err(UserDirsError::NoHome { .. }) => None,
            Err(error @ UserDirsError::Relative { .. }) => {
                let source = SourceName::Variable("RHEON_CONFIG_DIR".to_owned());
                let origin = SettingOrigin { layer: Layer::User, source, line: None };
                self.problems.push(ConfigProblem::new(&origin, error.to_string()));
                None
            }
        };
        if let Some(directory) = &directory {
            let file = directory.join(USER_RULES);
            self.file(Layer::User, &file, Form::ClaudeSettings, Reach::Anywhere, missing);
        }
        match (inputs.environment.get("RHEON_CONFIG"), directory) {
            (Some(name), _) => {
                let file = inputs.working_dir.join(name);
                self.file(Layer::User, &file, Form::Toml, Reach::Anywhere, IfMissing::Problem);
            }
            (None, Some(directory)) => {
                self.file(Layer::User, &directory.join("config.toml"), Form::Toml, Reach::Anywhere, missing);
            }
            (None, None) => {}
        }
    }

    fn variable(&mut self, inputs: &ConfigInputs, name: &str, form: Form) {
        let Some(value) = inputs.environment.get(name) else { return };
        let source = SourceName::Variable(name.to_owned());
        let origin = SettingOrigin { layer: Layer::User, source, line: None };
        match value.to_str() {
            Some(text) => self.text(origin, &inputs.working_dir, form, text),
            None => self.problems.push(ConfigProblem::new(&origin, "not UTF-8; correct or unset it")),
        }
    }

    fn project(&mut self, root: &Path, inputs: &ConfigInputs) {
        let is_read = |(layer, ..): &(Layer, &str, Form)| !inputs.left_out.contains(layer);
        for (layer, name, form) in PROJECT_FILES.into_iter().filter(is_read) {
            let directory = match (layer, &inputs.worktree_of) {
                // Uncommitted settings are not in a worktree, but they apply there.
                (Layer::ProjectLocal, Some(repository)) if !root.join(name).exists() => repository.as_path(),
                (_, _) => root,
            };
            self.file(layer, &directory.join(name), form, Reach::Within(directory), IfMissing::Nothing);
            if let Some(last) = self.texts.last_mut()
                && last.origin.source == SourceName::File(directory.join(name))
            {
                let repository = (directory != root).then(|| directory.to_owned());
                last.in_project = Some(ProjectFile { name, repository });
                // Rules of a project are relative to its root, wherever the file is.
                root.clone_into(&mut last.directory);
            }
        }
    }

    /// The value of `--settings`: JSON, TOML or a path.
    fn argument(&mut self, argument: &str, working_dir: &Path) {
        let origin = SettingOrigin {
            layer: Layer::CommandLine,
            source: SourceName::Flag("--settings".to_owned()),
            line: None,
        };
        let file = working_dir.join(argument);
        if argument.trim_start().starts_with('{') {
            self.text(origin, working_dir, Form::Json, argument);
        } else if argument.contains(['=', '\n']) && !file.exists() {
            self.text(origin, working_dir, Form::Toml, argument);
        } else {
            let is_json = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
            let form = if is_json { Form::Json } else { Form::Toml };
            self.file(Layer::CommandLine, &file, form, Reach::Anywhere, IfMissing::Problem);
        }
    }

    /// A value of `--mcp-config`: JSON or a path.
    fn servers(&mut self, argument: &str, working_dir: &Path) {
        if argument.trim_start().starts_with('{') {
            let source = SourceName::Flag("--mcp-config".to_owned());
            let origin = SettingOrigin { layer: Layer::CommandLine, source, line: None };
            self.text(origin, working_dir, Form::McpServers, argument);
        } else {
            let file = working_dir.join(argument);
            self.file(Layer::CommandLine, &file, Form::McpServers, Reach::Anywhere, IfMissing::Problem);
        }
    }

    fn text(&mut self, origin: SettingOrigin, directory: &Path, form: Form, text: &str) {
        if text.len() as u64 > FILE_BYTES_MAX {
            let what = format!("it is larger than {FILE_BYTES_MAX} bytes; make it smaller");
            return self.problems.push(ConfigProblem::new(&origin, what));
        }
        let (directory, text) = (directory.to_owned(), text.to_owned());
        self.texts.push(LayerText { origin, directory, form, text, in_project: None });
    }

    fn file(&mut self, layer: Layer, path: &Path, form: Form, reach: Reach<'_>, missing: IfMissing) {
        let origin = SettingOrigin { layer, source: SourceName::File(path.to_owned()), line: None };
        let directory = path.parent().unwrap_or(path).to_owned();
        let found = read(path, reach);
        let exists = !matches!(found, Ok(None));
        self.paths.push(ConfigPath { path: path.to_owned(), layer, exists });
        match (found, missing) {
            (Ok(Some(text)), _) => {
                self.texts.push(LayerText { origin, directory, form, text, in_project: None });
            }
            (Ok(None), IfMissing::Nothing) => {}
            (Ok(None), IfMissing::Problem) => {
                self.problems.push(ConfigProblem::new(&origin, "no such file; check the path"));
            }
            (Err(what), _) => self.problems.push(ConfigProblem::new(&origin, what)),
        }
    }
}

/// The directory of the project: the nearest one from `working_directory` up with `.git` or `.rheon`, or else the working directory.
/// The home directory is never a project, even with a `.rheon` in it.
pub(super) fn project_root(working_directory: &Path, home: Option<&Path>) -> PathBuf {
    let is_root = |directory: &&Path| {
        !is_home(directory, home) && (directory.join(".git").exists() || directory.join(".rheon").is_dir())
    };
    working_directory.ancestors().find(is_root).unwrap_or(working_directory).to_owned()
}

/// Whether `directory` is the home, which may be known by a link to it.
pub(super) fn is_home(directory: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| directory == home || home.canonicalize().is_ok_and(|home| directory == home))
}
