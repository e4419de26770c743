//! `PolicyGate`: the gate that follows a policy; `ReadOnly`: one that needs none.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::{
    ApprovalRequest, Danger, PermissionDecision, PermissionMode, PermissionResponse, QueuedChange, RuleList,
    Scope,
};
use rheon_types::{
    Answer, ApprovalReason, CallFacts, Effect, Gate, GateDecision, GateRequest, ToolCall, Verdict,
};

use crate::policy::call::{Surroundings, line_of};
use crate::policy::explanation::{Because, Decision, Explanation};
use crate::policy::judge::{HeldCommands, Judge, Judged};
use crate::policy::names::{Kind, effect_of, kind_of};
use crate::policy::plan::Plan;
use crate::policy::policy_set::{BoundRule, Policy, PolicyError, Source};
use crate::policy::rule::{List, Rule};
use crate::policy::shell_seam::{Shell, ShellFacts, ShellFolder};
use crate::policy::{subject, suggestion};
use crate::shell::Analysis;
use crate::workspace::Workspace;

/// Where rules go that hold for all sessions of the user. Never into the repository.
pub trait RuleSink: Send + Sync {
    /// Saves rules for `list`, and tells the user itself if that fails: in this session they hold either way.
    fn save(&self, list: List, rules: &[Rule]);
}

/// The most rules that answers of one session leave behind; after that, questions are asked again.
pub(crate) const SESSION_RULES_MAX: usize = 1_000;

/// A rule that holds, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRule {
    /// The list it belongs to.
    pub list: RuleList,
    /// The rule as it is spelled.
    pub rule: String,
    /// Where it comes from.
    pub source: String,
}

/// How the rules of a session become others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleChange {
    /// They come to those that are there.
    Add,
    /// They take the place of those that the session has in the list.
    Replace,
    /// They go, where the session has them.
    Remove,
}

/// The gate that follows a policy.
pub struct PolicyGate {
    policy: Policy,
    workspace: Arc<Workspace>,
    shell: Shell,
    shell_folder: Option<ShellFolder>,
    sink: Option<Arc<dyn RuleSink>>,
    held: HeldCommands,
    readable: Vec<PathBuf>,
    state: Mutex<State>,
}

/// What changes while a session runs.
struct State {
    mode: PermissionMode,
    rules: Vec<BoundRule>,
    plan: Plan,
}

impl PolicyGate {
    /// A gate for tools that work in `workspace`, which [`Policy::workspace`] makes.
    pub fn new(policy: Policy, workspace: Arc<Workspace>) -> Self {
        let state =
            Mutex::new(State { mode: policy.default_mode(), rules: Vec::new(), plan: Plan::default() });
        Self {
            policy,
            workspace,
            shell: Shell::default(),
            shell_folder: None,
            sink: None,
            held: HeldCommands::Ask,
            readable: Vec::new(),
            state,
        }
    }

    /// The same, with another understanding of bash.
    pub fn with_shell(mut self, shell: Shell) -> Self {
        self.shell = shell;
        self
    }

    /// The same, for a shell that remembers its folder. What is judged for one folder comes with it in [`ShellFacts`], so that
    /// the shell can refuse to run it anywhere else.
    pub fn with_shell_folder(mut self, folder: ShellFolder) -> Self {
        self.shell_folder = Some(folder);
        self
    }

    /// The same, for a shell whose commands are held in a sandbox.
    pub fn with_held_commands(mut self, held: HeldCommands) -> Self {
        self.held = held;
        self
    }

    /// The same, with a folder outside the workspace that may be looked at: where tools put what is too long to show.
    pub fn with_readable(mut self, folder: PathBuf) -> Self {
        self.readable.push(folder.canonicalize().unwrap_or(folder));
        self
    }

    /// The same, saving the rules that hold for all sessions.
    pub fn with_sink(mut self, sink: Arc<dyn RuleSink>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether nobody may look at `path`, by the policy or by an answer of this session.
    pub fn hides(&self, path: &Path) -> bool {
        self.policy.hides(path) || self.state().rules.iter().any(|bound| bound.hides(path))
    }

    /// The mode of the session.
    pub fn mode(&self) -> PermissionMode {
        self.state().mode
    }

    /// Changes the mode of the session.
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

    /// Changes the rules that the session has besides those of its settings: all of `rules`, spelt as in settings, or none. Those
    /// that are added for all sessions are saved too. Returns what their author should know.
    pub fn change_rules(
        &self,
        change: RuleChange,
        list: List,
        rules: &[String],
        scope: Scope,
    ) -> Result<Vec<String>, PolicyError> {
        let places = self.policy.places();
        let mut bound = Vec::new();
        for text in rules.iter().take(SESSION_RULES_MAX.saturating_add(1)) {
            let rule = Rule::parse(text, list)?;
            bound.push(BoundRule::bind(rule, Source::Session, places, &places.working_folder)?);
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
                return Err(PolicyError::TooManyRules { most: SESSION_RULES_MAX });
            }
            state.rules = next;
        }
        match (scope, change, &self.sink) {
            (Scope::Once | Scope::Session, ..) => {}
            (Scope::Always, RuleChange::Add, Some(sink)) => sink.save(list, &changed),
            (Scope::Always, RuleChange::Add | RuleChange::Replace | RuleChange::Remove, _) => {
                warnings.push("no settings file was changed: it holds for this session only".to_owned());
            }
        }
        Ok(warnings)
    }

    /// All rules that hold, those of the session last.
    pub fn rules(&self) -> Vec<ListedRule> {
        let state = self.state();
        let listed = |bound: &BoundRule| ListedRule {
            list: match bound.rule.list() {
                List::Allow => RuleList::Allow,
                List::Ask => RuleList::Ask,
                List::Deny => RuleList::Deny,
            },
            rule: bound.rule.to_string(),
            source: bound.source.to_string(),
        };
        self.policy.bound_rules().iter().chain(&state.rules).map(listed).collect()
    }

    /// The changes that wait in the plan, oldest first.
    pub fn queued_changes(&self) -> Vec<QueuedChange> {
        self.state().plan.queued().to_vec()
    }

    /// Ends plan mode and goes back to the mode before it. Each of the changes that waited may then be made once without a
    /// question, unless a rule denies it. Returns them, with the mode that holds now.
    pub fn approve_plan(&self) -> (PermissionMode, Vec<QueuedChange>) {
        let mut state = self.state();
        let (before, changes) = state.plan.approve();
        if state.mode == PermissionMode::Plan {
            state.mode = before;
        }
        (state.mode, changes)
    }

    /// The same for a user who has seen these changes. Nothing, and nothing happens, if others wait by now or plan mode
    /// is over: what was not shown is not approved.
    pub fn approve_shown_plan(&self, shown: &[QueuedChange]) -> Option<(PermissionMode, Vec<QueuedChange>)> {
        let mut state = self.state();
        if state.mode != PermissionMode::Plan || state.plan.queued() != shown {
            return None;
        }
        let (before, changes) = state.plan.approve();
        state.mode = before;
        Some((before, changes))
    }

    /// Drops the changes that wait; plan mode goes on. Returns them.
    pub fn reject_plan(&self) -> Vec<QueuedChange> {
        self.state().plan.reject()
    }

    /// What is decided about a call, and why. The gate answers with nothing else.
    pub fn explain(&self, call: &ToolCall, effect: Effect) -> Explanation {
        self.explain_as(&self.look(), self.analyse(call).as_ref(), call, effect)
    }

    fn explain_as(
        &self,
        shell_folder: &Path,
        analysis: Option<&Analysis>,
        call: &ToolCall,
        effect: Effect,
    ) -> Explanation {
        let state = self.state();
        let judge = Judge {
            policy: &self.policy,
            session: &state.rules,
            mode: state.mode,
            held: self.held,
            readable: &self.readable,
            surroundings: Surroundings {
                workspace: &self.workspace,
                shell: self.shell,
                analysis,
                shell_folder,
                home: self.policy.places().home.as_deref(),
            },
        };
        let effect = effect_of(call.name.as_str(), &call.arguments, effect);
        judge.judge(Judged { tool_name: call.name.as_str(), arguments: &call.arguments, effect })
    }

    /// Where the next line of bash would begin. Asked once a call, so that what is shown is what was judged.
    fn look(&self) -> PathBuf {
        self.shell_folder.as_ref().map_or_else(|| self.workspace.root().to_owned(), ShellFolder::current)
    }

    /// What the line of a call would run, if it has one.
    fn analyse(&self, call: &ToolCall) -> Option<Analysis> {
        line_of(call.name.as_str(), &call.arguments).map(self.shell.analyse)
    }

    fn judgement(&self, call: &ToolCall, effect: Effect) -> GateDecision {
        let (shell_folder, analysis) = (self.look(), self.analyse(call));
        let explanation = self.explain_as(&shell_folder, analysis.as_ref(), call, effect);
        let verdict = self.verdict(call, &explanation, &shell_folder);
        let line = line_of(call.name.as_str(), &call.arguments);
        let facts = line.zip(analysis).map(|(line, analysis)| {
            let folder = self.shell_folder.is_some().then_some(shell_folder);
            CallFacts::new(ShellFacts { line: line.to_owned(), folder, analysis })
        });
        GateDecision { verdict, facts: facts.unwrap_or_default() }
    }

    fn verdict(&self, call: &ToolCall, explanation: &Explanation, shell_folder: &Path) -> Verdict {
        match explanation.decision {
            Decision::Allow => Verdict::Allow,
            // The user has seen exactly this call in the plan, so it needs no question.
            Decision::Ask | Decision::Deny
                if explanation.by_rules == Decision::Ask
                    && self.state().plan.take_grant(call, place_of(call, shell_folder)) =>
            {
                Verdict::Allow
            }
            Decision::Deny => Verdict::Deny { reason: denial(explanation) },
            Decision::Ask => Verdict::Ask {
                subject: subject::of(call, &self.workspace, shell_folder),
                reason: explanation.reason(),
                danger: explanation.danger(),
                suggested_rule: suggestion::of(explanation),
                by: asked_by(explanation),
            },
            Decision::Queue => self.queue(call, explanation, place_of(call, shell_folder)),
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

    /// What a change would do, and where, if that is not the root of the workspace.
    fn summary(&self, explanation: &Explanation, place: &Path) -> String {
        let changes: Vec<&str> = explanation.parts.iter().map(|part| part.what.as_str()).collect();
        let changes = changes.join(", ");
        if place.as_os_str().is_empty() || place == self.workspace.root() {
            return changes;
        }
        format!("{changes} in {}", self.workspace.shown(place))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock, and a mode or a list of rules is never half written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate for PolicyGate {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        Answer::Now(self.judgement(request.call, request.effect))
    }

    fn resolved(&self, request: &ApprovalRequest, response: &PermissionResponse) {
        // Without a rule that was shown, an answer reaches no further than its call.
        let Some(shown) = request.suggested_rule.as_deref() else { return };
        let list = match response.decision {
            PermissionDecision::Allow => List::Allow,
            PermissionDecision::Deny => List::Deny,
        };
        let bound: Option<Vec<BoundRule>> =
            shown.lines().map(|line| suggestion::bound_in(line, list, self.policy.places())).collect();
        let Some(bound) = bound else { return };
        match response.scope {
            Scope::Once => return,
            Scope::Session => {}
            Scope::Always => {
                if let Some(sink) = &self.sink {
                    let rules: Vec<Rule> = bound.iter().map(|bound| bound.rule.clone()).collect();
                    sink.save(list, &rules);
                }
            }
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

/// A question that a rule demands stays one, whatever hooks say, and so does one about lasting damage.
fn asked_by(explanation: &Explanation) -> ApprovalReason {
    let is_by_rule = explanation.parts.iter().any(|part| match part.because {
        Because::Rule { .. } => part.decision == Decision::Ask,
        Because::NotCovered { .. } | Because::Default(_) => {
            part.decision == Decision::Ask && part.danger == Danger::Critical
        }
    });
    if is_by_rule { ApprovalReason::Rule } else { ApprovalReason::Default }
}

/// What the model is told.
fn denial(explanation: &Explanation) -> String {
    if explanation.by_rules == Decision::Deny {
        format!("denied: {}", explanation.reason())
    } else {
        format!("denied: nobody is asked in this session, and it needs approval: {}", explanation.reason())
    }
}

/// The folder that decides what a call does: that of the shell for its commands, none for other tools.
fn place_of<'a>(call: &ToolCall, shell_folder: &'a Path) -> &'a Path {
    match kind_of(call.name.as_str()) {
        Kind::Shell => shell_folder,
        Kind::Read | Kind::Edit | Kind::Fetch | Kind::Named | Kind::Internal | Kind::Mcp | Kind::Other => {
            Path::new("")
        }
    }
}

/// Tools that only look may run; all others may not, and nobody is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOnly;

impl Gate for ReadOnly {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let verdict = match request.effect {
            Effect::Pure => Verdict::Allow,
            Effect::Idempotent | Effect::Unsafe => Verdict::Deny {
                reason: format!(
                    "{} changes something, and this session may only look; use tools that read",
                    request.call.name
                ),
            },
        };
        Answer::Now(verdict.into())
    }
}
