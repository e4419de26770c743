//! `Rule`: one permission rule in Claude Code's syntax, `Tool` or `Tool(pattern)`.

use std::fmt;

use crate::policy::names::{
    MCP_PREFIX, NETWORK_RULE, ToolKind, UNSANDBOXED_RULE, did_you_mean, known_tool, parameter_of,
};
use crate::policy::never_matches::never_matches;
use crate::policy::paths::PathPattern;
pub use crate::policy::rule_kind::RuleKind;
use crate::policy::wildcard::{CommandPattern, HostPattern, Wildcard};
use crate::workspace::Access;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    list: RuleKind,
    pattern: Pattern,
    warning: Option<String>,
    never_matches: Option<String>,
}

/// What a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Bash commands.
    Command(CommandPattern),
    /// Files; all of them if there is no pattern.
    Path {
        access: Access,
        pattern: Option<PathPattern>,
    },
    /// Tools by name.
    Tool(Wildcard),
    /// All tools of an MCP server.
    Server(String),
    Domain(HostPattern),
    /// Hosts that every command may reach.
    Network(HostPattern),
    /// Commands that run outside the sandbox.
    Unsandboxed(CommandPattern),
    /// What a tool starts by name, such as an agent.
    Named {
        tool: &'static str,
        name: Wildcard,
    },
    /// Calls of a tool with a certain argument.
    Argument {
        tool: String,
        key: String,
        value: Wildcard,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the rule {rule:?}: character {column}: {problem}")]
pub struct RuleError {
    /// Truncated if it is long.
    pub rule: String,
    /// Counted from 1.
    pub column: usize,
    /// The problem and how to fix it.
    pub problem: String,
}

pub(crate) const RULE_BYTES_MAX: usize = 4_096;

impl Rule {
    /// Parses a rule of the given list.
    pub fn parse(text: &str, list: RuleKind) -> Result<Self, RuleError> {
        let fault = |column: usize, problem: String| RuleError {
            rule: text.chars().take(100).collect(),
            column: column + 1,
            problem,
        };
        let trimmed = text.trim();
        if trimmed.len() > RULE_BYTES_MAX {
            return Err(fault(0, format!("a rule can have at most {RULE_BYTES_MAX} bytes")));
        }
        let (name, spec) = split(trimmed).map_err(|(column, problem)| fault(column, problem))?;
        let column = name.chars().count() + 1;
        let spec = spec.filter(|spec| *spec != "*" || is_argument_tool(name));
        let never_matches = never_matches(name, spec, list);
        let (pattern, warning) = match spec {
            None => (bare(name, list).map_err(|problem| fault(0, problem))?, None),
            Some(spec) => specific(name, spec, list).map_err(|problem| fault(column, problem))?,
        };
        Ok(Self { text: trimmed.to_owned(), list, pattern, warning, never_matches })
    }

    /// The rule as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn list(&self) -> RuleKind {
        self.list
    }

    /// Why the rule may not do what its author meant.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Why the rule can never match, and what to write instead.
    pub fn never_matches(&self) -> Option<&str> {
        self.never_matches.as_deref()
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

/// Splits a rule into the tool name and the text in parentheses, or returns the position of the error.
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
        return Err((
            0,
            "missing tool name; write Tool or Tool(pattern), for example Bash(git status)".into(),
        ));
    }
    let odd = |character: char| !(character.is_ascii_alphanumeric() || "_-*.".contains(character));
    if let Some((column, character)) = name.chars().enumerate().find(|(_, character)| odd(*character)) {
        let problem = format!("{character:?} is not allowed in a tool name; write Tool or Tool(pattern)");
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
                Err("a wildcard in a tool name is allowed only after mcp__server__; name the tool".to_owned())
            }
        };
    }
    Ok(match name {
        NETWORK_RULE => Pattern::Network(HostPattern::new("*")),
        UNSANDBOXED_RULE => {
            return Err("name the commands; write Unsandboxed(docker *)".to_owned());
        }
        "Read" | "read" => Pattern::Path { access: Access::Read, pattern: None },
        "Edit" | "edit" => Pattern::Path { access: Access::Write, pattern: None },
        _ => match known_tool(name) {
            Some(tool) if tool.kind == ToolKind::Shell => Pattern::Command(CommandPattern::Any),
            Some(tool) => Pattern::Tool(Wildcard::new(tool.name)),
            None => Pattern::Tool(Wildcard::new(name)),
        },
    })
}

/// A rule for MCP tools. `rest` is the text after `mcp__`.
fn server(name: &str, rest: &str, list: RuleKind) -> Result<Pattern, String> {
    let (server, tool) = match rest.split_once("__") {
        Some((server, tool)) => (server, Some(tool)),
        None => (rest, None),
    };
    if server.is_empty() {
        return Err("missing server name; write mcp__server or mcp__server__tool".into());
    }
    if list == RuleKind::Allow && server.contains('*') {
        return Err("an allow rule must name the server; write mcp__server__*".into());
    }
    Ok(match tool {
        None | Some("*") if !server.contains('*') => Pattern::Server(server.to_owned()),
        None | Some(_) => Pattern::Tool(Wildcard::new(name)),
    })
}

/// A rule with a pattern in parentheses, and a warning about it.
fn specific(name: &str, spec: &str, list: RuleKind) -> Result<(Pattern, Option<String>), String> {
    let path = |access| {
        PathPattern::parse(spec, list).map(|pattern| Pattern::Path { access, pattern: Some(pattern) })
    };
    match name {
        NETWORK_RULE => return Ok((network(spec)?, None)),
        UNSANDBOXED_RULE => return Ok((unsandboxed(spec)?, None)),
        _ => {}
    }
    let Some(tool) = known_tool(name) else {
        return argument(name, spec, list).map(|found| (found, None));
    };
    if let Some(found) = parameter(tool.name, spec, list) {
        return Ok((found, None));
    }
    match tool.kind {
        ToolKind::Shell => Ok((Pattern::Command(CommandPattern::parse(spec)), None)),
        ToolKind::Read if tool.name == "read" => Ok((path(Access::Read)?, None)),
        ToolKind::Edit if tool.name == "edit" => Ok((path(Access::Write)?, None)),
        ToolKind::Read => Ok(misplaced(name, "Read", spec, list, path(Access::Read)?)),
        ToolKind::Edit => Ok(misplaced(name, "Edit", spec, list, path(Access::Write)?)),
        ToolKind::Fetch => Ok((domain(name, spec)?, None)),
        ToolKind::Named => Ok((Pattern::Named { tool: tool.name, name: Wildcard::new(spec) }, None)),
        ToolKind::Internal if tool.name == "skill" => {
            Ok((Pattern::Named { tool: tool.name, name: Wildcard::new(spec) }, None))
        }
        ToolKind::Internal | ToolKind::Mcp | ToolKind::Other => Ok((argument(tool.name, spec, list)?, None)),
    }
}

/// A path pattern on a tool that has none of its own: it means what it seems to mean. What it denies reaches further than
/// its name says, so Rheon warns its author.
fn misplaced(
    name: &str,
    better: &str,
    spec: &str,
    list: RuleKind,
    pattern: Pattern,
) -> (Pattern, Option<String>) {
    let warning = match list {
        RuleKind::Deny | RuleKind::Ask => {
            Some(format!("{name}({spec}) is treated as {better}({spec}); write that instead"))
        }
        RuleKind::Allow => None,
    };
    (pattern, warning)
}

/// `Network(host)`: a name, `*.` and a domain, or `*` for all.
fn network(spec: &str) -> Result<Pattern, String> {
    let host = spec.strip_prefix("domain:").map_or(spec, str::trim).trim_end_matches('.').to_lowercase();
    if host.is_empty() || host.contains(['/', ':', '@', ' ']) {
        return Err(format!("{spec:?} is not a host; write Network(example.com) or Network(*.example.com)"));
    }
    Ok(Pattern::Network(HostPattern::new(&host)))
}

/// `Unsandboxed(docker *)`: the program has to be named, because nothing holds what it matches.
fn unsandboxed(spec: &str) -> Result<Pattern, String> {
    let pattern = CommandPattern::parse(spec);
    match pattern.named_words().first() {
        Some(_) if pattern.half_word().is_none_or(|_| pattern.named_words().len() > 1) => {
            Ok(Pattern::Unsandboxed(pattern))
        }
        Some(_) | None => Err("name the program; write Unsandboxed(docker *)".to_owned()),
    }
}

fn domain(name: &str, spec: &str) -> Result<Pattern, String> {
    let host = spec.strip_prefix("domain:").map(str::trim).filter(|host| !host.is_empty());
    let Some(host) = host else {
        return Err(format!("{name} rules need a domain; write {name}(domain:example.com)"));
    };
    if host.contains(['/', ':', '@', ' ']) {
        return Err(format!("{host:?} is not a host; write {name}(domain:example.com)"));
    }
    Ok(Pattern::Domain(HostPattern::new(host)))
}

/// `Tool(key:value)`, valid only in deny and ask rules.
fn argument(tool: &str, spec: &str, list: RuleKind) -> Result<Pattern, String> {
    if list == RuleKind::Allow {
        return Err(format!(
            "an allow rule for {tool} covers all its calls; write {tool}{}",
            did_you_mean(tool)
        ));
    }
    let Some((key, value)) = spec.split_once(':').filter(|(key, _)| !key.trim().is_empty()) else {
        return Err(format!("{tool} rules match an argument; write {tool}(key:value){}", did_you_mean(tool)));
    };
    Ok(Pattern::Argument {
        tool: tool.to_owned(),
        key: key.trim().to_owned(),
        value: Wildcard::new(value.trim()),
    })
}

/// `Tool(parameter:value)` of a built-in tool whose patterns mean something else, in deny and ask rules.
fn parameter(tool: &'static str, spec: &str, list: RuleKind) -> Option<Pattern> {
    let (key, value) = spec.split_once(':').filter(|_| list != RuleKind::Allow)?;
    // `Bash(timeout:*)` is the command of that name.
    let key = parameter_of(tool, key.trim()).filter(|_| tool != "bash" || value.trim() != "*")?;
    Some(Pattern::Argument { tool: tool.to_owned(), key: key.to_owned(), value: Wildcard::new(value.trim()) })
}

/// Whether `(*)` after this name means more than the name alone.
fn is_argument_tool(name: &str) -> bool {
    known_tool(name).is_none()
        && !name.starts_with(MCP_PREFIX)
        && ![NETWORK_RULE, UNSANDBOXED_RULE].contains(&name)
}
