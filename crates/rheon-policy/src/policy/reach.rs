//! What commands reach beyond the sandbox: hosts of the network, and programs that run outside.

use std::path::Path;

use rheon_types::event::Danger;
use rheon_types::{CallGrant, NetworkGrant};

use crate::policy::call::{Action, CommandItem, Item, Origin};
use crate::policy::explanation::{Decision, DecisionReason, ExplanationPart};
use crate::policy::judge::{Judge, named, part, spelled_out};
use crate::policy::names::{NETWORK_RULE, UNSANDBOXED_RULE};
use crate::policy::policy_set::BoundRule;
use crate::policy::rule::{Pattern, RuleKind};
use crate::policy::suggestion;
use crate::policy::truncation::excerpt;
use crate::policy::wildcard::CommandPattern;
use crate::shell::{CommandNeeds, HostNeeds, command_needs};

/// Directories that every machine has. Commands read them, and the sandbox keeps them from changing.
const COMMON: [&str; 12] =
    ["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/proc", "/sys", "/dev"];

/// Temporary directories: a command has its own.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Whether the whole line may run outside the sandbox by rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutsideLine {
    Yes,
    No,
}

impl Judge<'_> {
    /// What a command needs beyond the sandbox, if anything. `command` is the decision about the command itself.
    pub(crate) fn reach(
        &self,
        item: &CommandItem,
        command: Option<&ExplanationPart>,
        outside: OutsideLine,
    ) -> Option<ExplanationPart> {
        // Without a sandbox there is nothing to leave.
        let network_now = self.network?;
        if item.transparent {
            return None;
        }
        if self.is_unsandboxed(item) {
            return Some(self.outside(item, outside));
        }
        let CommandNeeds { network, outside: needs_outside } = command_needs(&item.command);
        if needs_outside {
            return Some(self.outside(item, OutsideLine::No));
        }
        let hosts = match network {
            _ if *network_now == NetworkGrant::All => return None,
            HostNeeds::None => return None,
            HostNeeds::Known(hosts) => hosts,
            HostNeeds::Unknown => vec!["*".to_owned()],
        };
        self.hosts(hosts, command)
    }

    fn hosts(&self, hosts: Vec<String>, command: Option<&ExplanationPart>) -> Option<ExplanationPart> {
        let missing: Vec<String> = hosts.into_iter().filter(|host| !self.reaches(host)).collect();
        if missing.is_empty() {
            return None;
        }
        let is_any = missing.iter().any(|host| host == "*");
        let network = if is_any { NetworkGrant::All } else { NetworkGrant::Hosts(missing.clone()) };
        let shown = if is_any { "the network".to_owned() } else { excerpt(&missing.join(", ")) };
        let grant = CallGrant { network, ..CallGrant::default() };
        let action = format!("reach {shown}");
        let danger = Danger::Moderate;
        for (list, decision) in [(RuleKind::Deny, Decision::Deny), (RuleKind::Ask, Decision::Ask)] {
            let actions: Vec<Action<'_>> = missing.iter().map(|host| Action::Reach { host }).collect();
            if let Some(bound) = self.find(list, &actions) {
                return Some(ExplanationPart { grant, ..part(action, decision, named(bound), danger) });
            }
        }
        if self.is_spelled_out(command) {
            let reason =
                DecisionReason::Default("the rule that allows the command names what it is for".into());
            return Some(ExplanationPart { grant, ..part(action, Decision::Allow, reason, danger) });
        }
        let reason = DecisionReason::Default("the sandbox blocks the network".into());
        let rules: Vec<String> = missing.iter().map(|host| format!("{NETWORK_RULE}({host})")).collect();
        let suggestion = (!is_any).then(|| rules.join("\n"));
        Some(ExplanationPart { grant, suggestion, ..part(action, Decision::Ask, reason, danger) })
    }

    /// A program that works only outside the sandbox.
    fn outside(&self, item: &CommandItem, line: OutsideLine) -> ExplanationPart {
        let grant = CallGrant { unsandboxed: true, ..CallGrant::default() };
        let action = format!("run `{}` outside the sandbox", excerpt(&item.command.text));
        let danger = Danger::Dangerous;
        let rule = self.unsandboxed_rule(item);
        if let (Some(bound), OutsideLine::Yes) = (rule, line) {
            return ExplanationPart { grant, ..part(action, Decision::Allow, named(bound), danger) };
        }
        let why = if rule.is_some() {
            "the rest of the line would run outside the sandbox too"
        } else {
            "it does not work inside the sandbox"
        };
        let suggestion = suggestion::wider(&item.command)
            .and_then(|rule| rule.strip_prefix("Bash").map(|rest| format!("{UNSANDBOXED_RULE}{rest}")))
            .filter(|_| rule.is_none());
        let judged = part(action, Decision::Ask, DecisionReason::Default(why.into()), danger);
        ExplanationPart { grant, suggestion, ..judged }
    }

    /// What the sandbox refused when this line last ran.
    pub(crate) fn refused(&self) -> Option<ExplanationPart> {
        let grant = self.refusal?.clone();
        let what = match (&grant.network, grant.write.first()) {
            (NetworkGrant::None, Some(path)) => format!("change {}", self.context.workspace.shown(path)),
            (NetworkGrant::None, None) => "leave the sandbox".to_owned(),
            (NetworkGrant::Hosts(_) | NetworkGrant::All, _) => "reach the network".to_owned(),
        };
        let reason = DecisionReason::Default("the sandbox refused that when the command last ran".into());
        Some(ExplanationPart { grant, ..part(what, Decision::Ask, reason, Danger::Moderate) })
    }

    /// The hosts that rules let every command reach.
    pub(crate) fn allowed_hosts(&self) -> Option<ExplanationPart> {
        let mut hosts: Vec<String> = Vec::new();
        let mut first = None;
        for bound in self.all(RuleKind::Allow) {
            if let Pattern::Network(host) = bound.rule.pattern() {
                first = first.or(Some(bound));
                hosts.push(host.as_str().to_owned());
            }
        }
        let bound = first?;
        let action = format!("reach {}", excerpt(&hosts.join(", ")));
        let is_all = hosts.iter().any(|host| host == "*");
        let network = if is_all { NetworkGrant::All } else { NetworkGrant::Hosts(hosts) };
        let grant = CallGrant { network, ..CallGrant::default() };
        Some(ExplanationPart { grant, ..part(action, Decision::Allow, named(bound), Danger::Safe) })
    }

    /// Whether rules let every command of a line run outside the sandbox: a grant is for the whole line.
    pub(crate) fn runs_outside(&self, items: &[Item]) -> OutsideLine {
        let may = |item: &Item| match item {
            Item::Command(item) => {
                let is_safe = self.danger_of(item).0 == Danger::Safe;
                item.transparent
                    || self.unsandboxed_rule(item).is_some()
                    || (is_safe && item.words.plain.is_some())
            }
            Item::Path { path, origin: Origin::Redirection } => path.inside && !path.protected,
            Item::Path { .. } | Item::Possible(_) | Item::Unknown(_) | Item::Hidden(_) => false,
            Item::UnknownFiles { .. } | Item::Impossible(_) => false,
            Item::Fetch { .. } | Item::Named { .. } | Item::Call => false,
        };
        if items.iter().all(may) { OutsideLine::Yes } else { OutsideLine::No }
    }

    /// Whether a path outside the workspace is one that commands use everywhere, so that the sandbox is enough.
    pub(crate) fn is_common(&self, path: &Path) -> bool {
        let below = |dir: &&str| path.strip_prefix(dir).ok();
        // A neighbor of the workspace is not a temporary file, wherever the workspace is.
        let is_neighbor = |dir: &&str| {
            let first = |path: &Path| {
                path.strip_prefix(dir)
                    .ok()
                    .and_then(|rest| rest.components().next().map(|part| part.as_os_str().to_owned()))
            };
            first(path).is_some() && first(path) == first(self.context.workspace.root())
        };
        COMMON.iter().any(|dir| below(dir).is_some())
            || TEMPORARY.iter().any(|dir| below(dir).is_some() && !is_neighbor(dir))
    }

    fn is_unsandboxed(&self, item: &CommandItem) -> bool {
        self.unsandboxed_rule(item).is_some()
    }

    fn unsandboxed_rule(&self, item: &CommandItem) -> Option<&BoundRule> {
        let is_about = |bound: &&BoundRule| {
            matches!(bound.rule.pattern(), Pattern::Unsandboxed(_))
                && bound.matches(&Action::Command(&item.words))
        };
        self.all(RuleKind::Allow).find(is_about)
    }

    /// Whether commands reach a host anyway: by the session's setting or by rule.
    fn reaches(&self, host: &str) -> bool {
        let by_setting = match self.network {
            Some(NetworkGrant::None) => false,
            None | Some(NetworkGrant::All) => true,
            Some(NetworkGrant::Hosts(hosts)) => hosts.iter().any(|known| covers(known, host)),
        };
        by_setting || self.find(RuleKind::Allow, &[Action::Reach { host }]).is_some()
    }

    /// Whether the rule that allows the command spells out a command that uses the network.
    fn is_spelled_out(&self, command: Option<&ExplanationPart>) -> bool {
        let Some(ExplanationPart {
            decision: Decision::Allow,
            reason: DecisionReason::Rule { rule, .. },
            ..
        }) = command
        else {
            return false;
        };
        self.all(RuleKind::Allow).filter(|bound| bound.rule.text() == rule).any(|bound| {
            match bound.rule.pattern() {
                Pattern::Command(CommandPattern::Any) => false,
                Pattern::Command(pattern) => {
                    command_needs(&spelled_out(&pattern.named_words())).network != HostNeeds::None
                }
                _ => false,
            }
        })
    }
}

fn covers(known: &str, host: &str) -> bool {
    known == host
        || known
            .strip_prefix("*.")
            .is_some_and(|domain| host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')))
}
