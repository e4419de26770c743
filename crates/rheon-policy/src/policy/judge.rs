//! Judging a call: every part by rules, then by defaults; the strictest part wins; the mode has the last word.

use std::path::PathBuf;

use rheon_types::Effect;
use rheon_types::event::{Danger, PermissionMode};
use serde_json::Value;

use crate::policy::call::{Action, CommandItem, Item, Origin, Surroundings, WordPath};
use crate::policy::explanation::{Because, Decision, Explanation, Part};
use crate::policy::names::{Kind, kind_of};
use crate::policy::paths::NamedPath;
use crate::policy::policy_set::{BoundRule, Policy};
use crate::policy::rule::{List, Pattern};
use crate::policy::suggestion;
use crate::policy::visible::brief;
use crate::policy::wildcard::CommandPattern;
use crate::shell::{SimpleCommand, changes_repository};
use crate::workspace::Access;

/// What becomes of commands that no rule mentions, that change the workspace and nothing worse, and that a sandbox holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HeldCommands {
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
    pub(crate) held: HeldCommands,
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
        let parts: Vec<Part> = items.iter().flat_map(|item| self.item(item, call)).collect();
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

    fn item(&self, item: &Item, call: Judged<'_>) -> Vec<Part> {
        let tool = Action::Tool { name: call.tool_name, arguments: call.arguments };
        match item {
            Item::Command(item) => self.command(item, tool),
            Item::Path { path, origin: Origin::Tool } => {
                vec![self.path(path, Origin::Tool, &[tool, Action::Path(path)])]
            }
            Item::Path { path, origin } => vec![self.path(path, *origin, &[Action::Path(path)])],
            Item::Unknown(what) => vec![self.unknown(what)],
            Item::Impossible(why) => {
                let because = Because::Default(brief(why));
                vec![part(format!("call {}", brief(call.tool_name)), Decision::Deny, because, Danger::Safe)]
            }
            Item::Fetch { host } => vec![self.fetch(host, tool)],
            Item::Named { name } => {
                let actions = [tool, Action::Named { tool: call.tool_name, name }];
                let what = format!("call {} {}", brief(call.tool_name), brief(name));
                let rule = format!("{}({name})", agent_rule_name(call.tool_name));
                vec![self.plain_call(what, &actions, call, rule)]
            }
            Item::Call => {
                let mut actions = vec![tool];
                // A skill is named by a rule of its own, though it is a call like any other.
                if let Some(name) = call.arguments.get("name").or(call.arguments.get("skill"))
                    && let Some(name) = name.as_str()
                {
                    actions.push(Action::Named { tool: call.tool_name, name });
                }
                let what = format!("call {}", brief(call.tool_name));
                vec![self.plain_call(what, &actions, call, call.tool_name.to_owned())]
            }
        }
    }

    /// A tool about which only its name and its effect are known.
    fn plain_call(&self, what: String, actions: &[Action<'_>], call: Judged<'_>, rule: String) -> Part {
        let kind = kind_of(call.tool_name);
        let rule = self.offered(rule, actions);
        let danger = match call.effect {
            Effect::Pure => Danger::Safe,
            Effect::Idempotent | Effect::Unsafe => Danger::Moderate,
        };
        if let Some((decision, because)) = self.by_rule(actions) {
            return part(what, decision, because, danger);
        }
        match (kind, call.effect) {
            (Kind::Internal, _) => {
                let because = Because::Default("it touches nothing outside the conversation".into());
                part(what, Decision::Allow, because, Danger::Safe)
            }
            // A server says itself that its tools only look, so that is not enough.
            (Kind::Mcp, _) => {
                let because = Because::Default("no rule allows it; it runs on an MCP server".into());
                suggesting(part(what, Decision::Ask, because, danger.max(Danger::Moderate)), rule)
            }
            (_, Effect::Pure) => {
                part(what, Decision::Allow, Because::Default("the tool only looks".into()), danger)
            }
            (_, Effect::Idempotent | Effect::Unsafe) => {
                let because = Because::Default("no rule allows it; the tool changes something".into());
                suggesting(part(what, Decision::Ask, because, danger), rule)
            }
        }
    }

    fn fetch(&self, host: &str, tool: Action<'_>) -> Part {
        let what = format!("fetch from {}", brief(host));
        let actions = [tool, Action::Fetch { host }];
        match self.by_rule(&actions) {
            Some((decision, because)) => part(what, decision, because, Danger::Moderate),
            None => {
                let because = Because::Default("no rule allows it; it reaches the network".into());
                let rule = self.offered(format!("WebFetch(domain:{host})"), &actions);
                suggesting(part(what, Decision::Ask, because, Danger::Moderate), rule)
            }
        }
    }

    /// What cannot be known may run only where every command may.
    fn unknown(&self, what: &str) -> Part {
        let shown = format!("unknown part: {}", brief(what));
        match self.rule_for_all_commands() {
            Some(bound) => part(shown, Decision::Allow, named(bound), Danger::Dangerous),
            None => {
                let because = Because::Default("what cannot be analysed is asked about".into());
                part(shown, Decision::Ask, because, Danger::Dangerous)
            }
        }
    }

    /// A command, and the paths among its words as far as they matter.
    fn command(&self, item: &CommandItem, tool: Action<'_>) -> Vec<Part> {
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
    ) -> (Part, Seen) {
        let what = format!("run `{}`", brief(&item.command.text));
        for list in [List::Deny, List::Ask] {
            if let Some(bound) = self.find(list, actions) {
                let decision = if list == List::Deny { Decision::Deny } else { Decision::Ask };
                return (part(what, decision, named(bound), danger), Seen::Words(0));
            }
        }
        if danger == Danger::Critical {
            let because = Because::Default(format!("always asked about: {why}"));
            return (part(what, Decision::Ask, because, danger), Seen::Words(0));
        }
        if item.transparent {
            let because = Because::Default("it only runs the next command".into());
            return (
                part(what, Decision::Allow, because, Danger::Safe),
                Seen::Words(item.command.words.len()),
            );
        }
        if let Some(bound) = self.rule_for_all_commands() {
            return (part(what, Decision::Allow, named(bound), danger), Seen::Everything);
        }
        let fitting: Vec<&BoundRule> = self.all(List::Allow).filter(|bound| any(bound, actions)).collect();
        for bound in &fitting {
            if let Some(seen) = self.seen(bound, item, danger) {
                return (part(what, Decision::Allow, named(bound), danger), seen);
            }
        }
        let is_plain = item.words.plain.is_some();
        let harmless = match (danger, self.held) {
            (Danger::Safe, _) => Some("it only looks"),
            // The sandbox opens the repository to it, so somebody has to have agreed.
            (Danger::Moderate, HeldCommands::Run) if changes_repository(&item.command) => None,
            (Danger::Moderate, HeldCommands::Run) => Some("it runs in the sandbox"),
            (Danger::Moderate, HeldCommands::Ask) | (Danger::Dangerous | Danger::Critical, _) => None,
        };
        if let (Some(why), true) = (harmless, is_plain) {
            return (part(what, Decision::Allow, Because::Default(why.into()), danger), Seen::Words(0));
        }
        let because = match fitting.first() {
            Some(bound) => Because::NotCovered {
                rule: bound.rule.text().to_owned(),
                source: bound.source,
                why: why.to_owned(),
            },
            None if !is_plain => Because::Default(unclear(&item.command)),
            None => Because::Default(format!("no rule allows it; {why}")),
        };
        let rule = item
            .words
            .plain
            .as_deref()
            .and_then(|plain| suggestion::of_command(plain, &item.command, danger));
        let rule = rule.filter(|rule| self.would_cover(rule, item, danger));
        (suggesting(part(what, Decision::Ask, because, danger), rule), Seen::Words(0))
    }

    /// A word of a command as a path: nothing where it means no harm.
    fn word(&self, word: &WordPath, seen: Seen, access: Access) -> Option<Part> {
        if word.path.starts_with('~') && seen != Seen::Everything {
            let because = Because::Default("whose home it means cannot be known".into());
            let what = format!("use {}", brief(&word.path));
            return Some(part(what, Decision::Ask, because, Danger::Dangerous));
        }
        let path = match self.surroundings.word_path(word, access)? {
            Ok(path) => path,
            Err(error) => {
                let because = Because::Default(brief(&error.to_string()));
                let what = format!("use {}", brief(&word.path));
                return Some(part(what, Decision::Ask, because, Danger::Dangerous));
            }
        };
        // What changes a file has to be able to read it, and a rule against reading holds for both.
        let read = NamedPath { access: Access::Read, ..path.clone() };
        let actions = [Action::Path(&path), Action::Path(&read)];
        let judged = match word.index {
            Some(_) => self.path(&path, Origin::Word, &actions),
            None => self.path(&path, Origin::Word, &[]),
        };
        let by_rule = matches!(judged.because, Because::Rule { .. });
        let was_seen = match (seen, word.index) {
            (Seen::Everything, _) => true,
            (Seen::Words(count), Some(index)) => index < count,
            (Seen::Words(_), None) => false,
        };
        let matters = judged.decision != Decision::Allow && (by_rule || !was_seen);
        matters.then_some(judged)
    }

    fn path(&self, path: &NamedPath, origin: Origin, actions: &[Action<'_>]) -> Part {
        let shown = brief(&self.surroundings.workspace.shown(&path.real).to_string());
        let shown = if shown.is_empty() { ".".to_owned() } else { shown };
        // What a command does with a word can only be guessed.
        let verb = if origin == Origin::Word { "use" } else { "change" };
        let (what, danger) = match path.access {
            Access::Read => {
                (format!("read {shown}"), if path.inside { Danger::Safe } else { Danger::Moderate })
            }
            Access::Write if path.inside && !path.protected => (format!("{verb} {shown}"), Danger::Moderate),
            Access::Write => (format!("{verb} {shown}"), Danger::Dangerous),
        };
        for list in [List::Deny, List::Ask] {
            if let Some(bound) = self.find(list, actions) {
                let decision = if list == List::Deny { Decision::Deny } else { Decision::Ask };
                return part(what, decision, named(bound), danger);
            }
        }
        if origin != Origin::Tool && SINKS.iter().any(|sink| path.written.as_os_str() == *sink) {
            return part(what, Decision::Allow, Because::Default("it keeps nothing".into()), Danger::Safe);
        }
        if path.access == Access::Write && path.protected {
            let why = "it is protected: settings of agents, hooks and .git are always asked about";
            return part(what, Decision::Ask, Because::Default(why.into()), danger);
        }
        let reaches = |bound: &&BoundRule| path.inside || names_paths(bound) || path.access == Access::Read;
        if let Some(bound) = self.all(List::Allow).filter(reaches).find(|bound| any(bound, actions)) {
            return part(what, Decision::Allow, named(bound), danger);
        }
        let (decision, why) = self.path_default(path, origin);
        let judged = part(what, decision, Because::Default(why.into()), danger);
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
            Kind::Internal | Kind::Fetch | Kind::Read => false,
            Kind::Edit => true,
            Kind::Mcp | Kind::Named | Kind::Other => call.effect != Effect::Pure,
            Kind::Shell => items.iter().any(|item| match item {
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
        if [List::Deny, List::Ask].into_iter().any(|list| self.all(list).any(restricts)) {
            return None;
        }
        self.all(List::Allow)
            .find(|bound| matches!(bound.rule.pattern(), Pattern::Command(CommandPattern::Any)))
    }

    /// The rule, if it says exactly what is asked about: a name may hold what a rule takes for a pattern.
    fn offered(&self, rule: String, actions: &[Action<'_>]) -> Option<String> {
        let exact = !rule.contains(|character: char| character == '*' || character.is_control());
        let bound = suggestion::bound(&rule, self.policy.places()).filter(|_| exact)?;
        any(&bound, actions).then_some(rule)
    }

    fn would_cover(&self, rule: &str, item: &CommandItem, danger: Danger) -> bool {
        let places = self.policy.places();
        suggestion::bound(rule, places).is_some_and(|bound| {
            bound.matches(&Action::Command(&item.words)) && self.seen(&bound, item, danger).is_some()
        })
    }

    fn by_rule(&self, actions: &[Action<'_>]) -> Option<(Decision, Because)> {
        [(List::Deny, Decision::Deny), (List::Ask, Decision::Ask), (List::Allow, Decision::Allow)]
            .into_iter()
            .find_map(|(list, decision)| self.find(list, actions).map(|bound| (decision, named(bound))))
    }

    fn find(&self, list: List, actions: &[Action<'_>]) -> Option<&BoundRule> {
        self.all(list).find(|bound| any(bound, actions))
    }

    fn all(&self, list: List) -> impl Iterator<Item = &BoundRule> {
        self.policy.of(list).chain(self.session.iter().filter(move |bound| bound.rule.list() == list))
    }
}

fn any(bound: &BoundRule, actions: &[Action<'_>]) -> bool {
    actions.iter().any(|action| bound.matches(action))
}

fn named(bound: &BoundRule) -> Because {
    Because::Rule { rule: bound.rule.text().to_owned(), list: bound.rule.list(), source: bound.source }
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
    let set: Vec<String> = command.assignments.iter().map(|(name, _)| brief(name)).collect();
    if set.is_empty() {
        "no rule allows it; not all its words can be known".into()
    } else {
        format!("no rule allows it; it sets {}", set.join(", "))
    }
}

fn agent_rule_name(tool_name: &str) -> &str {
    if tool_name == "agent" { "Agent" } else { tool_name }
}

fn part(what: String, decision: Decision, because: Because, danger: Danger) -> Part {
    Part { what, decision, because, danger, suggestion: None }
}

/// The part with a rule that may be offered for it: never for what is dangerous.
fn suggesting(part: Part, rule: Option<String>) -> Part {
    let suggestion = rule.filter(|_| part.danger <= Danger::Moderate);
    Part { suggestion, ..part }
}
