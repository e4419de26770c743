//! `Toolkit`: the standard tools of one session, wired to their gate, sandbox and hooks.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_policy::{
    Access, CommandSandbox, Policy, PolicyError, PolicyGate, RuleSink, SandboxedCommands, Workspace,
    known_tool,
};
use rheon_sandbox::process::{EnvironmentSettings, ProcessEnvironment, ResourceLimits};
use rheon_sandbox::{
    AccessError, Boundary, CacheSettings, Caches, Level, NetworkAccess, Programs, Requirement, Sandbox,
    SandboxError, SandboxSwitch, TemporaryDirectory, Visibility,
};
use rheon_types::{Clock, NetworkGrant, Tool};

use crate::aliases::ToolWithAliases;
use crate::builtin::bash::{BashSession, BashSettings, bash_tools};
use crate::builtin::{
    AddressRule, AskUserTool, EditTool, GlobTool, ListTool, PlanTool, ReadTool, SearchTool, SkillTool,
    TodoList, TodoTool, WebFetchTool, WriteTool,
};
use crate::files::{FileContext, ReadScope};
use crate::skills::SkillSet;

/// The settings of a [`Toolkit`].
pub struct ToolkitSettings {
    /// The permission rules. They also name the working directory.
    pub policy: Policy,
    pub clock: Arc<dyn Clock>,
    /// The environment variables of this process. Commands see all but secrets and those that make programs run something
    /// else.
    pub variables: Vec<(String, String)>,
    /// The variables of commands, and what each may use of the machine.
    pub commands: CommandSettings,
    /// The minimum sandbox level.
    pub sandbox: Requirement,
    /// Files and directories of the program itself.
    pub own_paths: OwnPaths,
    /// Whether commands can use the network.
    pub network: NetworkAccess,
    /// The user's package caches. `None` leaves them read-only.
    pub caches: Option<CacheSettings>,
    /// Whether sandboxed commands run without approval. Only applies at the strongest sandbox level.
    pub sandboxed_commands: SandboxedCommands,
    /// The addresses `web_fetch` may reach. `None` leaves the tool out.
    pub web: Option<AddressRule>,
    /// The skills the model may use. Include a project's skills only if the user trusts the project.
    pub skills: Arc<SkillSet>,
    /// Stores rules that apply to all sessions.
    pub rule_sink: Option<Arc<dyn RuleSink>>,
}

/// The variables of commands, and what each may use of the machine.
#[derive(Debug, Clone, Default)]
pub struct CommandSettings {
    /// Variables to set, to hide, and to pass although they look like secrets.
    pub environment: EnvironmentSettings,
    pub limits: ResourceLimits,
}

/// Files and directories of the program itself, which commands must not change.
#[derive(Debug, Clone, Default)]
pub struct OwnPaths {
    /// A file that caches the result of probing the sandbox, so that the next session does not probe again. Put it
    /// where commands cannot write, such as the user's state directory. `None` probes every time.
    pub sandbox_cache: Option<PathBuf>,
    /// Where protected names go that commands create. `None` renames them where they are.
    pub quarantine: Option<PathBuf>,
    /// Directories with settings and state. They need not exist.
    pub protected: Vec<PathBuf>,
    /// Directories that commands cannot read either, such as the logs of sessions.
    pub hidden: Vec<PathBuf>,
}

impl ToolkitSettings {
    /// Settings for `policy` with safe defaults: a sandbox of at least Landlock, no network, no web, no skills.
    pub fn new(policy: Policy, clock: Arc<dyn Clock>) -> Self {
        Self {
            policy,
            clock,
            variables: Vec::new(),
            commands: CommandSettings::default(),
            sandbox: Requirement::default(),
            own_paths: OwnPaths::default(),
            network: NetworkAccess::Blocked,
            caches: None,
            sandboxed_commands: SandboxedCommands::Ask,
            web: None,
            skills: Arc::default(),
            rule_sink: None,
        }
    }
}

/// Why a toolkit cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum ToolkitError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("cannot create a directory for long output: {0}")]
    OutputDir(#[source] std::io::Error),
}

/// The standard tools of one session. Background commands stop when the toolkit and all tools it returned are dropped.
pub struct Toolkit {
    tools: Vec<Arc<dyn Tool>>,
    gate: Arc<PolicyGate>,
    shell: Arc<BashSession>,
    file_context: FileContext,
    tasks: TodoList,
    /// The only tools to offer, by the names the model uses. `None` offers all.
    allowed_names: Option<Vec<String>>,
    auto_allow: AutoAllow,
}

impl Toolkit {
    /// Creates the tools. Probes the sandbox, which takes a moment unless the result is cached.
    pub async fn new(settings: ToolkitSettings) -> Result<Self, ToolkitError> {
        let home = settings.policy.pattern_roots().home.clone();
        let workspace = settings.policy.workspace()?;
        let own_paths = &settings.own_paths;
        let workspace = workspace.with_own_paths(home.as_deref(), &own_paths.protected);
        let boundary = boundary_of(&settings, &workspace);
        let hidden = boundary.hidden().to_vec();
        let cache_file = own_paths.sandbox_cache.as_deref();
        let sandbox =
            Sandbox::choose_cached(Programs::find(), settings.sandbox, boundary, cache_file).await?;
        let temporary = TemporaryDirectory::new("rheon-output-").map_err(ToolkitError::OutputDir)?;
        let output_dir = temporary.path().to_owned();
        let knows_home = home.is_some();
        let auto_allow = AutoAllow { sandboxed: settings.sandboxed_commands, knows_home };
        let command_sandbox = auto_allow.command_sandbox(&sandbox);
        let workspace = with_temporary_files(workspace, &sandbox).map_err(ToolkitError::OutputDir)?;
        let accepting = sandbox.clone();
        let shell = BashSession::new(BashSettings {
            workspace: workspace.clone(),
            sandbox,
            environment: ProcessEnvironment::passed_on(settings.variables, &settings.commands.environment),
            output: BashSettings::output_limits(&output_dir),
        });
        let shell = Arc::new(shell.with_output_dir(temporary));
        let gate = PolicyGate::new(settings.policy, Arc::new(workspace.clone()))
            .with_readable(output_dir)
            .with_shell_directory(shell.shell_dir());
        gate.set_command_sandbox(command_sandbox);
        // A skill's text refers to files in its directory.
        let skill_dirs = settings.skills.for_model().map(|skill| skill.dir.clone());
        let gate = skill_dirs.fold(gate, PolicyGate::with_readable);
        let gate = Arc::new(match settings.rule_sink {
            Some(sink) => gate.with_sink(sink),
            None => gate,
        });
        // The gate decides which calls may read outside the workspace.
        let rules = Arc::clone(&gate);
        let file_context = FileContext::with_read_scope(workspace, settings.clock, ReadScope::Anywhere)
            .hiding(hidden)
            .with_write_callback(move |path| accepting.accept_name(path))
            .excluding(move |path| rules.hides(path));
        let tasks = TodoList::default();
        let mut tools = file_tools(&file_context);
        tools.extend(bash_tools(&shell));
        if let Some(rule) = settings.web {
            tools.push(Arc::new(WebFetchTool::new(rule).with_session_servers(shell.sandbox().clone())));
        }
        tools.push(Arc::new(TodoTool::new(tasks.clone())));
        tools.push(Arc::new(AskUserTool));
        tools.push(Arc::new(PlanTool::new(Arc::clone(&gate))));
        if settings.skills.for_model().next().is_some() {
            tools.push(Arc::new(SkillTool::new(settings.skills)));
        }
        // The model does not see tools that rules remove.
        tools.retain(|tool| !gate.policy().removes_tool(tool.name()));
        let tools =
            tools.into_iter().map(|tool| Arc::new(ToolWithAliases::new(tool)) as Arc<dyn Tool>).collect();
        Ok(Self { tools, gate, shell, file_context, tasks, allowed_names: None, auto_allow })
    }

    /// Keeps only the tools with these names (the model's names or those used in rules), and returns the names that
    /// match no tool.
    pub fn restrict_to(&mut self, names: &[String]) -> Vec<String> {
        let canonical_name =
            |name: &String| known_tool(name).map_or_else(|| name.clone(), |tool| tool.name.to_owned());
        self.allowed_names = Some(names.iter().map(canonical_name).collect());
        let exists = |name: &str| self.tools.iter().any(|tool| tool.name() == name);
        let is_unknown = |name: &&String| known_tool(name).is_none() && !exists(name);
        let unknown = names.iter().filter(is_unknown).cloned().collect();
        let mut tools = std::mem::take(&mut self.tools);
        tools.retain(|tool| self.offers(tool.name()));
        self.tools = tools;
        unknown
    }

    /// Whether the model may see a tool of this name, from this toolkit or another part of the session.
    pub fn offers(&self, name: &str) -> bool {
        let is_named = |allowed: &Vec<String>| {
            let has = |name: &str| allowed.iter().any(|allowed| allowed == name);
            // Background commands need `bash_output` and `bash_kill`.
            has(name) || (has("bash") && name.starts_with("bash_"))
        };
        self.allowed_names.as_ref().is_none_or(is_named) && !self.gate.policy().removes_tool(name)
    }

    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    /// The gate to use these tools with.
    pub fn gate(&self) -> Arc<PolicyGate> {
        Arc::clone(&self.gate)
    }

    /// What holds commands, and what it was tried against.
    pub fn sandbox(&self) -> &Sandbox {
        self.shell.sandbox()
    }

    /// Changes what commands that start from now on reach of the network.
    pub fn set_network(&self, network: NetworkAccess) -> Result<(), AccessError> {
        self.sandbox().set_network(network)?;
        self.gate.set_command_sandbox(self.auto_allow.command_sandbox(self.sandbox()));
        Ok(())
    }

    /// Says whether commands that start from now on run in the sandbox.
    pub fn set_sandbox(&self, switch: SandboxSwitch) -> Result<(), AccessError> {
        self.sandbox().set_switch(switch)?;
        self.gate.set_command_sandbox(self.auto_allow.command_sandbox(self.sandbox()));
        Ok(())
    }

    pub fn file_context(&self) -> &FileContext {
        &self.file_context
    }

    pub fn tasks(&self) -> &TodoList {
        &self.tasks
    }
}

/// Commands and file tools see the same temporary files.
fn with_temporary_files(workspace: Workspace, sandbox: &Sandbox) -> std::io::Result<Workspace> {
    match sandbox.private_tmp() {
        Some(dir) => workspace.with_temporary(dir),
        None => workspace.with_root(sandbox.temporary()),
    }
}

/// The tools that read and change files.
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

/// What commands may reach, by the settings and the rules.
fn boundary_of(settings: &ToolkitSettings, workspace: &Workspace) -> Boundary {
    let boundary = Boundary::new(workspace.roots())
        .with_network(settings.network.clone())
        .with_limits(settings.commands.limits);
    let boundary = match &settings.policy.pattern_roots().home {
        Some(home) => boundary.with_keys_hidden(home).with_home(home),
        None => boundary,
    };
    let OwnPaths { quarantine, protected, hidden, .. } = &settings.own_paths;
    let boundary = protected.iter().fold(boundary, |boundary, path| boundary.with_pinned(path));
    let boundary = hidden.iter().fold(boundary, Boundary::with_hidden);
    let boundary = match quarantine {
        Some(dir) => boundary.with_quarantine(dir),
        None => boundary,
    };
    let caches = settings.caches.as_ref().map(|caches| Caches::prepare(caches, &settings.variables));
    let boundary = match caches {
        Some(Ok(caches)) => boundary.with_caches(caches),
        // Without its layers commands see the caches read-only.
        Some(Err(error)) => {
            if let Some(caches) = &settings.caches {
                caches.reports.report(format!(
                    "cannot prepare the package caches in {}: {error}; commands see yours read-only",
                    caches.dir.display()
                ));
            }
            boundary
        }
        None => boundary,
    };
    // Commands read whole directories and run programs, so files that rules deny must be out of their reach.
    without_denied(boundary, &settings.policy, workspace)
}

/// Adds the paths that rules deny to `boundary`. If there are too many, no command runs in the sandbox.
fn without_denied(boundary: Boundary, policy: &Policy, workspace: &Workspace) -> Boundary {
    let (policy, workspace) = (policy.clone(), workspace.clone());
    let boundary = boundary.with_visibility(move || {
        let denied = |access| policy.denied_paths(&workspace, access);
        match denied(Access::Read).and_then(|hidden| Ok((hidden, denied(Access::Write)?))) {
            Ok((hidden, read_only)) => Visibility { hidden, read_only, problem: None },
            Err(error) => Visibility { problem: Some(error.to_string()), ..Visibility::default() },
        }
    });
    // Scan now, while the model is still writing its first answer, so that the first command does not wait.
    let scanned = boundary.clone();
    drop(tokio::task::spawn_blocking(move || scanned.look()));
    boundary
}

/// What decides whether sandboxed commands run without approval.
#[derive(Debug, Clone, Copy)]
struct AutoAllow {
    /// The setting.
    sandboxed: SandboxedCommands,
    /// Whether the home directory is known, so that the keys in it are hidden.
    knows_home: bool,
}

impl AutoAllow {
    /// What the sandbox does for commands now. They skip the approval only if it blocks the network and hides the user's
    /// keys.
    fn command_sandbox(self, sandbox: &Sandbox) -> CommandSandbox {
        let level = match sandbox.switch() {
            SandboxSwitch::On => sandbox.level(),
            SandboxSwitch::Off => Level::None,
        };
        let network = sandbox.network();
        let holds_commands = level == Level::Namespaces && self.knows_home;
        let is_closed = holds_commands && network.is_confined();
        let sandboxed = if is_closed { self.sandboxed } else { SandboxedCommands::Ask };
        CommandSandbox { sandboxed, holds_commands, network: network_of(level, &network) }
    }
}

/// What commands reach of the network without a grant; `None` if nothing holds them.
fn network_of(level: Level, network: &NetworkAccess) -> Option<NetworkGrant> {
    match (level, network) {
        (Level::None, _) => None,
        (Level::Namespaces | Level::Landlock, NetworkAccess::Open) => Some(NetworkGrant::All),
        (Level::Namespaces, NetworkAccess::Hosts(hosts)) => Some(NetworkGrant::Hosts(hosts.names())),
        (Level::Namespaces | Level::Landlock, NetworkAccess::Blocked | NetworkAccess::Hosts(_)) => {
            Some(NetworkGrant::None)
        }
    }
}

#[cfg(test)]
#[path = "toolkit_tests.rs"]
mod tests;
