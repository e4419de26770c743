//! The question whether a tool may run, and how a program answers it.

use std::path::Path;
use std::sync::Arc;

use rheon_store::claude::wire_call_id;
use rheon_tools::hooks::{from_claude_input, permission_suggestions};
use rheon_types::event::{
    ApprovalRequest, PermissionDecision, PermissionMode, PermissionResponse, RuleAction, RuleList,
    RulesChange, Scope, Subject, UserQuestion,
};
use rheon_types::{Command, ToolCall};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::tool::claude_call;

/// A change of permissions, sent with an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionUpdate {
    SetMode {
        mode: PermissionMode,
        scope: Scope,
    },
    /// Rules are added, replaced or removed.
    Rules {
        change: RuleAction,
        list: RuleList,
        /// The rules, as settings spell them.
        rules: Vec<String>,
        scope: Scope,
    },
    Directories {
        /// Which of these; directories are never replaced.
        change: RuleAction,
        directories: Vec<String>,
        scope: Scope,
    },
}

impl PermissionUpdate {
    /// Parses one update.
    pub fn read(update: &Value) -> Result<Self, String> {
        let text = |key: &str| update.get(key).and_then(Value::as_str);
        let list = |key: &str| {
            update.get(key).and_then(Value::as_array).ok_or_else(|| format!("{key:?} is not a list"))
        };
        let scope = match text("destination") {
            None | Some("session" | "cliArg") => Scope::Session,
            // Rheon never writes to a file that is committed.
            Some("localSettings" | "projectSettings") => Scope::Project,
            Some(_) => Scope::Always,
        };
        match text("type") {
            Some("setMode") => {
                let mode = update.get("mode").cloned().unwrap_or_default();
                match PermissionMode::deserialize(&mode) {
                    Ok(mode) => Ok(Self::SetMode { mode, scope }),
                    Err(_) => Err(format!("unknown permission mode {mode}")),
                }
            }
            Some(kind @ ("addRules" | "replaceRules" | "removeRules")) => {
                let rules = list("rules")?.iter().map(rule).collect::<Option<Vec<String>>>();
                let rules = rules.ok_or_else(|| "a rule has no \"toolName\"".to_owned())?;
                let list = match text("behavior") {
                    None | Some("allow") => RuleList::Allow,
                    Some("ask") => RuleList::Ask,
                    Some("deny") => RuleList::Deny,
                    Some(other) => return Err(format!("unknown behavior {:?}", word(other))),
                };
                Ok(Self::Rules { change: change(kind), list, rules, scope })
            }
            Some(kind @ ("addDirectories" | "removeDirectories")) => {
                let dirs = list("directories")?.iter().filter_map(Value::as_str);
                let directories = dirs.map(str::to_owned).collect();
                Ok(Self::Directories { change: change(kind), directories, scope })
            }
            Some(other) => Err(format!("unknown update type {:?}", word(other))),
            None => Err("its \"type\" is missing".to_owned()),
        }
    }
}

impl PermissionUpdate {
    /// The command that makes this change in a session that works in `dir`, and what its author should know.
    pub fn command(&self, dir: &Path) -> (Command, Option<&'static str>) {
        match self {
            Self::SetMode { mode, scope } => {
                let is_kept = matches!(scope, Scope::Project | Scope::Always);
                let note = is_kept.then_some("the permission mode applies to this session only");
                (Command::SetMode { mode: *mode }, note)
            }
            Self::Rules { change, list, rules, scope } => {
                let change =
                    RulesChange { action: *change, list: *list, rules: rules.clone(), scope: *scope };
                (Command::SetRules { change }, None)
            }
            Self::Directories { change, directories, .. } => {
                let rules = directories.iter().map(|directory| readable(&dir.join(directory))).collect();
                let note = (*change == RuleAction::Add).then_some(DIRECTORIES_ARE_READ);
                // A directory that one session needs does not apply to all.
                let change =
                    RulesChange { action: *change, list: RuleList::Allow, rules, scope: Scope::Session };
                (Command::SetRules { change }, note)
            }
        }
    }
}

/// What can be done in a directory that is added to an open session.
const DIRECTORIES_ARE_READ: &str = "the directory can be read from now on, in this session only; to let it be changed like \
                                    the workspace, start the session with --add-dir";

/// The rule that lets a directory be read.
fn readable(directory: &Path) -> String {
    let mut escaped = String::new();
    for character in directory.to_string_lossy().trim_end_matches('/').chars() {
        if "*?[]{}!\\".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    format!("Read(/{escaped}/**)")
}

fn change(kind: &str) -> RuleAction {
    match kind {
        "replaceRules" => RuleAction::Replace,
        "removeRules" | "removeDirectories" => RuleAction::Remove,
        _ => RuleAction::Add,
    }
}

/// The beginning of a foreign word.
fn word(text: &str) -> String {
    text.chars().take(60).collect()
}

fn rule(rule: &Value) -> Option<String> {
    let tool = rule.get("toolName")?.as_str()?;
    match rule.get("ruleContent").and_then(Value::as_str) {
        Some(content) if !content.is_empty() => Some(format!("{tool}({content})")),
        Some(_) | None => Some(tool.to_owned()),
    }
}

/// The question about `call`, as a program reads it.
pub(super) fn question(request: &ApprovalRequest, call: &ToolCall, dir: &Path) -> Value {
    let foreign = claude_call(call, dir);
    let mut offered = permission_suggestions(request.suggested_rule.as_deref());
    if let (Subject::Diff { .. }, Value::Array(offered)) = (&request.subject, &mut offered) {
        offered.push(json!({ "type": "setMode", "mode": "acceptEdits", "destination": "session" }));
    }
    let description = match &request.subject {
        Subject::Command { command, .. } => command.clone(),
        Subject::Diff { path, .. } => path.clone(),
        Subject::Arguments { .. } | Subject::Questions { .. } | Subject::Plan { .. } => String::new(),
    };
    json!({
        "subtype": "can_use_tool",
        "tool_name": foreign.tool_name,
        "display_name": foreign.tool_name,
        "input": foreign.tool_input,
        "tool_use_id": wire_call_id(call.id.as_str()),
        "permission_suggestions": offered,
        "blocked_path": null,
        "decision_reason": reason(request),
        "description": description,
    })
}

/// The reason of the request and its child, which the protocol has no field for.
fn reason(request: &ApprovalRequest) -> String {
    match &request.child {
        Some(child) => format!("{child}: {}", request.reason),
        None => request.reason.clone(),
    }
}

/// The parsed answer of the client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answered {
    pub(super) response: PermissionResponse,
    pub(super) interrupts: bool,
    pub(super) updates: Vec<PermissionUpdate>,
    /// Unreadable parts of the answer.
    pub(super) unread: Vec<String>,
}

impl Answered {
    /// No, and nothing else.
    pub(super) fn no(request: &ApprovalRequest, message: &str) -> Self {
        let response = PermissionResponse {
            digest: Some(request.digest.clone()),
            ..PermissionResponse::denied(message)
        };
        Self { response, interrupts: false, updates: Vec::new(), unread: Vec::new() }
    }

    /// Yes, to exactly what was asked.
    pub(super) fn yes(request: &ApprovalRequest) -> Self {
        let response =
            PermissionResponse { digest: Some(request.digest.clone()), ..PermissionDecision::Allow.into() };
        Self { response, interrupts: false, updates: Vec::new(), unread: Vec::new() }
    }

    /// Reads an answer. One that cannot be read is a no.
    pub(super) fn read(request: &ApprovalRequest, call: &ToolCall, dir: &Path, answer: &Value) -> Self {
        match answer.get("behavior").and_then(Value::as_str) {
            Some("allow") => Self::allowed(request, call, dir, answer),
            Some("deny") => {
                let message = answer.get("message").and_then(Value::as_str).filter(|text| !text.is_empty());
                let mut answered = Self::no(request, message.unwrap_or("permission denied"));
                answered.interrupts = answer.get("interrupt").and_then(Value::as_bool).unwrap_or(false);
                answered
            }
            Some(_) | None => {
                Self::no(request, "permission denied: the answer is neither \"allow\" nor \"deny\"")
            }
        }
    }

    fn allowed(request: &ApprovalRequest, call: &ToolCall, dir: &Path, answer: &Value) -> Self {
        let mut answered = Self::yes(request);
        let given = |key: &str| answer.get(key).filter(|value| !value.is_null());
        // Changed arguments mean that the original call was not allowed.
        if given("updatedInput").is_some_and(|updated| !updated.is_object()) {
            return Self::no(
                request,
                "permission denied: the \"updatedInput\" of the answer is not an object",
            );
        }
        let updates = given("updatedPermissions").map(|updates| updates.as_array().ok_or(updates));
        if let Some(Err(_)) = updates {
            answered.unread.push("\"updatedPermissions\" is not a list".to_owned());
        }
        for update in updates.and_then(Result::ok).into_iter().flatten() {
            match PermissionUpdate::read(update) {
                // The rule that was offered with the question is the question's own.
                Ok(PermissionUpdate::Rules {
                    change: RuleAction::Add,
                    list: RuleList::Allow,
                    rules,
                    scope,
                }) if matches!(rules.as_slice(), [only] if Some(only) == request.suggested_rule.as_ref()) => {
                    answered.response.scope = scope;
                }
                Ok(update) => answered.updates.push(update),
                Err(problem) => answered.unread.push(problem),
            }
        }
        // Programs that never saw the input send an empty one, because there has to be one.
        let is_given = |updated: &&Value| updated.as_object().is_some_and(|fields| !fields.is_empty());
        let Some(updated) = given("updatedInput").filter(is_given) else {
            return answered;
        };
        if let Subject::Questions { questions } = &request.subject {
            answered.response.answers = answers(questions, updated);
            return answered;
        }
        if *updated != claude_call(call, dir).tool_input {
            let arguments = from_claude_input(call, dir, updated.clone());
            answered.response.arguments = (arguments != *call.arguments).then(|| Arc::new(arguments));
        }
        answered
    }
}

/// The choices, by question.
fn answers(questions: &[UserQuestion], updated: &Value) -> Vec<Vec<String>> {
    let given = updated.get("answers");
    let answer = |question: &UserQuestion| match given.and_then(|given| given.get(&question.text)) {
        Some(Value::String(answer)) => vec![answer.clone()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(_) | None => Vec::new(),
    };
    questions.iter().map(answer).collect()
}
