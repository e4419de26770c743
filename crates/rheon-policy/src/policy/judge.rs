//! Decides a call: each action by rules, then by defaults. The strictest action wins, and the permission mode applies
//! last.

use std::path::PathBuf;

use rheon_types::event::{Danger, PermissionMode};
use rheon_types::{CallGrant, Effect, NetworkGrant};
use serde_json::Value;

use crate::policy::call::{Action, CallContext, CommandItem, Item, Origin, WordOrigin, WordPath};
use crate::policy::explanation::{Decision, DecisionReason, Explanation, ExplanationPart};
use crate::policy::names::{SINKS, ToolKind, kind_of};
use crate::policy::paths::NamedPath;
use crate::policy::policy_set::{BoundRule, Policy};
use crate::policy::rule::{Pattern, RuleKind};
use crate::policy::suggestion;
use crate::policy::truncation::excerpt;
use crate::policy::wildcard::CommandPattern;
use crate::shell::{SimpleCommand, UNKNOWN_OPTION, changes_repository, is_loopback_host};
use crate::workspace::Access;

/// What to do with sandboxed commands that no rule matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SandboxedCommands {
    /// Ask, as for edits.
    #[default]
    Ask,
    /// Run them, whatever they are. Only for a sandbox that blocks the network, hides keys, and prevents writes outside
    /// the workspace.
    Run,
}

/// Everything a decision depends on.
pub(crate) struct Judge<'a> {
    pub(crate) policy: &'a Policy,
    /// Rules from answers in this session.
    pub(crate) session: &'a [BoundRule],
    pub(crate) mode: PermissionMode,
    pub(crate) sandboxed: SandboxedCommands,
    /// Whether a full-strength sandbox keeps commands from files that rules deny.
    pub(crate) holds_commands: bool,
    /// What commands reach of the network without a question; `None` if no sandbox holds them.
    pub(crate) network: Option<&'a NetworkGrant>,
    /// What the sandbox refused when this line last ran.
    pub(crate) refusal: Option<&'a CallGrant>,
    /// Directories outside the workspace that may still be read.
    pub(crate) readable: &'a [PathBuf],
    pub(crate) context: CallContext<'a>,
}

/// How much of a command an allow rule spells out. Paths in that part need no further permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coverage {
    /// This many words from the start.
    Words(usize),
    /// The whole command, in any directory.
    Everything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    Nothing,
    Something,
}

/// The call to decide.
#[derive(Clone, Copy)]
pub(crate) struct CallToJudge<'a> {
    pub(crate) tool_name: &'a str,
    pub(crate) arguments: &'a Value,
    pub(crate) effect: Effect,
}

impl Judge<'_> {
    pub(crate) fn judge(&self, call: CallToJudge<'_>) -> Explanation {
        let items = self.context.take_apart(call.tool_name, call.arguments);
        let changes = self.changes(call, &items);
        let outside = self.runs_outside(&items);
        let mut parts: Vec<ExplanationPart> = self.arguments(call, &items).into_iter().collect();
        for item in &items {
            parts.extend(self.item(item, call));
            if let Item::Command(item) = item {
                let command =
                    parts.iter().rposition(|part| part.is_command()).and_then(|at| parts.get(at)).cloned();
                parts.extend(self.reach(item, command.as_ref(), outside));
            }
        }
        if kind_of(call.tool_name) == ToolKind::Shell {
            parts.extend(self.refused());
            parts.extend(self.allowed_hosts());
        }
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
                | PermissionMode::Auto
                | PermissionMode::Plan
                | PermissionMode::DontAsk
                | PermissionMode::BypassPermissions,
            ) => by_rules,
        };
        let judged = |item: &Item| match item {
            Item::Path { path, origin: Origin::Tool } => Some(path.real.clone()),
            _ => None,
        };
        let files = items.iter().filter_map(judged).collect();
        Explanation { decision, by_rules, mode: self.mode, parts, files }
    }

    /// A line of bash may have no command of its own to match with the arguments of the call.
    fn arguments(&self, call: CallToJudge<'_>, items: &[Item]) -> Option<ExplanationPart> {
        let is_matched = items.iter().any(|item| matches!(item, Item::Command(_)));
        if kind_of(call.tool_name) != ToolKind::Shell || is_matched {
            return None;
        }
        let about = Action::Tool { name: call.tool_name, arguments: call.arguments };
        let is_argument = |bound: &&BoundRule| {
            matches!(bound.rule.pattern(), Pattern::Argument { .. }) && bound.matches(&about)
        };
        for (list, decision) in [(RuleKind::Deny, Decision::Deny), (RuleKind::Ask, Decision::Ask)] {
            if let Some(bound) = self.all(list).find(is_argument) {
                let action = format!("call {}", excerpt(call.tool_name));
                return Some(part(action, decision, named(bound), Danger::Safe));
            }
        }
        None
    }

    fn item(&self, item: &Item, call: CallToJudge<'_>) -> Vec<ExplanationPart> {
        let tool = Action::Tool { name: call.tool_name, arguments: call.arguments };
        match item {
            Item::Command(item) => self.command(item, tool),
            Item::Path { path, origin: Origin::Tool } => {
                vec![self.path(path, Origin::Tool, &[tool, Action::Path(path)])]
            }
            Item::Path { path, origin } => vec![self.path(path, *origin, &[Action::Path(path)])],
            Item::Possible(words) => self.possible(words).into_iter().collect(),
            Item::Unknown(text) => vec![self.unknown(text, call)],
            Item::Hidden(text) => vec![self.hidden(text, call)],
            Item::UnknownFiles { text, access } => vec![self.unknown_files(text, *access, call)],
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
                // A skill is matched by its name, although it is a call like any other.
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

    /// A tool of which only the name and the effect are known.
    fn plain_call(
        &self,
        action: String,
        actions: &[Action<'_>],
        call: CallToJudge<'_>,
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
                let reason = DecisionReason::Default("it affects only the conversation".into());
                part(action, Decision::Allow, reason, Danger::Safe)
            }
            // MCP servers declare their own tools as read-only, so that is not enough.
            (ToolKind::Mcp, _) => {
                let reason = DecisionReason::Default("no rule allows it; it runs on an MCP server".into());
                suggesting(part(action, Decision::Ask, reason, danger.max(Danger::Moderate)), rule)
            }
            (_, Effect::Pure) => {
                part(action, Decision::Allow, DecisionReason::Default("the tool only reads".into()), danger)
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
            // A command may do the same, and nothing leaves the session.
            None if self.is_within_session(host) => {
                let reason = DecisionReason::Default("it fetches from a server of this session".into());
                part(action, Decision::Allow, reason, Danger::Safe)
            }
            None => {
                let reason = DecisionReason::Default("no rule allows it; it accesses the network".into());
                let rule = self.offered(format!("WebFetch(domain:{host})"), &actions);
                suggesting(part(action, Decision::Ask, reason, Danger::Moderate), rule)
            }
        }
    }

    /// Whether commands that need no approval reach only the session's own servers at a host.
    fn is_within_session(&self, host: &str) -> bool {
        let is_confined = matches!(self.network, Some(NetworkGrant::None | NetworkGrant::Hosts(_)));
        is_confined && self.sandboxed == SandboxedCommands::Run && is_loopback_host(host)
    }

    /// A command, and the paths among its words as far as they matter.
    fn command(&self, item: &CommandItem, tool: Action<'_>) -> Vec<ExplanationPart> {
        let (danger, why) = self.danger_of(item);
        let (judged, seen) = self.command_alone(item, &[tool, Action::Command(&item.words)], danger, why);
        let access = if danger == Danger::Safe { Access::Read } else { Access::Write };
        let mut parts = vec![judged];
        if item.uses_unknown_paths {
            parts.extend(self.unknown_paths(&item.command, danger));
        }
        for word in &item.paths {
            // Several readings of one word may lead to the same path.
            let found = self.word(word, seen, access).filter(|found| !parts.contains(found));
            parts.extend(found);
        }
        parts
    }

    /// How dangerous a command is. What `xargs` adds to it counts as files: a rule for the command covers them.
    pub(crate) fn danger_of(&self, item: &CommandItem) -> (Danger, &'static str) {
        let found = (self.context.shell.danger)(&item.command);
        // The settings of a repository decide what even a look at it runs.
        if found.0 == Danger::Safe
            && let Some(why) = self.context.repository_programs(&item.command)
        {
            return (Danger::Dangerous, why);
        }
        match item.command.words.split_last() {
            Some((None, words)) if item.command.input_words && found.1 == UNKNOWN_OPTION => {
                let command = SimpleCommand { words: words.to_vec(), ..item.command.clone() };
                (self.context.shell.danger)(&command)
            }
            Some(_) | None => found,
        }
    }

    fn command_alone(
        &self,
        item: &CommandItem,
        actions: &[Action<'_>],
        danger: Danger,
        why: &str,
    ) -> (ExplanationPart, Coverage) {
        let action = format!("run `{}`", excerpt(&item.command.text));
        for list in [RuleKind::Deny, RuleKind::Ask] {
            if let Some(bound) = self.find(list, actions) {
                let decision = if list == RuleKind::Deny { Decision::Deny } else { Decision::Ask };
                return (part(action, decision, named(bound), danger), Coverage::Words(0));
            }
            if let Some((decision, reason)) = self.at_stake(list, &item.words) {
                return (part(action, decision, reason, danger), Coverage::Words(0));
            }
        }
        if danger == Danger::Critical {
            let reason = DecisionReason::Default(format!("always needs approval: {why}"));
            return (part(action, Decision::Ask, reason, danger), Coverage::Words(0));
        }
        if item.transparent {
            let reason = DecisionReason::Default("it only runs the next command".into());
            return (
                part(action, Decision::Allow, reason, Danger::Safe),
                Coverage::Words(item.command.words.len()),
            );
        }
        if let Some(bound) = self.rule_for_all_commands() {
            return (part(action, Decision::Allow, named(bound), danger), Coverage::Everything);
        }
        let fitting: Vec<&BoundRule> =
            self.all(RuleKind::Allow).filter(|bound| any(bound, actions)).collect();
        for bound in &fitting {
            if let Some(seen) = self.seen(bound, item, danger) {
                return (part(action, Decision::Allow, named(bound), danger), seen);
            }
        }
        let is_plain = item.words.plain.is_some() || item.reads_listed_files;
        if danger == Danger::Safe && is_plain {
            let reason = DecisionReason::Default("it only reads".into());
            return (part(action, Decision::Allow, reason, danger), Coverage::Words(0));
        }
        if self.sandboxed == SandboxedCommands::Run && !loses_history(&item.command, danger) {
            return (part(action, Decision::Allow, in_sandbox(), danger), Coverage::Words(0));
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
            .and_then(|plain| suggestion::of_command(plain, &item.command, danger))
            .filter(|rule| !item.has_patterns || rule.ends_with(" *)"));
        let rule = rule.filter(|rule| self.would_cover(rule, item, danger));
        let wider = suggestion::wider(&item.command).filter(|rule| self.would_cover(rule, item, danger));
        let judged = suggesting(part(action, Decision::Ask, reason, danger), rule);
        (ExplanationPart { wider, ..judged }, Coverage::Words(0))
    }

    /// A word of a command as a path. `None` if it is harmless.
    fn word(&self, word: &WordPath, seen: Coverage, access: Access) -> Option<ExplanationPart> {
        if word.origin == WordOrigin::Formed {
            return self.formed(word);
        }
        if word.path.starts_with('~') && seen != Coverage::Everything {
            let reason = DecisionReason::Default("the home directory it refers to is unknown".into());
            let action = format!("use {}", excerpt(&word.path));
            return Some(part(action, Decision::Ask, reason, Danger::Dangerous));
        }
        let path = match self.context.word_path(word, access)? {
            Ok(path) => path,
            Err(error) => {
                let reason = DecisionReason::Default(excerpt(&error.to_string()));
                let action = format!("use {}", excerpt(&word.path));
                return Some(part(action, Decision::Ask, reason, Danger::Dangerous));
            }
        };
        // Changing a file includes reading it, so a rule against reading applies to both.
        let read = NamedPath { access: Access::Read, ..path.clone() };
        let actions = [Action::Path(&path), Action::Path(&read)];
        let judged = match word.index {
            Some(_) => self.path(&path, Origin::Word, &actions),
            None => self.path(&path, Origin::Word, &[]),
        };
        let by_rule = matches!(judged.reason, DecisionReason::Rule { .. });
        if self.sandboxed == SandboxedCommands::Run
            && !by_rule
            && !path.protected
            && self.is_common(&path.real)
        {
            return None;
        }
        let was_seen = match (seen, word.index) {
            (Coverage::Everything, _) => true,
            (Coverage::Words(count), Some(index)) => index < count,
            (Coverage::Words(_), None) => false,
        };
        match (judged.decision, by_rule || !was_seen) {
            (Decision::Allow, _) => (!judged.grant.is_empty()).then_some(judged),
            (_, true) => Some(judged),
            // The rule that allows the command spells out the path. `Bash(*)` spells out nothing.
            (_, false) if seen != Coverage::Everything && !judged.grant.is_empty() => {
                let reason = DecisionReason::Default("the rule that allows the command names it".into());
                Some(ExplanationPart { decision: Decision::Allow, reason, suggestion: None, ..judged })
            }
            (_, false) => None,
        }
    }

    /// A file that a command may create, as far as rules forbid or protect it: the directory it would be in is judged by
    /// itself.
    fn formed(&self, word: &WordPath) -> Option<ExplanationPart> {
        let path = self.context.word_path(word, Access::Write)?.ok()?;
        let judged = self.path(&path, Origin::Word, &[Action::Path(&path)]);
        let by_rule = matches!(judged.reason, DecisionReason::Rule { .. });
        (judged.decision != Decision::Allow && (by_rule || path.protected)).then_some(judged)
    }

    fn path(&self, path: &NamedPath, origin: Origin, actions: &[Action<'_>]) -> ExplanationPart {
        let shown = excerpt(&self.context.workspace.shown(&path.real).to_string());
        let shown = if shown.is_empty() { ".".to_owned() } else { shown };
        // What a command does with a word is a guess.
        let verb = if origin == Origin::Word { "use" } else { "change" };
        let (action, danger) = match path.access {
            Access::Read => (format!("read {shown}"), Danger::Safe),
            Access::Write if path.inside && !path.protected => (format!("{verb} {shown}"), Danger::Moderate),
            Access::Write => (format!("{verb} {shown}"), Danger::Dangerous),
        };
        for list in [RuleKind::Deny, RuleKind::Ask] {
            if let Some(bound) = self.find(list, actions) {
                let decision = if list == RuleKind::Deny { Decision::Deny } else { Decision::Ask };
                return granting(part(action, decision, named(bound), danger), path);
            }
        }
        if origin != Origin::Tool && SINKS.iter().any(|sink| path.written.as_os_str() == *sink) {
            return part(
                action,
                Decision::Allow,
                DecisionReason::Default("writing to it stores nothing".into()),
                Danger::Safe,
            );
        }
        if path.access == Access::Write && path.protected {
            let why = "it is protected: agent settings, hooks and .git always need approval";
            return granting(part(action, Decision::Ask, DecisionReason::Default(why.into()), danger), path);
        }
        let reaches = |bound: &&BoundRule| path.inside || names_paths(bound) || path.access == Access::Read;
        if let Some(bound) = self.all(RuleKind::Allow).filter(reaches).find(|bound| any(bound, actions)) {
            return granting(part(action, Decision::Allow, named(bound), danger), path);
        }
        let (decision, why) = self.path_default(path, origin);
        let judged = part(action, decision, DecisionReason::Default(why.into()), danger);
        if decision != Decision::Ask {
            return judged;
        }
        let judged = granting(suggesting(judged, suggestion::of_path(path)), path);
        ExplanationPart { wider: suggestion::of_dir(path), ..judged }
    }

    fn path_default(&self, path: &NamedPath, origin: Origin) -> (Decision, &'static str) {
        match (path.access, path.inside, origin) {
            (Access::Read, true, _) => (Decision::Allow, "it is in the workspace"),
            (Access::Read, false, _) if self.readable.iter().any(|dir| path.real.starts_with(dir)) => {
                (Decision::Allow, "tools put it there to be read")
            }
            (_, false, Origin::Redirection)
                if self.sandboxed == SandboxedCommands::Run && self.is_common(&path.real) =>
            {
                (Decision::Allow, "it runs in the sandbox")
            }
            (_, false, Origin::Word) if !is_there(path) => (Decision::Allow, "the path does not exist"),
            (Access::Read | Access::Write, false, _) => (Decision::Ask, "it is outside the workspace"),
            (Access::Write, true, Origin::Word) => (Decision::Allow, "it is in the workspace"),
            (Access::Write, true, Origin::Redirection) if self.sandboxed == SandboxedCommands::Run => {
                (Decision::Allow, "it runs in the sandbox")
            }
            (Access::Write, true, Origin::Tool | Origin::Redirection) => match self.mode {
                PermissionMode::AcceptEdits | PermissionMode::Auto => {
                    (Decision::Allow, "edits in the workspace are accepted")
                }
                PermissionMode::Default
                | PermissionMode::Plan
                | PermissionMode::DontAsk
                | PermissionMode::BypassPermissions => {
                    (Decision::Ask, "no rule allows it; edits need approval")
                }
            },
        }
    }

    /// Whether the call would change anything in terms of plan mode.
    fn changes(&self, call: CallToJudge<'_>, items: &[Item]) -> Changes {
        let something = match kind_of(call.tool_name) {
            ToolKind::Internal | ToolKind::Fetch | ToolKind::Read => false,
            ToolKind::Edit => true,
            ToolKind::Mcp | ToolKind::Named | ToolKind::Other => call.effect != Effect::Pure,
            ToolKind::Shell => items.iter().any(|item| match item {
                Item::Command(item) => {
                    let is_plain = item.words.plain.is_some() || item.reads_listed_files;
                    !item.transparent && (self.danger_of(item).0 != Danger::Safe || !is_plain)
                }
                Item::Path { path, .. } => {
                    path.access == Access::Write
                        && !SINKS.iter().any(|sink| path.written.as_os_str() == *sink)
                }
                Item::Unknown(_) | Item::Hidden(_) => true,
                Item::UnknownFiles { .. } => true,
                Item::Possible(_)
                | Item::Impossible(_)
                | Item::Fetch { .. }
                | Item::Named { .. }
                | Item::Call => false,
            }),
        };
        if something { Changes::Something } else { Changes::Nothing }
    }

    /// How many words of a command the rule covers at this danger; `None` if it does not cover the command.
    ///
    /// A rule covers commands no more dangerous than the words it spells out. `Bash(find *)` was not written with
    /// `-exec` in mind, but `Bash(git push *)` is meant to push.
    fn seen(&self, bound: &BoundRule, item: &CommandItem, danger: Danger) -> Option<Coverage> {
        let (Pattern::Command(pattern) | Pattern::Unsandboxed(pattern)) = bound.rule.pattern() else {
            return Some(Coverage::Words(0));
        };
        if pattern.is_exact() {
            return Some(Coverage::Words(usize::MAX));
        }
        if *pattern == CommandPattern::Any {
            return Some(Coverage::Everything);
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
            (self.context.shell.danger)(&spelled_out(&words)).0.max(Danger::Moderate)
        };
        (danger <= named).then_some(Coverage::Words(count))
    }

    /// The rule that allows every command. Unknown parts could contain what another rule denies, so there must be no
    /// such rule.
    pub(crate) fn rule_for_all_commands(&self) -> Option<&BoundRule> {
        let restricts =
            |bound: &BoundRule| matches!(bound.rule.pattern(), Pattern::Command(_) | Pattern::Path { .. });
        if [RuleKind::Deny, RuleKind::Ask].into_iter().any(|list| self.all(list).any(restricts)) {
            return None;
        }
        self.all(RuleKind::Allow)
            .find(|bound| matches!(bound.rule.pattern(), Pattern::Command(CommandPattern::Any)))
    }

    /// Returns the rule only if it matches exactly what needs approval: a name may contain characters that a rule
    /// treats as a pattern.
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

    pub(crate) fn find(&self, list: RuleKind, actions: &[Action<'_>]) -> Option<&BoundRule> {
        self.all(list).find(|bound| any(bound, actions))
    }

    pub(crate) fn all(&self, list: RuleKind) -> impl Iterator<Item = &BoundRule> {
        self.policy.of(list).chain(self.session.iter().filter(move |bound| bound.rule.list() == list))
    }
}

fn any(bound: &BoundRule, actions: &[Action<'_>]) -> bool {
    actions.iter().any(|action| bound.matches(action))
}

pub(crate) fn named(bound: &BoundRule) -> DecisionReason {
    DecisionReason::Rule { rule: bound.rule.text().to_owned(), list: bound.rule.list(), source: bound.source }
}

fn names_paths(bound: &BoundRule) -> bool {
    matches!(bound.rule.pattern(), Pattern::Path { pattern: Some(_), .. })
}

/// Whether the path exists or could be created in an existing directory. The root directory alone does not count: a
/// word such as `/api/users` is rarely a path.
fn is_there(path: &NamedPath) -> bool {
    let found = |path: &std::path::Path| path.symlink_metadata().is_ok();
    match path.access {
        _ if path.per_process => true,
        Access::Read => found(&path.real),
        Access::Write => {
            let mut above = path.real.ancestors().skip(1).filter(|dir| dir.parent().is_some());
            path.real.parent().is_none() || found(&path.real) || above.any(found)
        }
    }
}

fn unclear(command: &SimpleCommand) -> String {
    let set: Vec<String> = command.assignments.iter().map(|(name, _)| excerpt(name)).collect();
    if set.is_empty() {
        "no rule allows it; some of its words are unknown".into()
    } else {
        format!("no rule allows it; it sets {}", set.join(", "))
    }
}

fn agent_rule_name(tool_name: &str) -> &str {
    if tool_name == "agent" { "Agent" } else { tool_name }
}

pub(crate) fn part(
    action: String,
    decision: Decision,
    reason: DecisionReason,
    danger: Danger,
) -> ExplanationPart {
    let grant = CallGrant::default();
    ExplanationPart { action, decision, reason, danger, suggestion: None, wider: None, grant }
}

pub(crate) fn in_sandbox() -> DecisionReason {
    DecisionReason::Default("it runs in the sandbox".into())
}

/// The command that consists of the words a rule spells out.
pub(crate) fn spelled_out(words: &[&str]) -> SimpleCommand {
    let text = words.join(" ");
    let words = words.iter().map(|word| Some((*word).to_owned())).collect();
    SimpleCommand { words, text, dirs: vec![String::new()], ..SimpleCommand::default() }
}

/// Whether a git command may lose what undo does not bring back. Whether it may use the network is another question.
fn loses_history(command: &SimpleCommand, danger: Danger) -> bool {
    let only_fetches = |word: &String| matches!(word.as_str(), "fetch" | "pull");
    danger >= Danger::Dangerous
        && changes_repository(command)
        && !command.words.iter().flatten().any(only_fetches)
}

/// What a path needs beyond the sandbox and the workspace.
fn granting(part: ExplanationPart, path: &NamedPath) -> ExplanationPart {
    let paths = vec![path.real.clone()];
    let grant = match path.access {
        Access::Read if !path.inside => CallGrant { read: paths, ..CallGrant::default() },
        Access::Write if !path.inside || path.protected => CallGrant { write: paths, ..CallGrant::default() },
        Access::Read | Access::Write => CallGrant::default(),
    };
    ExplanationPart { grant, ..part }
}

/// Attaches a suggested rule, unless the part is dangerous.
fn suggesting(part: ExplanationPart, rule: Option<String>) -> ExplanationPart {
    let suggestion = rule.filter(|_| part.danger <= Danger::Moderate);
    ExplanationPart { suggestion, ..part }
}
