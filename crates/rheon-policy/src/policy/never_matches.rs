//! Why a rule can never match: it is written as if rules worked in another way.

use crate::policy::names::{
    FOREIGN, MCP_PREFIX, NETWORK_RULE, PATH_KEYS, ToolKind, UNSANDBOXED_RULE, did_you_mean, known_tool,
    parameter_of,
};
use crate::policy::rule_kind::RuleKind;

/// Commands that only run the next one, which is judged by itself.
const RUNNERS: [&str; 7] = ["timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin"];

/// Why a rule can never match, and what to write instead.
pub(crate) fn never_matches(name: &str, spec: Option<&str>, list: RuleKind) -> Option<String> {
    if name == NETWORK_RULE {
        return None;
    }
    if name == UNSANDBOXED_RULE {
        return (list != RuleKind::Allow)
            .then(|| "only allow rules say what runs outside the sandbox; write Bash(...) instead".into());
    }
    let Some(tool) = known_tool(name) else {
        let is_known = name.starts_with(MCP_PREFIX) || name.contains('*') || FOREIGN.contains(&name);
        return (!is_known).then(|| format!("there is no tool {name}{}", did_you_mean(name)));
    };
    let spec = spec?;
    match tool.kind {
        ToolKind::Shell => command(spec, list),
        ToolKind::Read | ToolKind::Edit => {
            let key =
                spec.split_once(':').map(|(key, _)| key.trim()).filter(|key| PATH_KEYS.contains(key))?;
            Some(format!("{key} is matched by its path alone; write {name}(path)"))
        }
        ToolKind::Fetch | ToolKind::Named | ToolKind::Internal | ToolKind::Mcp | ToolKind::Other => None,
    }
}

fn command(spec: &str, list: RuleKind) -> Option<String> {
    if let Some(rest) = spec.strip_prefix("command:").filter(|rest| *rest != "*") {
        return Some(format!("the command is matched without its name; write Bash({})", rest.trim()));
    }
    let key = spec.split_once(':').and_then(|(key, value)| {
        parameter_of("bash", key.trim()).filter(|_| value.trim() != "*").map(|_| key.trim())
    });
    if let Some(key) = key.filter(|_| list == RuleKind::Allow) {
        return Some(format!("only deny and ask rules match a parameter such as {key}"));
    }
    if spec.trim_end_matches('*').contains(":*") {
        return Some("`:*` stands for any further words only at the end; write a blank and `*`".into());
    }
    if let Some(operator) = operator(spec) {
        return Some(format!(
            "{operator:?} separates commands, and each is judged by itself; write a rule for each"
        ));
    }
    let mut words = spec.split_whitespace();
    let first = words.next()?;
    if list == RuleKind::Allow && RUNNERS.contains(&first) && words.next().is_some_and(|word| word != "*") {
        return Some(format!("{first} only runs the next command, which is judged by itself; name that one"));
    }
    let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    (list == RuleKind::Allow && is_assignment && spec.contains('*'))
        .then(|| format!("variables before a command are judged by themselves; leave {first:?} out"))
}

/// The first operator outside quotes that ends a command.
fn operator(spec: &str) -> Option<&'static str> {
    const OPERATORS: [&str; 6] = ["&&", "||", ";", "|", "\n", "&"];
    let mut quote = None;
    let mut before = ' ';
    let mut characters = spec.char_indices();
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                characters.next();
            }
            (None, _) => {
                let rest = spec.get(at..).unwrap_or_default();
                let is_redirection =
                    character == '&' && (before == '>' || before == '<' || rest.starts_with("&>"));
                let found = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
                if let Some(operator) = found.filter(|_| !is_redirection) {
                    return Some(operator);
                }
            }
            (Some(_), _) => {}
        }
        before = character;
    }
    None
}
