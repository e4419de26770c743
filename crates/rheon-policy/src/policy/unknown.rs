//! What cannot be analyzed: it may run only where no rule could be about it.

use rheon_types::event::Danger;

use crate::policy::call::Action;
use crate::policy::explanation::{Decision, DecisionReason, ExplanationPart};
use crate::policy::judge::{CallToJudge, Judge, SandboxedCommands, in_sandbox, named, part};
use crate::policy::names::{ToolKind, kind_of};
use crate::policy::policy_set::BoundRule;
use crate::policy::rule::{Pattern, RuleKind};
use crate::policy::truncation::excerpt;
use crate::policy::words::Words;
use crate::shell::SimpleCommand;
use crate::workspace::Access;

/// Commands that read or change the files among their words, separated by spaces. Whatever else a command is given may
/// just as well not be a file.
const READS_FILES: &str = "cat head tail less more nl tac rev cut paste fold fmt expand column comm cmp join cksum md5sum \
     sha1sum sha256sum sha512sum b2sum od hexdump strings jq zcat zgrep bzcat xzcat wc grep egrep fgrep rg sort uniq diff \
     sed awk gawk base64 base32 xxd bat find tar";
const WRITES_FILES: &str =
    "tee cp mv ln install rsync dd touch truncate mkdir rm rmdir unlink split patch sed sort tar";

impl Judge<'_> {
    /// Unknown words, of commands that are all known. Rules about commands are checked with these words left open.
    pub(crate) fn unknown(&self, text: &str, call: CallToJudge<'_>) -> ExplanationPart {
        let shown = format!("unknown part: {}", excerpt(text));
        let danger = self.danger_of_unknown(call);
        if let Some(bound) = self.rule_for_all_commands() {
            return part(shown, Decision::Allow, named(bound), danger);
        }
        if self.sandboxed == SandboxedCommands::Run {
            return part(shown, Decision::Allow, in_sandbox(), danger);
        }
        let reason = DecisionReason::Default("parts that cannot be analyzed need approval".into());
        part(shown, Decision::Ask, reason, danger)
    }

    /// A part that may run any command. Where a rule denies something, that could be it.
    pub(crate) fn hidden(&self, text: &str, call: CallToJudge<'_>) -> ExplanationPart {
        let is_about = |bound: &BoundRule| match bound.rule.pattern() {
            Pattern::Command(_) | Pattern::Path { .. } => true,
            Pattern::Tool(_)
            | Pattern::Server(_)
            | Pattern::Domain(_)
            | Pattern::Network(_)
            | Pattern::Unsandboxed(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. } => false,
        };
        let shown = format!("unknown part: {}", excerpt(text));
        let danger = self.danger_of_unknown(call);
        if let Some(bound) = self.all(RuleKind::Deny).find(|bound| is_about(bound)) {
            return part(shown, Decision::Deny, could_be(bound, "it cannot be analyzed"), danger);
        }
        if let Some(bound) = self.all(RuleKind::Ask).find(|bound| is_about(bound)) {
            return part(shown, Decision::Ask, could_be(bound, "it cannot be analyzed"), danger);
        }
        self.unknown(text, call)
    }

    /// Files whose names are unknown, such as the target of a redirection.
    pub(crate) fn unknown_files(&self, text: &str, access: Access, call: CallToJudge<'_>) -> ExplanationPart {
        match self.denied_file(access) {
            Some(bound) => {
                let reason = could_be(bound, "the file is unknown");
                let shown = format!("unknown part: {}", excerpt(text));
                part(shown, Decision::Deny, reason, self.danger_of_unknown(call))
            }
            None => self.unknown(text, call),
        }
    }

    /// A command that works with files of which some are unknown, where a rule denies files and the sandbox does not.
    pub(crate) fn unknown_paths(&self, command: &SimpleCommand, danger: Danger) -> Option<ExplanationPart> {
        let name = command.words.first()?.as_deref()?;
        let name = name.rsplit('/').next().unwrap_or(name);
        let is_in = |list: &str| list.split_whitespace().any(|known| known == name);
        let access = match danger {
            Danger::Moderate | Danger::Dangerous | Danger::Critical if is_in(WRITES_FILES) => Access::Write,
            _ if is_in(READS_FILES) || is_in(WRITES_FILES) => Access::Read,
            _ => return None,
        };
        let bound = self.denied_file(access)?;
        let action = format!("use unknown files with `{}`", excerpt(&command.text));
        Some(part(action, Decision::Deny, could_be(bound, "the files are unknown"), danger))
    }

    /// A command that a program may run: only rules about commands have a say.
    pub(crate) fn possible(&self, words: &Words) -> Option<ExplanationPart> {
        let action = format!("run `{}`", excerpt(words.readings.first()?));
        for (list, decision) in [(RuleKind::Deny, Decision::Deny), (RuleKind::Ask, Decision::Ask)] {
            if let Some(bound) = self.find(list, &[Action::Command(words)]) {
                return Some(part(action, decision, named(bound), Danger::Dangerous));
            }
            if let Some((decision, reason)) = self.at_stake(list, words) {
                return Some(part(action, decision, reason, Danger::Dangerous));
            }
        }
        None
    }

    /// The decision of a deny or ask rule that a command with unknown words could be about.
    pub(crate) fn at_stake(&self, list: RuleKind, words: &Words) -> Option<(Decision, DecisionReason)> {
        if words.forms.is_empty() {
            return None;
        }
        let may_be = |bound: &&BoundRule| match bound.rule.pattern() {
            Pattern::Command(pattern) => words.forms.iter().any(|form| pattern.may_match(form)),
            Pattern::Path { .. }
            | Pattern::Tool(_)
            | Pattern::Server(_)
            | Pattern::Domain(_)
            | Pattern::Network(_)
            | Pattern::Unsandboxed(_)
            | Pattern::Named { .. }
            | Pattern::Argument { .. } => false,
        };
        let bound = self.all(list).find(may_be)?;
        let decision = if list == RuleKind::Deny { Decision::Deny } else { Decision::Ask };
        Some((decision, could_be(bound, "some of its words are unknown")))
    }

    /// The rule that may deny an unknown file and that nothing else enforces. The sandbox hides files that may not be read
    /// and protects those that exist from changes, but a new file could get any name.
    fn denied_file(&self, wanted: Access) -> Option<&BoundRule> {
        self.all(RuleKind::Deny).find(|bound| match (bound.rule.pattern(), wanted) {
            (Pattern::Path { access: Access::Read, .. }, _) => !self.holds_commands,
            (Pattern::Path { access: Access::Write, .. }, Access::Write) => true,
            _ => false,
        })
    }

    /// Unknown words of commands that only read are no danger; unknown commands are.
    fn danger_of_unknown(&self, call: CallToJudge<'_>) -> Danger {
        let Some(analysis) = self.context.analysis.filter(|_| kind_of(call.tool_name) == ToolKind::Shell)
        else {
            return Danger::Dangerous;
        };
        let commands = analysis.commands.iter().map(|command| (self.context.shell.danger)(command).0);
        let only_reads = !analysis.commands.is_empty()
            && commands.max() == Some(Danger::Safe)
            && analysis.redirections.iter().all(|file| !file.writes);
        if only_reads { Danger::Safe } else { Danger::Dangerous }
    }
}

fn could_be(bound: &BoundRule, why: &str) -> DecisionReason {
    DecisionReason::Default(format!(
        "{why} and could be what the {} rule {} is about; write it without variables, substitutions and scripts",
        bound.rule.list(),
        excerpt(bound.rule.text())
    ))
}
