//! Judging a call: every part by rules, then by defaults; the strictest part wins; the mode has the last word.

use std::path::PathBuf;

use rheon_types::Effect;
use rheon_types::event::{Danger, PermissionMode};
use serde_json::Value;

use crate::policy::call::{Action, CommandItem, Item, Origin, Surroundings, WordPath};
use crate::policy::excerpt::excerpt;
use crate::policy::explanation::{Decision, DecisionReason, Explanation, ExplanationPart};
use crate::policy::names::{ToolKind, kind_of};
use crate::policy::paths::NamedPath;
use crate::policy::policy_set::{BoundRule, Policy};
use crate::policy::rule::{Pattern, RuleKind};
use crate::policy::suggestion;
use crate::policy::wildcard::CommandPattern;
use crate::shell::{SimpleCommand, changes_repository};
use crate::workspace::Access;

/// What becomes of commands that no rule mentions, that change the workspace and nothing worse, and that a sandbox holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SandboxedCommands {
    /// They are asked about, like edits.
    #[default]
    Ask,
    /// They run: no network, no keys, no writing outside the workspace. For a sandbox that keeps all three.
    Run,
}

/// Files that keep nothing of what is written to them.
const SINKS: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Everything that a judgement depends on.
pub(crate) struct Judge<'a> {
    pub(crate) policy: &'a Policy,
    /// Rules that were answered in this session.
    pub(crate) session: &'a [BoundRule],
    pub(crate) mode: PermissionMode,
    pub(crate) sandboxed: SandboxedCommands,
    /// Folders outside the workspace that may be looked at all the same.
    pub(crate) readable: &'a [PathBuf],
    pub(crate) surroundings: Surroundings<'a>,
}

/// What of a command an allow rule has seen; paths in it need no further permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// So many words from the first.
    Words(usize),
    /// Whatever the command is, and wherever it runs.
    Everything,
}

/// Whether a call changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    Nothing,
    Something,
}

/// The call that is judged.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub(crate) tool_name: &'a str,
    pub(crate) arguments: &'a Value,
    pub(crate) effect: Effect,
}

impl Judge<'_> {
    pub(crate) fn judge(&self, call: Judged<'_>) -> Explanation {
        let items = self.surroundings.take_apart(call.tool_name, call.arguments);
        let changes = self.changes(call, &items);
        let parts: Vec<ExplanationPart> = items.iter().flat_map(|item| self.item(item, call)).collect();
        let by_rules = parts.iter().map(|part| part.decision).max().unwrap_or(Decision::Ask);
        let decision = match (by_rules, self.mode) {
            (Decision::Deny, _) => Decision::Deny,
            (_, PermissionMode::Plan) if changes == Changes::Something => Decision::Queue,
            (Decision::Ask, PermissionMode::DontAsk) => Decision::Deny,
            (Decision::Ask, PermissionMode::BypassPermissions) => Decision::Allow,
            (
                by_rules,
                PermissionMode::Default
                | PermissionMode::AcceptEdits
                | PermissionMode::Plan
                | PermissionMode::DontAsk
                | PermissionMode::BypassPermissions,
            ) => by_rules,
        };
        Explanation { decision, by_rules, mode: self.mode, parts }
    }

    fn item(&self, item: &Item, call: Judged<'_>) -> Vec<ExplanationPart> {
        let tool = Action::Tool { name: call.tool_name, arguments: call.arguments };
        match item {
            Item::Command(item) => self.command(item, tool),
            Item::Path { path, origin: Origin::Tool } => {
                vec![self.path(path, Origin::Tool, &[tool, Action::Path(path)])]
            }
            Item::Path { path, origin } => vec![self.path(path, *origin, &[Action::Path(path)])],
            Item::Unknown(text) => vec![self.unknown(text)],
            Item::Impossible(why) => {
                let reason = DecisionReason::Default(excerpt(why));
                vec![part(format!("call {}", excerpt(call.tool_name)), Decision::Deny, reason, Danger::Safe)]
            }
            Item::Fetch { host } => vec![self.fetch(host, tool)],
            Item::Named { name } => {
                let actions = [tool, Action::Named { tool: call.tool_name, name }];
                let action = format!("call {} {}", excerpt(call.tool_name), excerpt(name));
                let rule = format!("{}({name})", agent_rule_name(call.tool_name));
                vec![self.plain_call(action, &actions, call, rule)]
            }
            Item::Call => {
                let mut actions = vec![tool];
                // A skill is named by a rule of its own, though it is a call like any other.
                if let Some(name) = call.arguments.get("name").or(call.arguments.get("skill"))
                    && let Some(name) = name.as_str()
                {
                    actions.push(Action::Named { tool: call.tool_name, name });
                }
                let action = format!("call {}", excerpt(call.tool_name));
                vec![self.plain_call(action, &actions, call, call.tool_name.to_owned())]
            }
        }
    }

    /// A tool about which only its name and its effect are known.
    fn plain_call(
        &self,
        action: String,
        actions: &[Action<'_>],
        call: Judged<'_>,
        rule: String,
    ) -> ExplanationPart {
        let kind = kind_of(call.tool_name);
        let rule = self.offered(rule, actions);
        let danger = match call.effect {
            Effect::Pure => Danger::Safe,
            Effect::Idempotent | Effect::Unsafe => Danger::Moderate,
        };
        if let Some((decision, reason)) = self.by_rule(actions) {
            return part(action, decision, reason, danger);
        }
        match (kind, call.effect) {
            (ToolKind::Internal, _) => {
                let reason = DecisionReason::Default("it touches nothing outside the conversation".into());
                part(action, Decision::Allow, reason, Danger::Safe)
            }
            // A server says itself that its tools only look, so that is not enough.
            (ToolKind::Mcp, _) => {
                let reason = DecisionReason::Default("no rule allows it; it runs on an MCP server".into());
                suggesting(part(action, Decision::Ask, reason, danger.max(Danger::Moderate)), rule)
            }
            (_, Effect::Pure) => {
                part(action, Decision::Allow, DecisionReason::Default("the tool only looks".into()), danger)
            }
            (_, Effect::Idempotent | Effect::Unsafe) => {
                let reason = DecisionReason::Default("no rule allows it; the tool changes something".into());
                suggesting(part(action, Decision::Ask, reason, danger), rule)
            }
        }
    }

    fn fetch(&self, host: &str, tool: Action<'_>) -> ExplanationPart {
        let action = format!("fetch from {}", excerpt(host));
        let actions = [tool, Action::Fetch { host }];
        match self.by_rule(&actions) {
            Some((decision, reason)) => part(action, decision, reason, Danger::Moderate),
            None => {
                let reason = DecisionReason::Default("no rule allows it; it reaches the network".into());
                let rule = self.offered(format!("WebFetch(domain:{host})"), &actions);
                suggesting(part(action, Decision::Ask, reason, Danger::Moderate), rule)
            }
        }
    }

    /// What cannot be known may run only where every command may.
    fn unknown(&self, text: &str) -> ExplanationPart {
        let shown = format!("unknown part: {}", excerpt(text));
        match self.rule_for_all_commands() {
            Some(bound) => part(shown, Decision::Allow, named(bound), Danger::Dangerous),
            None => {
                let reason = DecisionReason::Default("what cannot be analysed is asked about".into());
                part(shown, Decision::Ask, reason, Danger::Dangerous)
            }
        }
    }

    /// A command, and the paths among its words as far as they matter.
    fn command(&self, item: &CommandItem, tool: Action<'_>) -> Vec<ExplanationPart> {
        let (danger, why) = (self.surroundings.shell.danger)(&item.command);
        let (judged, seen) = self.command_alone(item, &[tool, Action::Command(&item.words)], danger, why);
        let access = if danger == Danger::Safe { Access::Read } else { Access::Write };
        let mut parts = vec![judged];
        for word in &item.paths {
            // One word may be read in several ways that lead to the same place.
            let found = self.word(word, seen, access).filter(|found| !parts.contains(found));
            parts.extend(found);
        }
        parts
    }

    fn command_alone(
        &self,
        item: &CommandItem,
        actions: &[Action<'_>],
        danger: Danger,
        why: &str,
    ) -> (ExplanationPart, Seen) {
        let action = format!("run `{}`", excerpt(&item.command.text));
        for list in [RuleKind::Deny, RuleKind::Ask] {
            if let Some(bound) = self.find(list, actions) {
                let decision = if list == RuleKind::Deny { Decision::Deny } else { Decision::Ask };
                return (part(action, decision, named(bound), danger), Seen::Words(0));
            }
        }
        if danger == Danger::Critical {
            let reason = DecisionReason::Default(format!("always asked about: {why}"));
            return (part(action, Decision::Ask, reason, danger), Seen::Words(0));
        }
        if item.transparent {
            let reason = DecisionReason::Default("it only runs the next command".into());
            return (
                part(action, Decision::Allow, reason, Danger::Safe),
                Seen::Words(item.command.words.len()),
            );
        }
        if let Some(bound) = self.rule_for_all_commands() {
            return (part(action, Decision::Allow, named(bound), danger), Seen::Everything);
        }
        let fitting: Vec<&BoundRule> =
            self.all(RuleKind::Allow).filter(|bound| any(bound, actions)).collect();
        for bound in &fitting {
            if let Some(seen) = self.seen(bound, item, danger) {
                return (part(action, Decision::Allow, named(bound), danger), seen);
            }
        }
        let is_plain = item.words.plain.is_some();
        let harmless = match (danger, self.sandboxed) {
            (Danger::Safe, _) => Some("it only looks"),
            // The sandbox opens the repository to it, so somebody has to have agreed.
            (Danger::Moderate, SandboxedCommands::Run) if changes_repository(&item.command) => None,
            (Danger::Moderate, SandboxedCommands::Run) => Some("it runs in the sandbox"),
            (Danger::Moderate, SandboxedCommands::Ask) | (Danger::Dangerous | Danger::Critical, _) => None,
        };
        if let (Some(why), true) = (harmless, is_plain) {
            return (
                part(action, Decision::Allow, DecisionReason::Default(why.into()), danger),
                Seen::Words(0),
            );
        }
        let reason = match fitting.first() {
            Some(bound) => DecisionReason::NotCovered {
                rule: bound.rule.text().to_owned(),
                source: bound.source,
                why: why.to_owned(),
            },
            None if !is_plain => DecisionReason::Default(unclear(&item.command)),
            None => DecisionReason::Default(format!("no rule allows it; {why}")),
        };
        let rule = item
            .words
            .plain
            .as_deref()
            .and_then(|plain| suggestion::of_command(plain, &item.command, danger));
        let rule = rule.filter(|rule| self.would_cover(rule, item, danger));
        (suggesting(part(action, Decision::Ask, reason, danger), rule), Seen::Words(0))
    }

    /// A word of a command as a path: nothing where it means no harm.
    fn word(&self, word: &WordPath, seen: Seen, access: Access) -> Option<ExplanationPart> {
        if word.path.starts_with('~') && seen != Seen::Everything {
            let reason = DecisionReason::Default("whose home it means cannot be known".into());
            let action = format!("use {}", excerpt(&word.path));
            return Some(part(action, Decision::Ask, reason, Danger::Dangerous));
        }
        let path = match self.surroundings.word_path(word, access)? {
            Ok(path) => path,
            Err(error) => {
                let reason = DecisionReason::Default(excerpt(&error.to_string()));
                let action = format!("use {}", excerpt(&word.path));
                return Some(part(action, Decision::Ask, reason, Danger::Dangerous));
            }
        };
        // What changes a file has to be able to read it, and a rule against reading holds for both.
        let read = NamedPath { access: Access::Read, ..path.clone() };
        let actions = [Action::Path(&path), Action::Path(&read)];
        let judged = match word.index {
            Some(_) => self.path(&path, Origin::Word, &actions),
            None => self.path(&path, Origin::Word, &[]),
        };
        let by_rule = matches!(judged.reason, DecisionReason::Rule { .. });
        let was_seen = match (seen, word.index) {
            (Seen::Everything, _) => true,
            (Seen::Words(count), Some(index)) => index < count,
            (Seen::Words(_), None) => false,
        };
        let matters = judged.decision != Decision::Allow && (by_rule || !was_seen);
        matters.then_some(judged)
    }

    fn path(&self, path: &NamedPath, origin: Origin, actions: &[Action<'_>]) -> ExplanationPart {
        let shown = excerpt(&self.surroundings.workspace.shown(&path.real).to_string());
        let shown = if shown.is_empty() { ".".to_owned() } else { shown };
        // What a command does with a word can only be guessed.
        let verb = if origin == Origin::Word { "use" } else { "change" };
        let (action, danger) = match path.access {
            Access::Read => {
                (format!("read {shown}"), if path.inside { Danger::Safe } else { Danger::Moderate })
            }
            Access::Write if path.inside && !path.protected => (format!("{verb} {shown}"), Danger::Moderate),
            Access::Write => (format!("{verb} {shown}"), Danger::Dangerous),
        };
        for list in [RuleKind::Deny, RuleKind::Ask] {
            if let Some(bound) = self.find(list, actions) {
                let decision = if list == RuleKind::Deny { Decision::Deny } else { Decision::Ask };
                return part(action, decision, named(bound), danger);
            }
        }
        if origin != Origin::Tool && SINKS.iter().any(|sink| path.written.as_os_str() == *sink) {
            return part(
                action,
                Decision::Allow,
                DecisionReason::Default("it keeps nothing".into()),
                Danger::Safe,
            );
        }
        if path.access == Access::Write && path.protected {
            let why = "it is protected: settings of agents, hooks and .git are always asked about";
            return part(action, Decision::Ask, DecisionReason::Default(why.into()), danger);
        }
        let reaches = |bound: &&BoundRule| path.inside || names_paths(bound) || path.access == Access::Read;
        if let Some(bound) = self.all(RuleKind::Allow).filter(reaches).find(|bound| any(bound, actions)) {
            return part(action, Decision::Allow, named(bound), danger);
        }
        let (decision, why) = self.path_default(path, origin);
        let judged = part(action, decision, DecisionReason::Default(why.into()), danger);
        let rule = (decision == Decision::Ask).then(|| suggestion::of_path(path)).flatten();
        suggesting(judged, rule)
    }

    fn path_default(&self, path: &NamedPath, origin: Origin) -> (Decision, &'static str) {
        match (path.access, path.inside, origin) {
            (Access::Read, true, _) => (Decision::Allow, "it is in the workspace"),
            (Access::Read, false, _) if self.readable.iter().any(|folder| path.real.starts_with(folder)) => {
                (Decision::Allow, "it is what tools have put there to be read")
            }
            (_, false, Origin::Word) if !is_there(path) => (Decision::Allow, "there is no such path"),
            (Access::Read | Access::Write, false, _) => (Decision::Ask, "it is outside the workspace"),
            (Access::Write, true, Origin::Word) => (Decision::Allow, "it is in the workspace"),
            (Access::Write, true, Origin::Tool | Origin::Redirection) => match self.mode {
                PermissionMode::AcceptEdits => (Decision::Allow, "edits in the workspace are accepted"),
                PermissionMode::Default
                | PermissionMode::Plan
                | PermissionMode::DontAsk
                | PermissionMode::BypassPermissions => {
                    (Decision::Ask, "no rule allows it; edits are asked about")
                }
            },
        }
    }

    /// Whether the call would change anything, as plan mode sees it.
    fn changes(&self, call: Judged<'_>, items: &[Item]) -> Changes {
        let something = match kind_of(call.tool_name) {
            ToolKind::Internal | ToolKind::Fetch | ToolKind::Read => false,
            ToolKind::Edit => true,
            ToolKind::Mcp | ToolKind::Named | ToolKind::Other => call.effect != Effect::Pure,
            ToolKind::Shell => items.iter().any(|item| match item {
                Item::Command(item) => {
                    let (danger, _) = (self.surroundings.shell.danger)(&item.command);
                    !item.transparent && (danger != Danger::Safe || item.words.plain.is_none())
                }
                Item::Path { path, .. } => {
                    path.access == Access::Write
                        && !SINKS.iter().any(|sink| path.written.as_os_str() == *sink)
                }
                Item::Unknown(_) => true,
                Item::Impossible(_) | Item::Fetch { .. } | Item::Named { .. } | Item::Call => false,
            }),
        };
        if something { Changes::Something } else { Changes::Nothing }
    }

    /// How many words of a command of this danger the rule has seen; nothing where it does not reach so far.
    ///
    /// A rule covers what is no more dangerous than the words it names: `Bash(find *)` was not written with `-exec` in
    /// mind, while who writes `Bash(git push *)` means to push.
    fn seen(&self, bound: &BoundRule, item: &CommandItem, danger: Danger) -> Option<Seen> {
        let Pattern::Command(pattern) = bound.rule.pattern() else { return Some(Seen::Words(0)) };
        if pattern.is_exact() {
            return Some(Seen::Words(usize::MAX));
        }
        if *pattern == CommandPattern::Any {
            return Some(Seen::Everything);
        }
        let words = pattern.named_words();
        // `Bash(cat src/*)` was not written with `src/../..` in mind.
        let last = words.len().checked_sub(1).and_then(|last| item.command.words.get(last)?.as_deref());
        let rest = pattern.half_word().and_then(|half| last?.strip_prefix(half));
        let leads_up = rest.is_some_and(|rest| rest.split('/').any(|part| part == ".."));
        let count = if leads_up { words.len() - 1 } else { words.len() };
        let named = if words.is_empty() {
            Danger::Moderate
        } else {
            let text = words.join(" ");
            let words = words.iter().map(|word| Some((*word).to_owned())).collect();
            let command = SimpleCommand { words, text, assignments: Vec::new(), folder: Some(String::new()) };
            (self.surroundings.shell.danger)(&command).0.max(Danger::Moderate)
        };
        (danger <= named).then_some(Seen::Words(count))
    }

    /// The rule that allows every command. What others forbid could hide in what is unknown, so there must be no others.
    fn rule_for_all_commands(&self) -> Option<&BoundRule> {
        let restricts =
            |bound: &BoundRule| matches!(bound.rule.pattern(), Pattern::Command(_) | Pattern::Path { .. });
        if [RuleKind::Deny, RuleKind::Ask].into_iter().any(|list| self.all(list).any(restricts)) {
            return None;
        }
        self.all(RuleKind::Allow)
            .find(|bound| matches!(bound.rule.pattern(), Pattern::Command(CommandPattern::Any)))
    }

    /// The rule, if it says exactly what is asked about: a name may hold what a rule takes for a pattern.
    fn offered(&self, rule: String, actions: &[Action<'_>]) -> Option<String> {
        let exact = !rule.contains(|character: char| character == '*' || character.is_control());
        let bound = suggestion::bound(&rule, self.policy.pattern_roots()).filter(|_| exact)?;
        any(&bound, actions).then_some(rule)
    }

    fn would_cover(&self, rule: &str, item: &CommandItem, danger: Danger) -> bool {
        let roots = self.policy.pattern_roots();
        suggestion::bound(rule, roots).is_some_and(|bound| {
            bound.matches(&Action::Command(&item.words)) && self.seen(&bound, item, danger).is_some()
        })
    }

    fn by_rule(&self, actions: &[Action<'_>]) -> Option<(Decision, DecisionReason)> {
        [(RuleKind::Deny, Decision::Deny), (RuleKind::Ask, Decision::Ask), (RuleKind::Allow, Decision::Allow)]
            .into_iter()
            .find_map(|(list, decision)| self.find(list, actions).map(|bound| (decision, named(bound))))
    }

    fn find(&self, list: RuleKind, actions: &[Action<'_>]) -> Option<&BoundRule> {
        self.all(list).find(|bound| any(bound, actions))
    }

    fn all(&self, list: RuleKind) -> impl Iterator<Item = &BoundRule> {
        self.policy.of(list).chain(self.session.iter().filter(move |bound| bound.rule.list() == list))
    }
}

fn any(bound: &BoundRule, actions: &[Action<'_>]) -> bool {
    actions.iter().any(|action| bound.matches(action))
}

fn named(bound: &BoundRule) -> DecisionReason {
    DecisionReason::Rule { rule: bound.rule.text().to_owned(), list: bound.rule.list(), source: bound.source }
}

fn names_paths(bound: &BoundRule) -> bool {
    matches!(bound.rule.pattern(), Pattern::Path { pattern: Some(_), .. })
}

/// Whether a path could be read, or made because some folder above it is there. The root alone is not enough: a word such
/// as `/api/users` is rarely a path.
fn is_there(path: &NamedPath) -> bool {
    let found = |path: &std::path::Path| path.symlink_metadata().is_ok();
    match path.access {
        _ if path.fleeting => true,
        Access::Read => found(&path.real),
        Access::Write => {
            let mut above = path.real.ancestors().skip(1).filter(|folder| folder.parent().is_some());
            path.real.parent().is_none() || found(&path.real) || above.any(found)
        }
    }
}

fn unclear(command: &SimpleCommand) -> String {
    let set: Vec<String> = command.assignments.iter().map(|(name, _)| excerpt(name)).collect();
    if set.is_empty() {
        "no rule allows it; not all its words can be known".into()
    } else {
        format!("no rule allows it; it sets {}", set.join(", "))
    }
}

fn agent_rule_name(tool_name: &str) -> &str {
    if tool_name == "agent" { "Agent" } else { tool_name }
}

fn part(action: String, decision: Decision, reason: DecisionReason, danger: Danger) -> ExplanationPart {
    ExplanationPart { action, decision, reason, danger, suggestion: None }
}

/// The part with a rule that may be offered for it: never for what is dangerous.
fn suggesting(part: ExplanationPart, rule: Option<String>) -> ExplanationPart {
    let suggestion = rule.filter(|_| part.danger <= Danger::Moderate);
    ExplanationPart { suggestion, ..part }
}
