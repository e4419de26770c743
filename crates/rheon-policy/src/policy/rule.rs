//! `Rule`: one line of policy in Claude Code's syntax, `Tool` or `Tool(what)`.

use std::fmt;

use rheon_text::nearest;

use crate::policy::names::{KNOWN, MCP_PREFIX, ToolKind, all_names, known_tool};
use crate::policy::paths::PathPattern;
use crate::policy::wildcard::{CommandPattern, Wildcard};
use crate::workspace::Access;

/// Which list a rule stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleKind {
    /// What it names is refused.
    Deny,
    /// What it names is asked about.
    Ask,
    /// What it names may run.
    Allow,
}

impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        })
    }
}

/// One line of policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    list: RuleKind,
    pattern: Pattern,
    warning: Option<String>,
}

/// What a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Commands of bash.
    Command(CommandPattern),
    /// Files, all of them without a pattern.
    Path { access: Access, pattern: Option<PathPattern> },
    /// Tools by name.
    Tool(Wildcard),
    /// All tools of an MCP server.
    Server(String),
    /// Hosts.
    Domain(Wildcard),
    /// Things that a tool starts by name.
    Named { tool: &'static str, name: Wildcard },
    /// Calls of a tool with a certain argument.
    Argument { tool: String, key: String, value: Wildcard },
    /// Nothing: the rule is kept, and warned about.
    Nothing,
}

/// A rule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the rule {rule:?}: character {column}: {problem}")]
pub struct RuleError {
    /// The rule, shortened where it is long.
    pub rule: String,
    /// Where in it, counted from 1.
    pub column: usize,
    /// What is wrong, and what to write instead.
    pub problem: String,
}

/// The longest rule that is read.
pub(crate) const RULE_BYTES_MAX: usize = 4_096;

impl Rule {
    /// Reads a rule that stands in `list`.
    pub fn parse(text: &str, list: RuleKind) -> Result<Self, RuleError> {
        let fault = |column: usize, problem: String| RuleError {
            rule: text.chars().take(100).collect(),
            column: column + 1,
            problem,
        };
        let trimmed = text.trim();
        if trimmed.len() > RULE_BYTES_MAX {
            return Err(fault(0, format!("a rule has at most {RULE_BYTES_MAX} bytes")));
        }
        let (name, spec) = split(trimmed).map_err(|(column, problem)| fault(column, problem))?;
        let column = name.chars().count() + 1;
        let spec = spec.filter(|spec| *spec != "*" || is_argument_tool(name));
        let (pattern, warning) = match spec {
            None => (bare(name, list).map_err(|problem| fault(0, problem))?, stranger(name)),
            Some(spec) => specific(name, spec, list).map_err(|problem| fault(column, problem))?,
        };
        Ok(Self { text: trimmed.to_owned(), list, pattern, warning })
    }

    /// The rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The list it stands in.
    pub fn list(&self) -> RuleKind {
        self.list
    }

    /// Why it may not do what its author meant.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    pub(crate) fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The name and what stands in the parentheses; or where it is wrong.
fn split(text: &str) -> Result<(&str, Option<&str>), (usize, String)> {
    let (name, spec) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(spec) => (name, Some(spec.trim())),
            None => {
                let end = text.chars().count();
                return Err((end, format!("the parenthesis is not closed; write {name}({rest})")));
            }
        },
    };
    if name.is_empty() {
        return Err((0, "there is no tool; write Tool or Tool(what), such as Bash(git status)".into()));
    }
    let odd = |character: char| !(character.is_ascii_alphanumeric() || "_-*.".contains(character));
    if let Some((column, character)) = name.chars().enumerate().find(|(_, character)| odd(*character)) {
        let problem = format!("{character:?} cannot stand in the name of a tool; write Tool or Tool(what)");
        return Err((column, problem));
    }
    if spec.is_some_and(str::is_empty) {
        let column = name.chars().count() + 1;
        return Err((column, format!("the parentheses are empty; write {name} for all its calls")));
    }
    Ok((name, spec))
}

/// A rule without parentheses.
fn bare(name: &str, list: RuleKind) -> Result<Pattern, String> {
    if let Some(rest) = name.strip_prefix(MCP_PREFIX) {
        return server(name, rest, list);
    }
    if name.contains('*') {
        return match list {
            RuleKind::Deny | RuleKind::Ask => Ok(Pattern::Tool(Wildcard::new(name))),
            RuleKind::Allow => {
                Err("a pattern of names is allowed only after mcp__server__; name the tool".to_owned())
            }
        };
    }
    Ok(match name {
        "Read" | "read" => Pattern::Path { access: Access::Read, pattern: None },
        "Edit" | "edit" => Pattern::Path { access: Access::Write, pattern: None },
        _ => match known_tool(name) {
            Some(tool) if tool.kind == ToolKind::Shell => Pattern::Command(CommandPattern::Any),
            Some(tool) => Pattern::Tool(Wildcard::new(tool.name)),
            None => Pattern::Tool(Wildcard::new(name)),
        },
    })
}

/// A rule for tools of MCP servers: `rest` is what stands after `mcp__`.
fn server(name: &str, rest: &str, list: RuleKind) -> Result<Pattern, String> {
    let (server, tool) = match rest.split_once("__") {
        Some((server, tool)) => (server, Some(tool)),
        None => (rest, None),
    };
    if server.is_empty() {
        return Err("there is no server; write mcp__server or mcp__server__tool".into());
    }
    if list == RuleKind::Allow && server.contains('*') {
        return Err("an allow rule must name the server; write mcp__server__*".into());
    }
    Ok(match tool {
        None | Some("*") if !server.contains('*') => Pattern::Server(server.to_owned()),
        None | Some(_) => Pattern::Tool(Wildcard::new(name)),
    })
}

/// A rule with something in its parentheses, and a warning about it.
fn specific(name: &str, spec: &str, list: RuleKind) -> Result<(Pattern, Option<String>), String> {
    let path =
        |access| PathPattern::parse(spec).map(|pattern| Pattern::Path { access, pattern: Some(pattern) });
    let Some(tool) = known_tool(name) else {
        return argument(name, spec, list).map(|found| (found, stranger(name)));
    };
    match tool.kind {
        ToolKind::Shell => Ok((Pattern::Command(CommandPattern::parse(spec)), None)),
        ToolKind::Read if tool.name == "read" => Ok((path(Access::Read)?, None)),
        ToolKind::Edit if tool.name == "edit" => Ok((path(Access::Write)?, None)),
        ToolKind::Read => misplaced(name, "Read", spec, list, path(Access::Read)?),
        ToolKind::Edit => misplaced(name, "Edit", spec, list, path(Access::Write)?),
        ToolKind::Fetch => Ok((domain(name, spec)?, None)),
        ToolKind::Named => Ok((Pattern::Named { tool: tool.name, name: Wildcard::new(spec) }, None)),
        ToolKind::Internal if tool.name == "skill" => {
            Ok((Pattern::Named { tool: tool.name, name: Wildcard::new(spec) }, None))
        }
        ToolKind::Internal | ToolKind::Mcp | ToolKind::Other => Ok((argument(tool.name, spec, list)?, None)),
    }
}

/// Rules of paths for tools that have none of their own: they allow nothing, and forbid what they seem to.
fn misplaced(
    name: &str,
    better: &str,
    spec: &str,
    list: RuleKind,
    pattern: Pattern,
) -> Result<(Pattern, Option<String>), String> {
    Ok(match list {
        RuleKind::Deny | RuleKind::Ask => {
            (pattern, Some(format!("{name}({spec}) counts as {better}({spec}); write that instead")))
        }
        RuleKind::Allow => {
            let text = format!(
                "{name}({spec}) allows nothing, paths have no rules of {name}; write {better}({spec})"
            );
            (Pattern::Nothing, Some(text))
        }
    })
}

fn domain(name: &str, spec: &str) -> Result<Pattern, String> {
    let host = spec.strip_prefix("domain:").map(str::trim).filter(|host| !host.is_empty());
    let Some(host) = host else {
        return Err(format!("what may be fetched is a domain; write {name}(domain:example.com)"));
    };
    if host.contains(['/', ':', '@', ' ']) {
        return Err(format!("{host:?} is not a host; write {name}(domain:example.com)"));
    }
    Ok(Pattern::Domain(Wildcard::new(host.trim_end_matches('.').to_lowercase())))
}

/// `Tool(key:value)`, which can only make policy tighter.
fn argument(tool: &str, spec: &str, list: RuleKind) -> Result<Pattern, String> {
    if list == RuleKind::Allow {
        return Err(format!("calls of {tool} are allowed all or none; write {tool}{}", did_you_mean(tool)));
    }
    let Some((key, value)) = spec.split_once(':').filter(|(key, _)| !key.trim().is_empty()) else {
        return Err(format!(
            "calls of {tool} are named by an argument; write {tool}(key:value){}",
            did_you_mean(tool)
        ));
    };
    Ok(Pattern::Argument {
        tool: tool.to_owned(),
        key: key.trim().to_owned(),
        value: Wildcard::new(value.trim()),
    })
}

/// Whether `(*)` after this name is more than the name alone.
fn is_argument_tool(name: &str) -> bool {
    known_tool(name).is_none() && !name.starts_with(MCP_PREFIX)
}

fn did_you_mean(name: &str) -> String {
    if known_tool(name).is_some() {
        return String::new();
    }
    nearest(name, all_names()).map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

/// A warning about a name that looks like one of ours and is not.
fn stranger(name: &str) -> Option<String> {
    if known_tool(name).is_some() || name.starts_with(MCP_PREFIX) || name.contains('*') {
        return None;
    }
    let near = nearest(name, KNOWN.iter().flat_map(|tool| tool.aliases.iter().copied()))?;
    Some(format!("no built-in tool is called {name}; did you mean {near}?"))
}
