//! `Toolkit`: the standard tools of one session with everything that stands around them, put together in one place.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_policy::{
    Access, Policy, PolicyError, PolicyGate, RuleSink, SandboxedCommands, Workspace, known_tool,
};
use rheon_sandbox::process::{ProcessEnvironment, STANDARD_VARIABLES};
use rheon_sandbox::{
    Boundary, Level, NetworkAccess, Programs, Requirement, Sandbox, SandboxError, TemporaryDirectory,
    Visibility,
};
use rheon_types::{Clock, Hook, Tool};

use crate::builtin::bash::{BashSession, BashSettings, bash_tools};
use crate::builtin::{
    AddressRule, AskUser, Edit, Glob, List, Plan, Read, Search, Todo, TodoList, UseSkill, WebFetch, Write,
};
use crate::files::{Reach, Workshop};
use crate::memory::Watch;
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
    pub sandbox_memory: Option<PathBuf>,
    /// Whether commands reach the network.
    pub network: NetworkAccess,
    /// What becomes of commands that a sandbox holds. Counts only where the sandbox holds all that it can.
    pub held_commands: SandboxedCommands,
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
            sandbox_memory: None,
            network: NetworkAccess::Blocked,
            held_commands: SandboxedCommands::Ask,
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
    watch: Arc<Watch>,
    shell: Arc<BashSession>,
    workshop: Workshop,
    tasks: TodoList,
    /// The only tools to offer, by the names that the model knows.
    only: Option<Vec<String>>,
}

impl Toolkit {
    /// Puts the tools together. Tries which sandbox the machine keeps, which takes a moment unless it is remembered.
    pub async fn new(settings: ToolkitSettings) -> Result<Self, ToolkitError> {
        let workspace = settings.policy.workspace()?;
        let home = settings.policy.pattern_roots().home.clone();
        let boundary = Boundary::new(workspace.roots()).with_network(settings.network);
        let boundary = match &home {
            Some(home) => boundary.with_keys_hidden(home),
            None => boundary,
        };
        let hidden = boundary.hidden().to_vec();
        // Commands look at whole folders and run programs, so what nobody may read or change has to be out of their reach.
        let boundary = without_denied(boundary, &settings.policy, &workspace);
        let memory = settings.sandbox_memory.as_deref();
        let sandbox = Sandbox::choose_cached(Programs::find(), settings.sandbox, boundary, memory).await?;
        let (kept, output_folder) = output_folder(settings.output_folder)?;
        // Nobody is spared a question for a sandbox that leaves the network open, or keys in sight.
        let held_commands = match (sandbox.level(), settings.network, &home) {
            (Level::Namespaces, NetworkAccess::Blocked, Some(_)) => settings.held_commands,
            (
                Level::Namespaces | Level::Landlock | Level::None,
                NetworkAccess::Blocked | NetworkAccess::Open,
                _,
            ) => SandboxedCommands::Ask,
        };
        let shell = BashSession::new(BashSettings {
            workspace: workspace.clone(),
            sandbox,
            environment: ProcessEnvironment::rebuilt(settings.variables, &STANDARD_VARIABLES),
            output: BashSettings::output_in(&output_folder),
        });
        let shell = Arc::new(match kept {
            Some(kept) => shell.keeping(kept),
            None => shell,
        });
        let gate = PolicyGate::new(settings.policy, Arc::new(workspace.clone()))
            .with_sandboxed_commands(held_commands)
            .with_readable(output_folder)
            .with_shell_directory(shell.shell_folder());
        // What a skill brings along is read when the skill says so.
        let folders_of_skills = settings.skills.for_model().map(|skill| skill.folder.clone());
        let gate = folders_of_skills.fold(gate, PolicyGate::with_readable);
        let gate = Arc::new(match settings.rule_sink {
            Some(sink) => gate.with_sink(sink),
            None => gate,
        });
        // Whether a call may look further than the workspace is the gate's decision.
        let rules = Arc::clone(&gate);
        let workshop = Workshop::with_reach(workspace, settings.clock, Reach::Anywhere)
            .hiding(hidden)
            .leaving_out(move |path| rules.hides(path));
        let tasks = TodoList::default();
        let mut tools = file_tools(&workshop);
        tools.extend(bash_tools(&shell));
        if let Some(rule) = settings.web {
            tools.push(Arc::new(WebFetch::new(rule)));
        }
        tools.push(Arc::new(Todo::new(tasks.clone())));
        tools.push(Arc::new(AskUser));
        tools.push(Arc::new(Plan::new(Arc::clone(&gate))));
        if settings.skills.for_model().next().is_some() {
            tools.push(Arc::new(UseSkill::new(settings.skills)));
        }
        // What is forbidden altogether, the model need not hear of.
        tools.retain(|tool| !gate.policy().removes_tool(tool.name()));
        Ok(Self { tools, gate, watch: Arc::default(), shell, workshop, tasks, only: None })
    }

    /// Keeps only the tools with these names, which are the model's or those of rules, and gives back the names that no tool has.
    pub fn offer_only(&mut self, names: &[String]) -> Vec<String> {
        let named =
            |name: &String| known_tool(name).map_or_else(|| name.clone(), |tool| tool.name.to_owned());
        self.only = Some(names.iter().map(named).collect());
        let is_there = |name: &str| self.tools.iter().any(|tool| tool.name() == name);
        let is_unknown = |name: &&String| known_tool(name).is_none() && !is_there(name);
        let unknown = names.iter().filter(is_unknown).cloned().collect();
        let mut tools = std::mem::take(&mut self.tools);
        tools.retain(|tool| self.offers(tool.name()));
        self.tools = tools;
        unknown
    }

    /// Whether the model may hear of a tool of this name, be it one of these or of another part of the session.
    pub fn offers(&self, name: &str) -> bool {
        let is_named = |wanted: &Vec<String>| {
            let has = |name: &str| wanted.iter().any(|wanted| wanted == name);
            // Commands in the background are of no use without what looks after them.
            has(name) || (has("bash") && name.starts_with("bash_"))
        };
        self.only.as_ref().is_none_or(is_named) && !self.gate.policy().removes_tool(name)
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
    pub fn watch(&self) -> Arc<Watch> {
        Arc::clone(&self.watch)
    }

    /// The hooks that they are to be used with.
    pub fn hooks(&self) -> Vec<Arc<dyn Hook>> {
        vec![self.watch()]
    }

    /// What holds commands, and what it was tried against.
    pub fn sandbox(&self) -> &Sandbox {
        self.shell.sandbox()
    }

    /// What file tools share.
    pub fn workshop(&self) -> &Workshop {
        &self.workshop
    }

    /// The model's task list.
    pub fn tasks(&self) -> &TodoList {
        &self.tasks
    }
}

/// The tools that look at files and change them.
pub fn file_tools(workshop: &Workshop) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Read::new(workshop.clone())),
        Arc::new(Write::new(workshop.clone())),
        Arc::new(Edit::new(workshop.clone())),
        Arc::new(List::new(workshop.clone())),
        Arc::new(Glob::new(workshop.clone())),
        Arc::new(Search::new(workshop.clone())),
    ]
}

/// The same without what nobody may read or change, which is looked for from now on.
fn without_denied(boundary: Boundary, policy: &Policy, workspace: &Workspace) -> Boundary {
    let (policy, workspace) = (policy.clone(), workspace.clone());
    let boundary = boundary.with_visibility(move || Visibility {
        hidden: policy.denied_paths(&workspace, Access::Read),
        read_only: policy.denied_paths(&workspace, Access::Write),
    });
    // The first command needs it; until then a model has to answer, so that nobody waits for it.
    let looked_through = boundary.clone();
    drop(tokio::task::spawn_blocking(move || looked_through.look()));
    boundary
}

fn output_folder(wanted: Option<PathBuf>) -> Result<(Option<TemporaryDirectory>, PathBuf), ToolkitError> {
    match wanted {
        Some(folder) => {
            std::fs::create_dir_all(&folder).map_err(ToolkitError::OutputFolder)?;
            Ok((None, folder))
        }
        None => {
            let kept = TemporaryDirectory::new("rheon-output-").map_err(ToolkitError::OutputFolder)?;
            let folder = kept.path().to_owned();
            Ok((Some(kept), folder))
        }
    }
}

#[cfg(test)]
#[path = "toolkit_tests.rs"]
mod tests;
