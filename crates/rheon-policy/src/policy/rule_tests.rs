//! Reading rules: what is wrong with them, and what they warn of.

use expect_test::expect;

use crate::policy::rule::RULE_BYTES_MAX;
use crate::policy::{Rule, RuleKind};

fn table(rules: &[(&str, RuleKind)]) -> String {
    let mut table = String::new();
    for (text, list) in rules {
        let found = match Rule::parse(text, *list) {
            Ok(rule) => {
                let never = rule.never_matches().map(|why| format!("never: {why}"));
                format!("{list} {rule}: {}", never.as_deref().or(rule.warning()).unwrap_or("ok"))
            }
            Err(error) => format!("{list}: {error}"),
        };
        table.push_str(&found);
        table.push('\n');
    }
    table
}

#[test]
fn a_rule_that_cannot_be_read_says_where_and_what_to_write() {
    expect![[r#"
        deny: cannot read the rule "": character 1: missing tool name; write Tool or Tool(pattern), for example Bash(git status)
        allow: cannot read the rule "Bash(npm": character 9: the parenthesis is not closed; write Bash(npm)
        allow: cannot read the rule "Bash()": character 6: the parentheses are empty; write Bash for all its calls
        allow: cannot read the rule "Ba sh": character 3: ' ' is not allowed in a tool name; write Tool or Tool(pattern)
        allow: cannot read the rule "Bsh(rm -rf *)": character 5: an allow rule for Bsh covers all its calls; write Bsh; did you mean Bash?
        deny: cannot read the rule "Bsh(rm -rf *)": character 5: Bsh rules match an argument; write Bsh(key:value); did you mean Bash?
        allow: cannot read the rule "WebFetch(example.com)": character 10: WebFetch rules need a domain; write WebFetch(domain:example.com)
        allow: cannot read the rule "WebFetch(domain:https://x)": character 10: "https://x" is not a host; write WebFetch(domain:example.com)
        deny: cannot read the rule "Read(!x)": character 6: a path rule cannot be negated; use the opposite list
        deny: cannot read the rule "Read(../x)": character 6: a path rule cannot contain ..; use an absolute path: //...
        deny: cannot read the rule "Read(~bob/x)": character 6: the home directory of another user needs an absolute path: //home/user/...
        deny Read([): ok
        allow: cannot read the rule "mcp__*": character 1: an allow rule must name the server; write mcp__server__*
        allow: cannot read the rule "mcp__": character 1: missing server name; write mcp__server or mcp__server__tool
        allow: cannot read the rule "*": character 1: a wildcard in a tool name is allowed only after mcp__server__; name the tool
        allow: cannot read the rule "deploy(target:prod)": character 8: an allow rule for deploy covers all its calls; write deploy
        deny: cannot read the rule "TodoWrite(x)": character 11: todo rules match an argument; write todo(key:value)
    "#]].assert_eq(&table(&[
        ("", RuleKind::Deny),
        ("Bash(npm", RuleKind::Allow),
        ("Bash()", RuleKind::Allow),
        ("Ba sh", RuleKind::Allow),
        ("Bsh(rm -rf *)", RuleKind::Allow),
        ("Bsh(rm -rf *)", RuleKind::Deny),
        ("WebFetch(example.com)", RuleKind::Allow),
        ("WebFetch(domain:https://x)", RuleKind::Allow),
        ("Read(!x)", RuleKind::Deny),
        ("Read(../x)", RuleKind::Deny),
        ("Read(~bob/x)", RuleKind::Deny),
        ("Read([)", RuleKind::Deny),
        ("mcp__*", RuleKind::Allow),
        ("mcp__", RuleKind::Allow),
        ("*", RuleKind::Allow),
        ("deploy(target:prod)", RuleKind::Allow),
        ("TodoWrite(x)", RuleKind::Deny),
    ]));
}

#[test]
fn rules_that_do_not_do_what_they_seem_to_are_warned_about() {
    expect![[r#"
        allow Bash(npm run *): ok
        allow bash: ok
        deny Bsh: never: there is no tool Bsh; did you mean Bash?
        allow Write(src/**): ok
        deny Write(src/**): Write(src/**) is treated as Edit(src/**); write that instead
        allow Glob(src/**): ok
        ask NotebookEdit(*.ipynb): NotebookEdit(*.ipynb) is treated as Edit(*.ipynb); write that instead
        allow mcp__github__*: ok
        deny mcp__*__delete: ok
        deny deploy(target:prod): never: there is no tool deploy
        allow Skill(review): ok
    "#]]
    .assert_eq(&table(&[
        ("Bash(npm run *)", RuleKind::Allow),
        ("bash", RuleKind::Allow),
        ("Bsh", RuleKind::Deny),
        ("Write(src/**)", RuleKind::Allow),
        ("Write(src/**)", RuleKind::Deny),
        ("Glob(src/**)", RuleKind::Allow),
        ("NotebookEdit(*.ipynb)", RuleKind::Ask),
        ("mcp__github__*", RuleKind::Allow),
        ("mcp__*__delete", RuleKind::Deny),
        ("deploy(target:prod)", RuleKind::Deny),
        ("Skill(review)", RuleKind::Allow),
    ]));
}

#[test]
fn a_rule_that_can_never_match_says_why() {
    expect![[r#"
        deny Bash(curl * | bash): never: "|" separates commands, and each is judged by itself; write a rule for each
        allow Bash(cd x && npm test): never: "&&" separates commands, and each is judged by itself; write a rule for each
        allow Bash(npm test; ls): never: ";" separates commands, and each is judged by itself; write a rule for each
        allow Bash(server &): never: "&" separates commands, and each is judged by itself; write a rule for each
        allow Bash(git commit -m 'a; b'): ok
        allow Bash(make > log 2>&1): ok
        deny Bash(cat:*.env*): never: `:*` stands for any further words only at the end; write a blank and `*`
        deny Bash(command:rm *): never: the command is matched without its name; write Bash(rm *)
        deny Bash(timeout:*): ok
        allow Bash(timeout 5 npm test): never: timeout only runs the next command, which is judged by itself; name that one
        deny Bash(timeout 5 npm test): ok
        allow Bash(CI=1 npm *): never: variables before a command are judged by themselves; leave "CI=1" out
        deny Bash(CI=1 npm *): ok
        deny Bash(run_in_background:true): ok
        allow Bash(run_in_background:true): never: only deny and ask rules match a parameter such as run_in_background
        deny Read(file_path:/x): never: file_path is matched by its path alone; write Read(path)
        deny Unsandboxed(docker *): never: only allow rules say what runs outside the sandbox; write Bash(...) instead
        deny Frobnicate: never: there is no tool Frobnicate
        deny SlashCommand(x:y): ok
        deny mcp__x__y(a:b): ok
        deny mcp__*: ok
        deny Network(x.org): ok
    "#]].assert_eq(&table(&[
        ("Bash(curl * | bash)", RuleKind::Deny),
        ("Bash(cd x && npm test)", RuleKind::Allow),
        ("Bash(npm test; ls)", RuleKind::Allow),
        ("Bash(server &)", RuleKind::Allow),
        ("Bash(git commit -m 'a; b')", RuleKind::Allow),
        ("Bash(make > log 2>&1)", RuleKind::Allow),
        ("Bash(cat:*.env*)", RuleKind::Deny),
        ("Bash(command:rm *)", RuleKind::Deny),
        ("Bash(timeout:*)", RuleKind::Deny),
        ("Bash(timeout 5 npm test)", RuleKind::Allow),
        ("Bash(timeout 5 npm test)", RuleKind::Deny),
        ("Bash(CI=1 npm *)", RuleKind::Allow),
        ("Bash(CI=1 npm *)", RuleKind::Deny),
        ("Bash(run_in_background:true)", RuleKind::Deny),
        ("Bash(run_in_background:true)", RuleKind::Allow),
        ("Read(file_path:/x)", RuleKind::Deny),
        ("Unsandboxed(docker *)", RuleKind::Deny),
        ("Frobnicate", RuleKind::Deny),
        ("SlashCommand(x:y)", RuleKind::Deny),
        ("mcp__x__y(a:b)", RuleKind::Deny),
        ("mcp__*", RuleKind::Deny),
        ("Network(x.org)", RuleKind::Deny),
    ]));
}

#[test]
fn a_rule_at_the_limit_is_read_and_one_beyond_is_not() {
    let fitting = format!("Bash({})", "x".repeat(RULE_BYTES_MAX - 6));
    assert!(Rule::parse(&fitting, RuleKind::Allow).is_ok());
    assert!(Rule::parse(&format!("{fitting} "), RuleKind::Allow).is_ok());
    assert!(Rule::parse(&fitting.replacen('x', "xx", 1), RuleKind::Allow).is_err());
}
