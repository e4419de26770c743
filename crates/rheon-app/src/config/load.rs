//! `Config`: the loaded configuration of one session, and a view of every layer's value of every key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rheon_tools::hooks::HookSettings;

use super::build::Values;
use super::entry::{Entry, EntryStatus, Value};
use super::hooks::hooks;
use super::inputs::{ConfigInputs, ConfigScope, TrustChoice};
use super::keys::KEYS;
use super::layer::{ClaudeModel, ReadLayer};
use super::layer_text::{ConfigPath, LayerTexts, USER_RULES, is_home, project_root};
use super::mcp::{ServerProblem, UnknownKeys, server};
use super::mcp_server::McpServer;
use super::merge::Merged;
use super::origin::{Layer, SettingOrigin, SourceName};
use super::permissions::permissions;
use super::problem::{ConfigError, ConfigProblem};
use super::services::Services;
use super::settings::Settings;
use super::trust::{ProjectAnswers, ProjectReview, Reviewed, project_trust, review};
use super::variables::variable_warnings;
use crate::context::ProjectTrust;

/// The configuration of one session.
#[derive(Debug, Clone)]
pub struct Config {
    pub settings: Settings,
    /// The directory of the project: the nearest one from the working directory upwards with `.git` or `.rheon`.
    pub project_root: PathBuf,
    /// Whether the project's own content counts.
    pub trust: ProjectTrust,
    /// The project's own content, if it was reviewed.
    pub review: Option<ProjectReview>,
    /// The user's file to which rules are added that are always to hold.
    pub user_rules: Option<PathBuf>,
    /// Where rules are added that are always to hold in this project. `None` if there is no project.
    pub project_answers: Option<ProjectAnswers>,
    /// What its authors should know; nothing of it keeps a session from running.
    pub warnings: Vec<ConfigProblem>,
    entries: Vec<Entry>,
    paths: Vec<ConfigPath>,
}

impl Config {
    /// Reads and merges all layers. Reports all problems at once. Blocks: it reads files.
    pub fn load(inputs: ConfigInputs) -> Result<Self, ConfigError> {
        let home = inputs.environment.get("HOME").map(PathBuf::from);
        let root = project_root(&inputs.working_dir, home.as_deref());
        let project = project(&root, &inputs);
        let texts = LayerTexts::read(&inputs, project);
        let mut loading = Loading { problems: texts.problems, warnings: Vec::new() };
        let claude_model = claude_model(&inputs);
        let mut layers = vec![ReadLayer::built_in()];
        layers.extend(texts.texts.into_iter().map(|text| ReadLayer::read(text, claude_model)));
        let flags = ReadLayer::of_flags(&inputs.flags, inputs.working_dir.clone());
        let place = layers.partition_point(|layer| layer.source.origin.layer < Layer::Managed);
        layers.insert(place, flags);

        let reviewed = project.and_then(|root| loading.review(root, &layers, &inputs));
        let trust = reviewed
            .as_ref()
            .map_or(ProjectTrust::Untrusted, |reviewed| project_trust(reviewed.review.trust(), inputs.trust));
        let (review, of_project) = match reviewed {
            Some(Reviewed { review, hooks, answer_files }) => {
                layers.iter_mut().for_each(|layer| layer.mark_answers(&answer_files));
                (Some(review), hooks)
            }
            None => (None, HookSettings::default()),
        };
        let merged = Merged::of(&layers, trust);
        for layer in &mut layers {
            loading.problems.append(&mut layer.problems);
            loading.warnings.append(&mut layer.warnings);
        }
        let values = Values {
            merged: &merged,
            home: home.as_deref(),
            working_dir: &inputs.working_dir,
            is_driven_as_claude: inputs.is_driven_as_claude,
        };
        let services = Services::of(&layers, &merged);
        loading.warnings.extend(variable_warnings(&inputs.environment, &services.settings.vendors));
        let settings = Settings {
            model: values.model(),
            limits: values.limits(),
            permissions: permissions(&layers, &merged, trust),
            sandbox: values.sandbox(),
            sessions: values.sessions(),
            context: values.context(),
            services: services.settings,
            hooks: loading.hooks(&layers, of_project, inputs.extent),
            mcp_servers: loading.servers(&layers, &merged, &inputs),
            interface: values.interface(),
            log: values.log(),
            web: values.web(),
        };
        loading.problems.extend(merged.problems.into_iter().chain(services.problems));
        loading.warnings.extend(merged.warnings.into_iter().chain(services.warnings));
        if !loading.problems.is_empty() {
            return Err(ConfigError::of(loading.problems));
        }
        let project_answers = project.and_then(|root| ProjectAnswers::of(root, &inputs));
        Ok(Self {
            settings,
            project_answers,
            project_root: root,
            trust,
            review,
            user_rules: inputs.dirs.config().ok().map(|directory| directory.join(USER_RULES)),
            warnings: loading.warnings,
            entries: merged.entries,
            paths: texts.paths,
        })
    }

    /// Every layer's value of every key, in the order of the reference; secrets are masked.
    pub fn show(&self) -> Vec<SettingView> {
        show(&self.entries)
    }

    /// Every file that was looked for, weakest first.
    pub fn paths(&self) -> &[ConfigPath] {
        &self.paths
    }
}

/// All possible configuration files, weakest first. Blocks: it reads files.
pub fn config_paths(inputs: &ConfigInputs) -> Vec<ConfigPath> {
    let home = inputs.environment.get("HOME").map(PathBuf::from);
    let root = project_root(&inputs.working_dir, home.as_deref());
    LayerTexts::read(inputs, project(&root, inputs)).paths
}

/// The directory of the project, if its files count. The home's own settings are the user's.
fn project<'a>(root: &'a Path, inputs: &ConfigInputs) -> Option<&'a Path> {
    let home = inputs.environment.get("HOME").map(Path::new);
    match inputs.extent {
        ConfigScope::Whole => Some(root).filter(|root| !is_home(root, home)),
        ConfigScope::Bare => None,
    }
}

/// The model in Claude Code's settings counts only with a key for Anthropic.
fn claude_model(inputs: &ConfigInputs) -> ClaudeModel {
    let is_set = |name: &&str| inputs.environment.get(name).is_some();
    match ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"].iter().any(is_set) {
        true => ClaudeModel::Counts,
        false => ClaudeModel::LeftOut,
    }
}

/// What was found on the way.
struct Loading {
    problems: Vec<ConfigProblem>,
    warnings: Vec<ConfigProblem>,
}

impl Loading {
    /// Reviews the project's own content.
    fn review(&mut self, root: &Path, layers: &[ReadLayer], inputs: &ConfigInputs) -> Option<Reviewed> {
        match inputs.trust {
            TrustChoice::AsGiven | TrustChoice::ThisSession => {}
            TrustChoice::Nothing => return None,
        }
        let origin =
            SettingOrigin { layer: Layer::Project, source: SourceName::File(root.to_owned()), line: None };
        match review(root, layers, inputs) {
            Ok(reviewed) => {
                if reviewed.review.is_open() && inputs.trust == TrustChoice::AsGiven {
                    let what = format!(
                        "the project is not trusted, so its own content is ignored: {}; review it with \
                         `rheon trust show` and accept it with `rheon trust grant`",
                        reviewed.review.summary()
                    );
                    self.warnings.push(ConfigProblem::new(&origin, what));
                }
                Some(reviewed)
            }
            Err(error) => {
                let what = format!("the project's own content is ignored: {error}");
                self.warnings.push(ConfigProblem::new(&origin, what));
                None
            }
        }
    }

    /// The hooks of all layers, weakest first; of the project those that are trusted.
    fn hooks(&mut self, layers: &[ReadLayer], of_project: HookSettings, extent: ConfigScope) -> HookSettings {
        let (mut weaker, mut stronger) = (Vec::new(), Vec::new());
        for layer in layers {
            let (found, problems) = hooks(layer);
            let of = layer.source.origin.layer;
            if layer.is_foreign() {
                self.warnings.extend(problems);
            } else {
                self.problems.extend(problems);
            }
            match of {
                Layer::BuiltIn | Layer::User => match extent {
                    ConfigScope::Whole => weaker.push(found),
                    ConfigScope::Bare => {}
                },
                Layer::CommandLine | Layer::Managed => stronger.push(found),
                Layer::Project | Layer::ProjectLocal => {}
            }
        }
        weaker.push(of_project);
        HookSettings::merged(weaker.into_iter().chain(stronger))
    }

    fn servers(
        &mut self,
        layers: &[ReadLayer],
        merged: &Merged,
        inputs: &ConfigInputs,
    ) -> BTreeMap<String, McpServer> {
        let mut servers = BTreeMap::new();
        for (index, layer) in layers.iter().enumerate() {
            let unknown_keys = if layer.is_foreign() { UnknownKeys::Ignored } else { UnknownKeys::Refused };
            if inputs.extent == ConfigScope::Bare && layer.source.origin.layer == Layer::User {
                continue;
            }
            for entry in merged.of_layer(index).filter(|entry| entry.row.path == "mcp_servers.*") {
                let (Value::Table(node, _), Some((_, name))) = (&entry.value, entry.key.split_once('.'))
                else {
                    continue;
                };
                match server(name, node, &entry.origin, unknown_keys, &inputs.environment) {
                    Ok(server) => drop(servers.insert(name.to_owned(), server)),
                    Err(ServerProblem::Wrong(what)) if !layer.is_foreign() => {
                        self.problems
                            .push(ConfigProblem::new(&entry.origin, format!("{:?}: {what}", entry.key)));
                    }
                    Err(ServerProblem::Wrong(what) | ServerProblem::Variable(what)) => {
                        let what = format!("the server {name:?} is left out: {what}");
                        self.warnings.push(ConfigProblem::new(&entry.origin, what));
                    }
                }
            }
        }
        servers
    }
}

/// One layer's value of one key, or one item of its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingView {
    pub key: String,
    /// As TOML has it; secrets are masked.
    pub value: String,
    pub origin: SettingOrigin,
    pub effect: SettingEffect,
}

/// Whether a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingEffect {
    Counts,
    /// A stronger layer overrides it.
    Overridden,
    /// Ignored for this reason.
    LeftOut(&'static str),
}

/// All entries in the order of the table of keys; of one key, what counts first, then the stronger before the weaker.
pub(super) fn show(entries: &[Entry]) -> Vec<SettingView> {
    let place = |entry: &Entry| KEYS.iter().position(|row| row.path == entry.row.path);
    let mut sorted: Vec<(usize, &Entry)> = entries.iter().enumerate().collect();
    sorted.sort_by_key(|(index, entry)| {
        let adds = entry.row.takes.is_list();
        let order = if adds { *index } else { usize::MAX - *index };
        (place(entry), &entry.key, entry.standing != EntryStatus::Counts, order)
    });
    sorted.into_iter().map(|(_, entry)| shown(entry)).collect()
}

fn shown(entry: &Entry) -> SettingView {
    let effect = match entry.standing {
        EntryStatus::Counts => SettingEffect::Counts,
        EntryStatus::Overridden => SettingEffect::Overridden,
        EntryStatus::LeftOut(why) => SettingEffect::LeftOut(why),
    };
    SettingView {
        key: entry.key.clone(),
        value: entry.value.to_string(),
        origin: entry.origin.clone(),
        effect,
    }
}
