//! A workspace, a policy and a small understanding of bash for tests, so that they depend on no other part.

use std::path::Path;
use std::sync::Arc;

use rheon_types::event::{ApprovalRequest, Danger, PermissionDecision, PermissionResponse, Scope};
use rheon_types::{Effect, ToolCall, Verdict};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::policy::{
    Document, PatternRoots, Policy, PolicyGate, PolicySource, PolicyTrust, RuleSource, ShellAnalyzer,
};
use crate::shell::{Analysis, Redirection, SimpleCommand};

/// Understands words, `&&`, `||`, `;`, `|`, newlines, `cd`, `timeout`, `>` and `<`; words with `$` are unknown.
pub(super) const SHELL: ShellAnalyzer = ShellAnalyzer { analyze, danger };

fn analyze(line: &str) -> Analysis {
    let mut analysis = Analysis::default();
    let mut dirs = vec![String::new()];
    let line = ["&&", "||", ";", "|", "\n", "\r"]
        .iter()
        .fold(line.to_owned(), |line, mark| line.replace(mark, "\0"));
    for text in line.split('\0').map(str::trim).filter(|text| !text.is_empty()) {
        let mut words = Vec::new();
        let mut assignments = Vec::new();
        let mut parts = text.split_whitespace();
        while let Some(part) = parts.next() {
            if part == ">" || part == "<" {
                let target = parts.next().filter(|target| !target.contains('$')).map(str::to_owned);
                analysis.redirections.push(Redirection { target, writes: part == ">", dirs: dirs.clone() });
            } else if part.contains('$') {
                analysis.unknown.push(format!("the expansion {part}"));
                words.push(None);
            } else if let Some((name, value)) = part.split_once('=').filter(|_| words.is_empty()) {
                assignments.push((name.to_owned(), Some(value.to_owned())));
            } else {
                words.push(Some(part.to_owned()));
            }
        }
        let command = |words: Vec<Option<String>>, text: &str, dirs: &Vec<String>| SimpleCommand {
            words,
            text: text.to_owned(),
            assignments: assignments.clone(),
            dirs: dirs.clone(),
            ..SimpleCommand::default()
        };
        analysis.commands.push(command(words.clone(), text, &dirs));
        match words.first() {
            Some(Some(name)) if name == "timeout" => {
                let inner: Vec<_> = words.iter().skip(2).cloned().collect();
                let text: Vec<_> = inner.iter().flatten().cloned().collect();
                analysis.commands.push(command(inner, &text.join(" "), &dirs));
            }
            Some(Some(name)) if name == "cd" => dirs = words.get(1).cloned().flatten().into_iter().collect(),
            _ => {}
        }
    }
    analysis
}

fn danger(command: &SimpleCommand) -> (Danger, &'static str) {
    let words: Vec<&str> = command.words.iter().flatten().map(String::as_str).collect();
    let has = |flag: &str| words.contains(&flag);
    match words.first().copied().unwrap_or_default() {
        "find" if has("-exec") => (Danger::Dangerous, "-exec runs a program"),
        "ls" | "cat" | "find" | "echo" | "cd" | "grep" | "timeout" => (Danger::Safe, "looks"),
        "git" if has("push") && has("-f") => (Danger::Critical, "rewrites what others have"),
        "git" if has("push") => (Danger::Dangerous, "reaches outside"),
        "git" if has("status") || words.len() == 1 => (Danger::Safe, "looks"),
        "git" | "npm" | "cargo" | "mkdir" | "cp" => (Danger::Moderate, "changes files"),
        "rm" if has("-rf") => (Danger::Critical, "removes whole directories"),
        "rm" => (Danger::Moderate, "removes files"),
        _ => (Danger::Dangerous, "unknown command"),
    }
}

/// A directory with a workspace `work`, a home `home` and a file beside them.
pub(super) struct World {
    pub(super) dir: TempDir,
}

impl World {
    pub(super) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        for inner in ["work/src", "work/.git/hooks", "home/.ssh", "work-evil"] {
            std::fs::create_dir_all(dir.path().join(inner)).unwrap();
        }
        for file in ["work/src/main.rs", "work/.env", "home/.ssh/id_rsa", "secret", "work-evil/x"] {
            std::fs::write(dir.path().join(file), "one\ntwo\n").unwrap();
        }
        Self { dir }
    }

    pub(super) fn path(&self) -> std::path::PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(super) fn pattern_roots(&self) -> PatternRoots {
        PatternRoots { working_dir: self.path().join("work"), home: Some(self.path().join("home")) }
    }

    /// The policy of files, each `(source, text of permissions)`.
    pub(super) fn policy(&self, files: &[(RuleSource, &str)], trust: PolicyTrust) -> Result<Policy, String> {
        let mut sources = Vec::new();
        for (source, permissions) in files {
            let text = format!("{{\"permissions\":{permissions}}}");
            let document = Document::parse("settings.json", &text).map_err(|error| error.to_string())?;
            sources.push(PolicySource { source: *source, dir: self.path().join("work"), document });
        }
        Policy::new(sources, self.pattern_roots(), trust, SHELL).map_err(|error| error.to_string())
    }

    /// The gate of one file of the user.
    pub(super) fn gate(&self, permissions: &str) -> PolicyGate {
        self.gate_of(self.policy(&[(RuleSource::User, permissions)], PolicyTrust::Trusted).unwrap())
    }

    pub(super) fn gate_of(&self, policy: Policy) -> PolicyGate {
        let workspace = Arc::new(policy.workspace().unwrap());
        PolicyGate::new(policy, workspace).with_shell(SHELL)
    }

    /// `text` without the name of the directory, which differs from run to run.
    pub(super) fn clean(&self, text: &str) -> String {
        text.replace(self.path().to_str().unwrap(), "/T")
    }

    /// All explanations, one after the other.
    pub(super) fn explain(&self, gate: &PolicyGate, calls: &[ToolCall]) -> String {
        let mut text = String::new();
        for call in calls {
            let explanation = gate.explain(call, effect(call));
            let shown = call.arguments.to_string();
            text.push_str(&format!("{} {shown}\n= {explanation}\n", call.name));
        }
        self.clean(&text)
    }

    pub(super) fn link(&self, target: &str, link: &str) {
        let target =
            if target.starts_with('/') { Path::new(target).to_owned() } else { self.path().join(target) };
        std::os::unix::fs::symlink(target, self.path().join(link)).unwrap();
    }
}

pub(super) fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: "call-1".into(),
        name: name.into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    }
}

pub(super) fn bash(command: &str) -> ToolCall {
    call("bash", json!({ "command": command }))
}

pub(super) fn read(path: &str) -> ToolCall {
    call("read", json!({ "path": path }))
}

pub(super) fn write(path: &str) -> ToolCall {
    call("write", json!({ "path": path, "content": "new\n" }))
}

pub(super) fn effect(call: &ToolCall) -> Effect {
    match call.name.as_str() {
        "read" | "list" | "glob" | "search" | "web_fetch" | "mcp__wiki__read" | "look" => Effect::Pure,
        "write" => Effect::Idempotent,
        _ => Effect::Unsafe,
    }
}

/// The request that a loop would make of a verdict.
pub(super) fn request(call: &ToolCall, verdict: &Verdict) -> ApprovalRequest {
    let Verdict::Ask { subject, reason, danger, suggested_rule, offers, by: _ } = verdict.clone() else {
        panic!("{verdict:?} asks nothing")
    };
    ApprovalRequest {
        id: "run/call-1".into(),
        call_id: call.id.clone(),
        tool_name: call.name.clone(),
        subject,
        reason,
        danger,
        child: None,
        suggested_rule,
        digest: String::new(),
        offers,
    }
}

pub(super) fn answer(decision: PermissionDecision, scope: Scope) -> PermissionResponse {
    PermissionResponse::from(decision).with_scope(scope)
}
