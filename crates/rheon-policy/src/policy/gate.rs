//! `PolicyGate`: the gate that enforces a policy. `ReadOnlyGate`: a gate without rules.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::{
    ApprovalRequest, Danger, PermissionDecision, PermissionMode, PermissionResponse, QueuedChange, RuleList,
    Scope,
};
use rheon_types::{
    Answer, ApprovalReason, CallFacts, CallGrant, CallOrder, Effect, Gate, GateDecision, GateRequest,
    NetworkGrant, ToolCall, Verdict,
};

use crate::policy::call::{CallContext, line_of};
use crate::policy::destinations::SourceDepth;
use crate::policy::explanation::{Decision, DecisionReason, Explanation};
use crate::policy::judge::{CallToJudge, Judge, SandboxedCommands};
use crate::policy::names::{ToolKind, effect_of, kind_of};
use crate::policy::plan::Plan;
use crate::policy::policy_set::{BoundRule, Policy, PolicyError, RuleSource};
use crate::policy::refusals::SandboxRefusals;
use crate::policy::rule::{Rule, RuleKind};
use crate::policy::shell_analyzer::{FileFacts, ShellAnalyzer, ShellDirectory, ShellFacts};
use crate::policy::{offers, subject, suggestion};
use crate::shell::{Analysis, only_reads};
use crate::workspace::Workspace;

/// Saves rules that apply to later sessions. Never writes to a file that is committed.
pub trait RuleSink: Send + Sync {
    /// Saves rules of the given kind. Reports failures to the user itself: in this session the rules apply either way.
    fn save(&self, place: RulePlace, list: RuleKind, rules: &[Rule]);
}

/// Where rules are saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulePlace {
    /// The user's own settings of this project, which are not committed.
    Project,
    /// The user's settings of all projects.
    User,
}

impl RulePlace {
    /// Where an answer with this scope is saved. `None`: it ends with the session.
    fn of(scope: Scope) -> Option<Self> {
        match scope {
            Scope::Once | Scope::Session => None,
            Scope::Project => Some(Self::Project),
            Scope::Always => Some(Self::User),
        }
    }
}

/// Rules that the answers of one session may add. After that, Rheon asks again.
pub(crate) const SESSION_RULES_MAX: usize = 1_000;

/// A rule in effect, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveRule {
    pub list: RuleList,
    pub rule: String,
    pub source: String,
}

/// How to change the rules of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleChange {
    Add,
    /// Replaces the session's rules of the same kind.
    Replace,
    Remove,
}

/// The gate that enforces a policy.
pub struct PolicyGate {
    policy: Policy,
    workspace: Arc<Workspace>,
    shell: ShellAnalyzer,
    shell_dir: Option<ShellDirectory>,
    sink: Option<Arc<dyn RuleSink>>,
    refusals: SandboxRefusals,
    readable: Vec<PathBuf>,
    state: Mutex<State>,
}

/// What changes during a session.
struct State {
    mode: PermissionMode,
    rules: Vec<BoundRule>,
    plan: Plan,
    sandbox: CommandSandbox,
}

/// What the sandbox does for commands, as far as decisions depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandSandbox {
    /// What to do with commands that run in it.
    pub sandboxed: SandboxedCommands,
    /// Whether it holds commands so well that mode `auto` need not ask about them.
    pub holds_commands: bool,
    /// What commands reach of the network by themselves; `None` if no sandbox holds them.
    pub network: Option<NetworkGrant>,
}

impl PolicyGate {
    /// Creates a gate for tools that work in `workspace`, which comes from [`Policy::workspace`].
    pub fn new(policy: Policy, workspace: Arc<Workspace>) -> Self {
        let state = Mutex::new(State {
            mode: policy.default_mode(),
            rules: Vec::new(),
            plan: Plan::default(),
            sandbox: CommandSandbox::default(),
        });
        Self {
            policy,
            workspace,
            shell: ShellAnalyzer::default(),
            shell_dir: None,
            sink: None,
            refusals: SandboxRefusals::default(),
            readable: Vec::new(),
            state,
        }
    }

    /// Uses another shell analyzer.
    pub fn with_shell(mut self, shell: ShellAnalyzer) -> Self {
        self.shell = shell;
        self
    }

    /// Follows the working directory of a shell. [`ShellFacts`] carries the directory that a decision assumes, so the
    /// shell can refuse to run the line anywhere else.
    pub fn with_shell_directory(mut self, dir: ShellDirectory) -> Self {
        self.shell_dir = Some(dir);
        self
    }

    /// Says what to do with commands that run in a sandbox.
    pub fn with_sandboxed_commands(self, sandboxed: SandboxedCommands) -> Self {
        self.state().sandbox.sandboxed = sandboxed;
        self
    }

    /// Says that the sandbox is at full strength, so that mode `auto` need not ask about commands.
    pub fn with_full_sandbox(self, holds_commands: bool) -> Self {
        self.state().sandbox.holds_commands = holds_commands;
        self
    }

    /// Says that a sandbox holds commands, and what they reach of the network without a grant.
    pub fn with_network(self, network: NetworkGrant) -> Self {
        self.state().sandbox.network = Some(network);
        self
    }

    /// Says what the sandbox does for commands from now on.
    pub fn set_command_sandbox(&self, sandbox: CommandSandbox) {
        self.state().sandbox = sandbox;
    }

    /// Adds a directory outside the workspace that tools may read, such as the one for long tool output.
    pub fn with_readable(mut self, dir: PathBuf) -> Self {
        self.readable.push(dir.canonicalize().unwrap_or(dir));
        self
    }

    /// Saves rules that apply to all sessions.
    pub fn with_sink(mut self, sink: Arc<dyn RuleSink>) -> Self {
        self.sink = Some(sink);
        self
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether the policy or an answer of this session denies reading `path`.
    pub fn hides(&self, path: &Path) -> bool {
        self.policy.hides(path) || self.state().rules.iter().any(|bound| bound.hides(path))
    }

    pub fn mode(&self) -> PermissionMode {
        self.state().mode
    }

    pub fn set_mode(&self, mode: PermissionMode) -> Result<(), PolicyError> {
        self.policy.permits(mode)?;
        let mut state = self.state();
        if mode == PermissionMode::Plan && state.mode != PermissionMode::Plan {
            let before = state.mode;
            state.plan.begin(before);
        }
        state.mode = mode;
        Ok(())
    }

    /// Changes the session's own rules, in addition to those from settings. Either all of `rules` are applied or none.
    /// Rules added for all sessions are saved too. Returns warnings.
    pub fn change_rules(
        &self,
        change: RuleChange,
        list: RuleKind,
        rules: &[String],
        scope: Scope,
    ) -> Result<Vec<String>, PolicyError> {
        let roots = self.policy.pattern_roots();
        let mut bound = Vec::new();
        for text in rules.iter().take(SESSION_RULES_MAX.saturating_add(1)) {
            let rule = Rule::parse(text, list)?;
            bound.push(BoundRule::bind(rule, RuleSource::Session, roots, &roots.working_dir)?);
        }
        let mut warnings: Vec<String> = bound
            .iter()
            .filter_map(|bound| bound.rule.warning().map(|warning| format!("{}: {warning}", bound.rule)))
            .collect();
        let changed: Vec<Rule> = bound.iter().map(|bound| bound.rule.clone()).collect();
        {
            let mut state = self.state();
            let is_named = |kept: &BoundRule| changed.contains(&kept.rule);
            let stays = |kept: &BoundRule| match change {
                RuleChange::Add | RuleChange::Remove => !is_named(kept),
                RuleChange::Replace => kept.rule.list() != list,
            };
            let mut next: Vec<BoundRule> = state.rules.iter().filter(|kept| stays(kept)).cloned().collect();
            if change != RuleChange::Remove {
                next.append(&mut bound);
            }
            if next.len() > SESSION_RULES_MAX {
                return Err(PolicyError::TooManyRules { max: SESSION_RULES_MAX });
            }
            state.rules = next;
        }
        match (RulePlace::of(scope), change, &self.sink) {
            (None, ..) => {}
            (Some(place), RuleChange::Add, Some(sink)) => sink.save(place, list, &changed),
            (Some(_), RuleChange::Add | RuleChange::Replace | RuleChange::Remove, _) => {
                warnings.push("not saved to a settings file: it applies to this session only".to_owned());
            }
        }
        Ok(warnings)
    }

    /// All rules in effect, the session's own last.
    pub fn rules(&self) -> Vec<ActiveRule> {
        let state = self.state();
        let listed = |bound: &BoundRule| ActiveRule {
            list: match bound.rule.list() {
                RuleKind::Allow => RuleList::Allow,
                RuleKind::Ask => RuleList::Ask,
                RuleKind::Deny => RuleList::Deny,
            },
            rule: bound.rule.to_string(),
            source: bound.source.to_string(),
        };
        self.policy.bound_rules().iter().chain(&state.rules).map(listed).collect()
    }

    /// The changes queued in the plan, oldest first.
    pub fn queued_changes(&self) -> Vec<QueuedChange> {
        self.state().plan.queued().to_vec()
    }

    /// Ends plan mode and returns to the previous mode. Each queued change may then run once without approval, unless a
    /// rule denies it. Returns the mode now in effect and the changes.
    pub fn approve_plan(&self) -> (PermissionMode, Vec<QueuedChange>) {
        let mut state = self.state();
        let (before, changes) = state.plan.approve();
        if state.mode == PermissionMode::Plan {
            state.mode = before;
        }
        (state.mode, changes)
    }

    /// Approves the plan if it is still the one the user saw. Returns `None` and does nothing if other changes are
    /// queued by now or plan mode has ended.
    pub fn approve_plan_as_shown(
        &self,
        shown: &[QueuedChange],
    ) -> Option<(PermissionMode, Vec<QueuedChange>)> {
        let mut state = self.state();
        if state.mode != PermissionMode::Plan || state.plan.queued() != shown {
            return None;
        }
        let (before, changes) = state.plan.approve();
        state.mode = before;
        Some((before, changes))
    }

    /// Drops the queued changes and returns them. Plan mode stays on.
    pub fn reject_plan(&self) -> Vec<QueuedChange> {
        self.state().plan.reject()
    }

    /// Explains the decision about a call. The gate decides by nothing else.
    pub fn explain(&self, call: &ToolCall, effect: Effect) -> Explanation {
        self.explain_as(&self.look(), self.analyze(call).as_ref(), call, effect)
    }

    fn explain_as(
        &self,
        shell_dir: &Path,
        analysis: Option<&Analysis>,
        call: &ToolCall,
        effect: Effect,
    ) -> Explanation {
        let state = self.state();
        let sandboxed = match state.mode {
            PermissionMode::Auto if state.sandbox.holds_commands => SandboxedCommands::Run,
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Auto
            | PermissionMode::Plan
            | PermissionMode::DontAsk
            | PermissionMode::BypassPermissions => state.sandbox.sandboxed,
        };
        let line = line_of(call.name.as_str(), &call.arguments);
        let refusal = line.and_then(|line| self.refusals.get(line));
        let judge = Judge {
            policy: &self.policy,
            session: &state.rules,
            mode: state.mode,
            sandboxed,
            holds_commands: state.sandbox.holds_commands,
            network: state.sandbox.network.as_ref(),
            refusal: refusal.as_ref(),
            readable: &self.readable,
            context: CallContext {
                workspace: &self.workspace,
                shell: self.shell,
                analysis,
                shell_dir,
                home: self.policy.pattern_roots().home.as_deref(),
                source_depth: self.source_depth(&state.rules),
            },
        };
        let effect = effect_of(call.name.as_str(), &call.arguments, effect);
        judge.judge(CallToJudge { tool_name: call.name.as_str(), arguments: &call.arguments, effect })
    }

    /// Whether rules about files of directories that commands copy may apply.
    fn source_depth(&self, session: &[BoundRule]) -> SourceDepth {
        let mut rules = self.policy.bound_rules().iter().chain(session);
        if rules.any(BoundRule::restricts_paths) { SourceDepth::Contents } else { SourceDepth::Name }
    }

    /// The working directory of the next line of bash. Read once per call, so that the decision and the prompt agree.
    fn look(&self) -> PathBuf {
        self.shell_dir.as_ref().map_or_else(|| self.workspace.root().to_owned(), ShellDirectory::current)
    }

    /// Analyzes the line of a call, if it has one.
    fn analyze(&self, call: &ToolCall) -> Option<Analysis> {
        line_of(call.name.as_str(), &call.arguments).map(self.shell.analyze)
    }

    fn judgement(&self, call: &ToolCall, effect: Effect) -> GateDecision {
        let (shell_dir, analysis) = (self.look(), self.analyze(call));
        let explanation = self.explain_as(&shell_dir, analysis.as_ref(), call, effect);
        let verdict = self.verdict(call, &explanation, &shell_dir);
        let order = order_of(call, effect, analysis.as_ref());
        let line = line_of(call.name.as_str(), &call.arguments);
        let files = explanation.files.clone();
        let files = (!files.is_empty()).then(|| CallFacts::new(FileFacts { files }));
        let facts = line.zip(analysis).map(|(line, analysis)| {
            let dir = self.shell_dir.is_some().then_some(shell_dir);
            let refusals = self.refusals.clone();
            CallFacts::new(ShellFacts { line: line.to_owned(), dir, analysis, refusals })
        });
        // What the user approved in a plan runs with what it needs; the sandbox stays on. A mode that skips questions
        // grants nothing beyond it.
        let is_by_plan = verdict == Verdict::Allow && explanation.decision != Decision::Allow;
        let asked = if is_by_plan { explanation.grant(Decision::Ask) } else { CallGrant::default() };
        let asked = CallGrant { unsandboxed: false, ..asked };
        let grant = explanation.grant(Decision::Allow).joined(&asked);
        GateDecision { verdict, facts: facts.or(files).unwrap_or_default(), grant, order }
    }

    fn verdict(&self, call: &ToolCall, explanation: &Explanation, shell_dir: &Path) -> Verdict {
        match explanation.decision {
            Decision::Allow => Verdict::Allow,
            // The user saw exactly this call in the plan and approved it.
            Decision::Ask | Decision::Deny
                if explanation.by_rules == Decision::Ask
                    && self.state().plan.take_grant(call, place_of(call, shell_dir)) =>
            {
                Verdict::Allow
            }
            Decision::Deny => Verdict::Deny { reason: denial(explanation) },
            Decision::Ask => Verdict::Ask {
                subject: subject::of(call, &self.workspace, shell_dir),
                reason: explanation.reason(),
                danger: explanation.danger(),
                suggested_rule: suggestion::of(explanation),
                offers: offers::of(explanation),
                by: asked_by(explanation),
            },
            Decision::Queue => self.queue(call, explanation, place_of(call, shell_dir)),
        }
    }

    fn queue(&self, call: &ToolCall, explanation: &Explanation, place: &Path) -> Verdict {
        let change = QueuedChange {
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
            arguments: Arc::clone(&call.arguments),
            summary: self.summary(explanation, place),
        };
        match self.state().plan.queue(change.clone(), place) {
            Ok(()) => Verdict::Queue { change },
            Err(full) => Verdict::Deny { reason: full.to_string() },
        }
    }

    /// Describes a change, with its directory if that is not the workspace root.
    fn summary(&self, explanation: &Explanation, place: &Path) -> String {
        let changes: Vec<&str> = explanation.parts.iter().map(|part| part.action.as_str()).collect();
        let changes = changes.join(", ");
        if place.as_os_str().is_empty() || place == self.workspace.root() {
            return changes;
        }
        format!("{changes} in {}", self.workspace.shown(place))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock, and the mode and the rules are never half written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls that change something run one after the other, in the order of the model; calls that only read run together.
fn order_of(call: &ToolCall, declared: Effect, analysis: Option<&Analysis>) -> CallOrder {
    let name = call.name.as_str();
    let is_alone = match kind_of(name) {
        ToolKind::Shell => analysis.is_none_or(|analysis| !only_reads(analysis)),
        ToolKind::Edit => true,
        ToolKind::Mcp | ToolKind::Other => effect_of(name, &call.arguments, declared) != Effect::Pure,
        ToolKind::Read | ToolKind::Fetch | ToolKind::Named | ToolKind::Internal => false,
    };
    if is_alone { CallOrder::Alone } else { CallOrder::Together }
}

impl Gate for PolicyGate {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        Answer::Now(self.judgement(request.call, request.effect))
    }

    fn resolved(&self, request: &ApprovalRequest, response: &PermissionResponse) {
        let suggested = || request.suggested_rule.iter().flat_map(|shown| shown.lines()).collect();
        let (list, rules): (_, Vec<&str>) = match (response.decision, request.offer(response)) {
            (PermissionDecision::Allow, Some(offer)) => {
                (RuleKind::Allow, offer.rules.iter().map(String::as_str).collect())
            }
            (PermissionDecision::Allow, None) => (RuleKind::Allow, suggested()),
            (PermissionDecision::Deny, _) => (RuleKind::Deny, suggested()),
        };
        // Without a rule, an answer applies to this call only.
        if rules.is_empty() {
            return;
        }
        let roots = self.policy.pattern_roots();
        let bound: Option<Vec<BoundRule>> =
            rules.into_iter().map(|rule| suggestion::bound_in(rule, list, roots)).collect();
        let Some(bound) = bound else { return };
        if response.scope == Scope::Once {
            return;
        }
        if let (Some(place), Some(sink)) = (RulePlace::of(response.scope), &self.sink) {
            let rules: Vec<Rule> = bound.iter().map(|bound| bound.rule.clone()).collect();
            sink.save(place, list, &rules);
        }
        let mut state = self.state();
        for bound in bound {
            let known = state.rules.iter().any(|rule| rule.rule == bound.rule);
            if !known && state.rules.len() < SESSION_RULES_MAX {
                state.rules.push(bound);
            }
        }
    }
}

impl fmt::Debug for PolicyGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyGate").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Hooks cannot skip an approval that an ask rule demands, nor one about a critical command.
fn asked_by(explanation: &Explanation) -> ApprovalReason {
    let is_by_rule = explanation.parts.iter().any(|part| match part.reason {
        DecisionReason::Rule { .. } => part.decision == Decision::Ask,
        DecisionReason::NotCovered { .. } | DecisionReason::Default(_) => {
            part.decision == Decision::Ask && part.danger == Danger::Critical
        }
    });
    if is_by_rule { ApprovalReason::Rule } else { ApprovalReason::Default }
}

/// The message for the model.
fn denial(explanation: &Explanation) -> String {
    if explanation.by_rules == Decision::Deny {
        format!("denied: {}", explanation.reason())
    } else {
        format!("denied: this run is non-interactive and the call needs approval: {}", explanation.reason())
    }
}

/// The directory that affects what a call does: the shell's for commands, none for other tools.
fn place_of<'a>(call: &ToolCall, shell_dir: &'a Path) -> &'a Path {
    match kind_of(call.name.as_str()) {
        ToolKind::Shell => shell_dir,
        ToolKind::Read
        | ToolKind::Edit
        | ToolKind::Fetch
        | ToolKind::Named
        | ToolKind::Internal
        | ToolKind::Mcp
        | ToolKind::Other => Path::new(""),
    }
}

/// Allows tools that only read and denies all others without asking.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOnlyGate;

impl Gate for ReadOnlyGate {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let verdict = match request.effect {
            Effect::Pure => Verdict::Allow,
            Effect::Idempotent | Effect::Unsafe => Verdict::Deny {
                reason: format!(
                    "{} is not allowed: this session is read-only; use tools that only read",
                    request.call.name
                ),
            },
        };
        Answer::Now(verdict.into())
    }
}
