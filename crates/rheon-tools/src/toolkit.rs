//! `Toolkit`: the standard tools of one session with everything that stands around them, put together in one place.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_policy::{Access, HeldCommands, Policy, PolicyError, PolicyGate, RuleSink, Workspace, known};
use rheon_sandbox::process::{Environment, STANDARD_VARIABLES};
use rheon_sandbox::{
    Boundary, Level, Network, Programs, Requirement, Sandbox, SandboxError, Sight, TemporaryFolder,
};
use rheon_types::{Clock, Hook, Tool};

use crate::builtin::bash::{BashSession, BashSettings, bash_tools};
use crate::builtin::{
    AddressRule, AskUserTool, EditTool, GlobTool, ListTool, PlanTool, ReadTool, SearchTool, SkillTool,
    TodoList, TodoTool, WebFetchTool, WriteTool,
};
use crate::files::{FileContext, ReadScope};
use crate::loop_guard::LoopGuard;
use crate::skills::SkillSet;

/// What a toolkit is made of.
pub struct ToolkitSettings {
    /// The rules; they name the folder in which tools work.
    pub policy: Policy,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The variables of the program. Commands see those of them that are harmless.
    pub variables: Vec<(String, String)>,
    /// What is required of the sandbox.
    pub sandbox: Requirement,
    /// The file in which is kept what the sandbox was found to hold, so that the next session need not try again; best in
    /// the state folder of the user, where commands cannot write. Without it everything is tried anew.
    pub sandbox_cache: Option<PathBuf>,
    /// Whether commands reach the network.
    pub network: Network,
    /// What becomes of commands that a sandbox holds. Counts only where the sandbox holds all that it can.
    pub sandboxed_commands: HeldCommands,
    /// Where output goes that is too long to show; a temporary folder if absent.
    pub output_folder: Option<PathBuf>,
    /// Which addresses `web_fetch` reaches; without it there is no such tool.
    pub web: Option<AddressRule>,
    /// The skills that the model may use. Those of a project only if it is trusted.
    pub skills: Arc<SkillSet>,
    /// Where rules go that hold for all sessions.
    pub rule_sink: Option<Arc<dyn RuleSink>>,
}

impl ToolkitSettings {
    /// Tools under `policy`, with nothing added: a sandbox of at least Landlock, no network, no web, no skills.
    pub fn new(policy: Policy, clock: Arc<dyn Clock>) -> Self {
        Self {
            policy,
            clock,
            variables: Vec::new(),
            sandbox: Requirement::default(),
            sandbox_cache: None,
            network: Network::Blocked,
            sandboxed_commands: HeldCommands::Ask,
            output_folder: None,
            web: None,
            skills: Arc::default(),
            rule_sink: None,
        }
    }
}

/// A toolkit that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ToolkitError {
    /// The rules do not fit this machine.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Commands cannot be held.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Long output has nowhere to go.
    #[error("cannot make a folder for long output: {0}")]
    OutputFolder(#[source] std::io::Error),
}

/// The standard tools of one session. Background commands end when it and all tools it handed out are gone.
pub struct Toolkit {
    tools: Vec<Arc<dyn Tool>>,
    gate: Arc<PolicyGate>,
    loop_guard: Arc<LoopGuard>,
    shell: Arc<BashSession>,
    file_context: FileContext,
    tasks: TodoList,
    /// The only tools to offer, by the names that the model knows.
    allowed_names: Option<Vec<String>>,
}

impl Toolkit {
    /// Puts the tools together. Tries which sandbox the machine keeps, which takes a moment unless it is remembered.
    pub async fn new(settings: ToolkitSettings) -> Result<Self, ToolkitError> {
        let workspace = settings.policy.workspace()?;
        let home = settings.policy.places().home.clone();
        let boundary = Boundary::new(workspace.roots()).with_network(settings.network);
        let boundary = match &home {
            Some(home) => boundary.with_keys_hidden(home),
            None => boundary,
        };
        let hidden = boundary.hidden().to_vec();
        // Commands look at whole folders and run programs, so what nobody may read or change has to be out of their reach.
        let boundary = without_denied(boundary, &settings.policy, &workspace);
        let cache_file = settings.sandbox_cache.as_deref();
        let sandbox =
            Sandbox::choose_remembered(Programs::find(), settings.sandbox, boundary, cache_file).await?;
        let (temporary, output_folder) = output_folder(settings.output_folder)?;
        // Nobody is spared a question for a sandbox that leaves the network open, or keys in sight.
        let sandboxed_commands = match (sandbox.level(), settings.network, &home) {
            (Level::Namespaces, Network::Blocked, Some(_)) => settings.sandboxed_commands,
            (Level::Namespaces | Level::Landlock | Level::None, Network::Blocked | Network::Open, _) => {
                HeldCommands::Ask
            }
        };
        let shell = BashSession::new(BashSettings {
            workspace: workspace.clone(),
            sandbox,
            environment: Environment::rebuilt(settings.variables, &STANDARD_VARIABLES),
            output: BashSettings::output_limits(&output_folder),
        });
        let shell = Arc::new(match temporary {
            Some(temporary) => shell.with_output_dir(temporary),
            None => shell,
        });
        let gate = PolicyGate::new(settings.policy, Arc::new(workspace.clone()))
            .with_held_commands(sandboxed_commands)
            .with_readable(output_folder)
            .with_shell_folder(shell.shell_folder());
        // What a skill brings along is read when the skill says so.
        let skill_dirs = settings.skills.for_model().map(|skill| skill.folder.clone());
        let gate = skill_dirs.fold(gate, PolicyGate::with_readable);
        let gate = Arc::new(match settings.rule_sink {
            Some(sink) => gate.with_sink(sink),
            None => gate,
        });
        // Whether a call may look further than the workspace is the gate's decision.
        let rules = Arc::clone(&gate);
        let file_context = FileContext::with_read_scope(workspace, settings.clock, ReadScope::Anywhere)
            .hiding(hidden)
            .excluding(move |path| rules.hides(path));
        let tasks = TodoList::default();
        let mut tools = file_tools(&file_context);
        tools.extend(bash_tools(&shell));
        if let Some(rule) = settings.web {
            tools.push(Arc::new(WebFetchTool::new(rule)));
        }
        tools.push(Arc::new(TodoTool::new(tasks.clone())));
        tools.push(Arc::new(AskUserTool));
        tools.push(Arc::new(PlanTool::new(Arc::clone(&gate))));
        if settings.skills.for_model().next().is_some() {
            tools.push(Arc::new(SkillTool::new(settings.skills)));
        }
        // What is forbidden altogether, the model need not hear of.
        tools.retain(|tool| !gate.policy().removes(tool.name()));
        Ok(Self { tools, gate, loop_guard: Arc::default(), shell, file_context, tasks, allowed_names: None })
    }

    /// Keeps only the tools with these names, which are the model's or those of rules, and gives back the names that no tool has.
    pub fn restrict_to(&mut self, names: &[String]) -> Vec<String> {
        let canonical_name =
            |name: &String| known(name).map_or_else(|| name.clone(), |tool| tool.name.to_owned());
        self.allowed_names = Some(names.iter().map(canonical_name).collect());
        let exists = |name: &str| self.tools.iter().any(|tool| tool.name() == name);
        let is_unknown = |name: &&String| known(name).is_none() && !exists(name);
        let unknown = names.iter().filter(is_unknown).cloned().collect();
        let mut tools = std::mem::take(&mut self.tools);
        tools.retain(|tool| self.offers(tool.name()));
        self.tools = tools;
        unknown
    }

    /// Whether the model may hear of a tool of this name, be it one of these or of another part of the session.
    pub fn offers(&self, name: &str) -> bool {
        let is_named = |allowed: &Vec<String>| {
            let has = |name: &str| allowed.iter().any(|allowed| allowed == name);
            // Commands in the background are of no use without what looks after them.
            has(name) || (has("bash") && name.starts_with("bash_"))
        };
        self.allowed_names.as_ref().is_none_or(is_named) && !self.gate.policy().removes(name)
    }

    /// The tools.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    /// The gate that they are to be used with.
    pub fn gate(&self) -> Arc<PolicyGate> {
        Arc::clone(&self.gate)
    }

    /// What remembers failures and circles, to be the first of the hooks.
    pub fn loop_guard(&self) -> Arc<LoopGuard> {
        Arc::clone(&self.loop_guard)
    }

    /// The hooks that they are to be used with.
    pub fn hooks(&self) -> Vec<Arc<dyn Hook>> {
        vec![self.loop_guard()]
    }

    /// What holds commands, and what it was tried against.
    pub fn sandbox(&self) -> &Sandbox {
        self.shell.sandbox()
    }

    /// What file tools share.
    pub fn file_context(&self) -> &FileContext {
        &self.file_context
    }

    /// The model's task list.
    pub fn tasks(&self) -> &TodoList {
        &self.tasks
    }
}

/// The tools that look at files and change them.
pub fn file_tools(file_context: &FileContext) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadTool::new(file_context.clone())),
        Arc::new(WriteTool::new(file_context.clone())),
        Arc::new(EditTool::new(file_context.clone())),
        Arc::new(ListTool::new(file_context.clone())),
        Arc::new(GlobTool::new(file_context.clone())),
        Arc::new(SearchTool::new(file_context.clone())),
    ]
}

/// The same without what nobody may read or change, which is looked for from now on.
fn without_denied(boundary: Boundary, policy: &Policy, workspace: &Workspace) -> Boundary {
    let (policy, workspace) = (policy.clone(), workspace.clone());
    let boundary = boundary.with_look(move || Sight {
        hidden: policy.denied_in(&workspace, Access::Read),
        read_only: policy.denied_in(&workspace, Access::Write),
    });
    // The first command needs it; until then a model has to answer, so that nobody waits for it.
    let scanned = boundary.clone();
    drop(tokio::task::spawn_blocking(move || scanned.look()));
    boundary
}

fn output_folder(requested: Option<PathBuf>) -> Result<(Option<TemporaryFolder>, PathBuf), ToolkitError> {
    match requested {
        Some(folder) => {
            std::fs::create_dir_all(&folder).map_err(ToolkitError::OutputFolder)?;
            Ok((None, folder))
        }
        None => {
            let temporary = TemporaryFolder::new("rheon-output-").map_err(ToolkitError::OutputFolder)?;
            let folder = temporary.path().to_owned();
            Ok((Some(temporary), folder))
        }
    }
}

#[cfg(test)]
#[path = "toolkit_tests.rs"]
mod tests;
