//! The gate at work: questions, answers and what they leave behind (E1, E2, E7).

use std::sync::{Arc, Mutex};

use expect_test::{expect, expect_file};
use rheon_types::event::{PermissionDecision, PermissionMode, Scope, Subject};
use rheon_types::{
    Answer, ApprovalReason, BoxFuture, Effect, Gate, GateRequest, Tool, ToolCall, ToolContext, ToolError,
    ToolResult, Verdict,
};
use serde_json::{Value, json};

use crate::policy::fixtures::{World, answer, bash, call, effect, read, request, write};
use crate::policy::gate::SESSION_RULES_MAX;
use crate::policy::{
    Decision, PolicyGate, ReadOnlyGate, Rule, RuleChange, RuleKind, RulePlace, RuleSink, SandboxedCommands,
    ShellAnalyzer, ShellDirectory, ShellFacts,
};

/// A tool that is never run.
pub(super) struct Unused;

impl Tool for Unused {
    fn name(&self) -> &str {
        "unused"
    }
    fn description(&self) -> &str {
        ""
    }
    fn parameters_schema(&self) -> Value {
        json!({})
    }
    fn execute<'a>(&'a self, _: Arc<Value>, _: ToolContext) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::text("")) })
    }
}

fn check_as(gate: &dyn Gate, call: &ToolCall, effect: Effect) -> Verdict {
    match gate.check(GateRequest { call, tool: &Unused, effect }) {
        Answer::Now(judgement) => judgement.verdict,
        Answer::Later(_) => panic!("the gate has to wait"),
    }
}

pub(super) fn check(gate: &PolicyGate, call: &ToolCall) -> Verdict {
    check_as(gate, call, effect(call))
}

fn suggested(gate: &PolicyGate, call: &ToolCall) -> Option<String> {
    request(call, &check(gate, call)).suggested_rule
}

#[test]
fn a_question_carries_the_exact_command_and_where_it_runs() {
    let world = World::new();
    let src = world.path().join("work/src");
    let dir = ShellDirectory::new(world.path().join("work"));
    dir.enter(src.clone());
    let gate = world.gate("{}").with_shell_directory(dir);
    let command = format!("npm test {}\u{1b}[2K\u{202e}; npm run lint", " ".repeat(10_000));
    let Verdict::Ask { subject, .. } = check(&gate, &bash(&command)) else { panic!("it is not asked about") };
    assert_eq!(subject, Subject::Command { command, cwd: src.display().to_string() });
}

#[test]
fn a_question_about_a_file_shows_the_difference() {
    let world = World::new();
    let gate = world.gate("{}");
    let edit = |arguments: Value| call("edit", arguments);
    let calls = [
        write("src/main.rs"),
        write("src/new.rs"),
        edit(json!({"path": "src/main.rs", "old_string": "two", "new_string": "2"})),
        edit(json!({"path": "src/main.rs", "old_string": "none", "new_string": "2"})),
        edit(json!({"path": "src/main.rs", "old_string": "o", "new_string": "0", "replace_all": true})),
        write("src"),
    ];
    let mut text = String::new();
    for call in &calls {
        match request(call, &check(&gate, call)).subject {
            Subject::Diff { path, diff } => text.push_str(&format!("{path}\n{diff}")),
            other => text.push_str(&format!("{other:?}\n")),
        }
    }
    expect![[r#"
        src/main.rs
        --- a/src/main.rs
        +++ b/src/main.rs
        @@ -1,2 +1 @@
        -one
        -two
        +new
        src/new.rs
        --- a/src/new.rs
        +++ b/src/new.rs
        @@ -0,0 +1 @@
        +new
        src/main.rs
        --- a/src/main.rs
        +++ b/src/main.rs
        @@ -1,2 +1,2 @@
         one
        -two
        +2
        Arguments { arguments: Object {"new_string": String("2"), "old_string": String("none"), "path": String("src/main.rs")} }
        src/main.rs
        --- a/src/main.rs
        +++ b/src/main.rs
        @@ -1,2 +1,2 @@
        -one
        -two
        +0ne
        +tw0
        Arguments { arguments: Object {"content": String("new\n"), "path": String("src")} }
    "#]].assert_eq(&text);
}

#[test]
fn rules_are_offered_for_each_command_and_never_for_what_is_dangerous() {
    let world = World::new();
    let gate = world.gate(r#"{"ask":["Bash(npm publish *)"]}"#);
    let calls = [
        bash("npm test -- --watch"),
        bash("npm run build"),
        bash("npm exec x"),
        bash("cargo test && mkdir -p a/b && ls"),
        bash("mkdir *"),
        bash("git commit -m x > log"),
        bash("npm a; npm b; npm c; npm d; npm e"),
        bash("npm a; npm b; npm c; npm d; npm e; npm f"),
        bash("npm test $X"),
        bash("npm test; mytool"),
        bash("rm -rf x"),
        bash("npm publish"),
        bash("X=1 npm test"),
        write("src/a[1].rs"),
        write(".git/config"),
        write("../a"),
        read("../secret"),
        call("web_fetch", json!({"url": "https://example.com/x"})),
        call("web_fetch", json!({"url": "https://*/x"})),
        call("agent", json!({"agent": "*"})),
        call("deploy", json!({})),
        call("Read", json!({})),
    ];
    let mut text = String::new();
    for call in &calls {
        text.push_str(&format!("{} {} -> {:?}\n", call.name, call.arguments, suggested(&gate, call)));
    }
    expect![[r#"
        bash {"command":"npm test -- --watch"} -> Some("Bash(npm test *)")
        bash {"command":"npm run build"} -> Some("Bash(npm run build *)")
        bash {"command":"npm exec x"} -> Some("Bash(npm exec x)")
        bash {"command":"cargo test && mkdir -p a/b && ls"} -> Some("Bash(cargo test *)\nBash(mkdir -p a/b)")
        bash {"command":"mkdir *"} -> None
        bash {"command":"git commit -m x > log"} -> Some("Bash(git commit *)\nEdit(//T/work/log)")
        bash {"command":"npm a; npm b; npm c; npm d; npm e"} -> Some("Bash(npm a *)\nBash(npm b *)\nBash(npm c *)\nBash(npm d *)\nBash(npm e *)")
        bash {"command":"npm a; npm b; npm c; npm d; npm e; npm f"} -> None
        bash {"command":"npm test $X"} -> None
        bash {"command":"npm test; mytool"} -> None
        bash {"command":"rm -rf x"} -> None
        bash {"command":"npm publish"} -> None
        bash {"command":"X=1 npm test"} -> None
        write {"content":"new\n","path":"src/a[1].rs"} -> Some("Edit(//T/work/src/a\\[1\\].rs)")
        write {"content":"new\n","path":".git/config"} -> None
        write {"content":"new\n","path":"../a"} -> None
        read {"path":"../secret"} -> Some("Read(//T/secret)")
        web_fetch {"url":"https://example.com/x"} -> Some("WebFetch(domain:example.com)")
        web_fetch {"url":"https://*/x"} -> None
        agent {"agent":"*"} -> None
        deploy {} -> Some("deploy")
        Read {} -> None
    "#]].assert_eq(&world.clean(&text));
}

#[derive(Default)]
struct Saved(Mutex<Vec<String>>);

impl RuleSink for Saved {
    fn save(&self, place: RulePlace, list: RuleKind, rules: &[Rule]) {
        let mut saved = self.0.lock().unwrap();
        saved.extend(rules.iter().map(|rule| format!("{place:?} {list} {rule}")));
    }
}

#[test]
fn answers_reach_as_far_as_they_say_and_only_for_the_rule_that_was_shown() {
    let world = World::new();
    let mut text = String::new();
    for (decision, scope) in [
        (PermissionDecision::Allow, Scope::Once),
        (PermissionDecision::Allow, Scope::Session),
        (PermissionDecision::Allow, Scope::Project),
        (PermissionDecision::Allow, Scope::Always),
        (PermissionDecision::Deny, Scope::Once),
        (PermissionDecision::Deny, Scope::Session),
    ] {
        let saved = Arc::new(Saved::default());
        let gate = world.gate("{}").with_sink(Arc::clone(&saved) as Arc<dyn RuleSink>);
        for asked in [bash("npm test a && mkdir x"), bash("rm -rf x"), write("src/a[1].rs")] {
            gate.resolved(&request(&asked, &check(&gate, &asked)), &answer(decision, scope));
        }
        text.push_str(&format!("{decision:?} {scope:?}\n"));
        for call in [
            bash("npm test b"),
            bash("npm install"),
            bash("mkdir x"),
            bash("mkdir y"),
            bash("rm -rf x"),
            write("src/a[1].rs"),
            write("src/a1.rs"),
        ] {
            text.push_str(&format!("  {} {}\n", gate.explain(&call, effect(&call)).decision, call.arguments));
        }
        text.push_str(&format!("  saved {:?}\n", saved.0.lock().unwrap()));
    }
    expect_file!["expected/answers_reach_as_far_as_they_say_and_only_for_the_rule_that_was_shown.txt"]
        .assert_eq(&world.clean(&text));
}

#[test]
fn an_answer_to_a_question_without_a_rule_leaves_nothing_behind() {
    let world = World::new();
    let gate = world.gate("{}");
    let asked = bash("mytool x");
    gate.resolved(&request(&asked, &check(&gate, &asked)), &answer(PermissionDecision::Allow, Scope::Always));
    assert!(matches!(check(&gate, &asked), Verdict::Ask { .. }));
}

#[test]
fn a_session_keeps_so_many_rules_and_asks_again_after_that() {
    let world = World::new();
    let gate = world.gate("{}");
    let approve = |call: &ToolCall| {
        gate.resolved(
            &request(call, &check(&gate, call)),
            &answer(PermissionDecision::Allow, Scope::Session),
        );
    };
    for number in 0..SESSION_RULES_MAX {
        approve(&bash(&format!("mkdir d{number}")));
    }
    assert_eq!(check(&gate, &bash("mkdir d999")), Verdict::Allow);
    approve(&bash("mkdir late"));
    assert!(matches!(check(&gate, &bash("mkdir late")), Verdict::Ask { .. }));
}

#[test]
fn verdicts_say_why() {
    let world = World::new();
    let mut text = String::new();
    for mode in ["default", "plan", "dontAsk"] {
        let gate = world
            .gate(&format!(r#"{{"defaultMode":"{mode}","deny":["Bash(curl *)"],"ask":["Bash(npm *)"]}}"#));
        for call in [bash("curl x"), bash("npm test"), write("src/a.rs"), bash("mkdir a > b")] {
            text.push_str(&match check(&gate, &call) {
                Verdict::Allow => "allow\n".to_owned(),
                Verdict::Deny { reason } => format!("{reason}\n"),
                Verdict::Ask { reason, danger, .. } => format!("ask {danger:?}: {reason}\n"),
                Verdict::Queue { change } => format!("queue {} {}\n", change.tool_name, change.summary),
            });
        }
    }
    expect![[r#"
        denied: run `curl x`: deny rule Bash(curl *) from user settings
        ask Moderate: run `npm test`: ask rule Bash(npm *) from user settings
        ask Moderate: change src/a.rs: no rule allows it; edits need approval
        ask Moderate: run `mkdir a > b`: no rule allows it; changes files; change b: no rule allows it; edits need approval
        denied: run `curl x`: deny rule Bash(curl *) from user settings
        queue bash run `npm test`
        queue write change src/a.rs
        queue bash run `mkdir a > b`, change b
        denied: run `curl x`: deny rule Bash(curl *) from user settings
        denied: this run is non-interactive and the call needs approval: run `npm test`: ask rule Bash(npm *) from user settings
        denied: this run is non-interactive and the call needs approval: change src/a.rs: no rule allows it; edits need approval
        denied: this run is non-interactive and the call needs approval: run `mkdir a > b`: no rule allows it; changes files; change b: no rule allows it; edits need approval
    "#]].assert_eq(&text);
}

#[test]
fn a_gate_that_only_looks_denies_every_change() {
    assert_eq!(check_as(&ReadOnlyGate, &read("x"), Effect::Pure), Verdict::Allow);
    assert!(matches!(check_as(&ReadOnlyGate, &write("x"), Effect::Idempotent), Verdict::Deny { .. }));
    assert!(matches!(check_as(&ReadOnlyGate, &bash("ls"), Effect::Unsafe), Verdict::Deny { .. }));
}

#[test]
fn a_sandbox_spares_questions_about_what_it_holds() {
    let world = World::new();
    let gate =
        world.gate(r#"{"ask": ["Bash(cargo publish *)"]}"#).with_sandboxed_commands(SandboxedCommands::Run);
    let lines = [
        "cargo test",
        "cargo publish -q",
        "rm -rf src",
        "git status",
        "git commit -m x",
        "git push",
        "mkdir ../elsewhere",
        "cargo $x",
    ];
    let decided: Vec<String> = lines
        .iter()
        .map(|line| format!("{line}: {}", gate.explain(&bash(line), Effect::Unsafe).decision))
        .collect();
    expect![[r#"
        cargo test: allow
        cargo publish -q: ask
        rm -rf src: ask
        git status: allow
        git commit -m x: allow
        git push: ask
        mkdir ../elsewhere: ask
        cargo $x: ask"#]]
    .assert_eq(&decided.join("\n"));
    gate.set_mode(PermissionMode::Plan).unwrap();
    assert_eq!(gate.explain(&bash("cargo test"), Effect::Unsafe).decision, Decision::Queue);
}

#[test]
fn what_the_user_agreed_to_in_the_plan_runs_once_and_exactly_so() {
    let world = World::new();
    let gate = world.gate(r#"{"deny": ["Edit(/secret)"]}"#);
    gate.set_mode(PermissionMode::Plan).unwrap();
    let queued = [bash("cargo build"), bash("cargo build"), bash("npm install")];
    for call in &queued {
        assert!(matches!(check(&gate, call), Verdict::Queue { .. }));
    }
    assert_eq!(gate.queued_changes().len(), 3);
    let (mode, changes) = gate.approve_plan();
    assert_eq!((mode, changes.len(), gate.mode()), (PermissionMode::Default, 3, PermissionMode::Default));
    let mut told = String::new();
    for line in ["cargo build", "npm install x", "cargo build", "cargo build", "npm install", "npm install"] {
        let verdict = match check(&gate, &bash(line)) {
            Verdict::Allow => "allow",
            Verdict::Ask { .. } => "ask",
            Verdict::Deny { .. } => "deny",
            Verdict::Queue { .. } => "queue",
        };
        told += &format!("{line}: {verdict}\n");
    }
    expect![[r#"
        cargo build: allow
        npm install x: ask
        cargo build: allow
        cargo build: ask
        npm install: allow
        npm install: ask
    "#]]
    .assert_eq(&told);
    // Also where nobody would be asked.
    let gate = world.gate(r#"{"defaultMode": "dontAsk"}"#);
    gate.set_mode(PermissionMode::Plan).unwrap();
    check(&gate, &bash("cargo build"));
    assert_eq!(gate.approve_plan().0, PermissionMode::DontAsk);
    assert_eq!(check(&gate, &bash("cargo build")), Verdict::Allow);
    assert!(matches!(check(&gate, &bash("cargo build")), Verdict::Deny { .. }));
    // A plan that is turned down leaves nothing behind, and plan mode goes on.
    gate.set_mode(PermissionMode::Plan).unwrap();
    check(&gate, &bash("cargo build"));
    assert_eq!(gate.reject_plan().len(), 1);
    assert_eq!((gate.mode(), gate.queued_changes().len()), (PermissionMode::Plan, 0));
}

#[test]
fn a_plan_holds_so_many_changes_and_no_more() {
    let world = World::new();
    let gate = world.gate("{}");
    gate.set_mode(PermissionMode::Plan).unwrap();
    for _ in 0..crate::policy::plan::CHANGES_MAX {
        assert!(matches!(check(&gate, &bash("cargo build")), Verdict::Queue { .. }));
    }
    let Verdict::Deny { reason } = check(&gate, &bash("cargo build")) else { panic!("it is queued") };
    expect!["the plan already has 256 changes; show it to the user before adding more"].assert_eq(&reason);
}

#[test]
fn what_was_agreed_to_in_one_dir_does_not_hold_in_another() {
    let world = World::new();
    let (work, src) = (world.path().join("work"), world.path().join("work/src"));
    let dir = ShellDirectory::new(&work);
    dir.enter(src.clone());
    let gate = world.gate("{}").with_shell_directory(dir.clone());
    gate.set_mode(PermissionMode::Plan).unwrap();
    check(&gate, &bash("rm x"));
    let queued = gate.queued_changes();
    assert_eq!(
        queued.iter().map(|change| change.summary.as_str()).collect::<Vec<_>>(),
        ["run `rm x` in src"]
    );
    gate.approve_plan_as_shown(&queued).unwrap();
    dir.enter(work);
    assert!(matches!(check(&gate, &bash("rm x")), Verdict::Ask { .. }));
    dir.enter(src);
    assert_eq!(check(&gate, &bash("rm x")), Verdict::Allow);
    assert!(matches!(check(&gate, &bash("rm x")), Verdict::Ask { .. }));
}

#[test]
fn a_new_plan_forgets_what_an_earlier_one_left_unused() {
    let world = World::new();
    let gate = world.gate("{}");
    gate.set_mode(PermissionMode::Plan).unwrap();
    check(&gate, &write("src/a.rs"));
    gate.approve_plan();
    gate.set_mode(PermissionMode::Plan).unwrap();
    gate.reject_plan();
    gate.set_mode(PermissionMode::Default).unwrap();
    assert!(matches!(check(&gate, &write("src/a.rs")), Verdict::Ask { .. }));
}

#[test]
fn no_hook_spares_the_question_about_lasting_damage() {
    let world = World::new();
    let gate = world.gate(r#"{"allow":["Bash(rm *)"]}"#);
    let by = |line: &str| match check(&gate, &bash(line)) {
        Verdict::Ask { by, .. } => Some(by),
        Verdict::Allow | Verdict::Deny { .. } | Verdict::Queue { .. } => None,
    };
    let asked = ["rm -rf x", "git push -f", "mkdir x"].map(by);
    assert_eq!(
        asked,
        [Some(ApprovalReason::Rule), Some(ApprovalReason::Rule), Some(ApprovalReason::Default)]
    );
}

#[test]
fn the_rules_of_a_session_are_added_replaced_and_removed() {
    let world = World::new();
    let saved = Arc::new(Saved::default());
    let gate = world.gate(r#"{"deny":["Bash(curl *)"]}"#).with_sink(Arc::clone(&saved) as Arc<dyn RuleSink>);
    let change = |change, list, rules: &[&str], scope| {
        let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
        match gate.change_rules(change, list, &rules, scope) {
            Ok(warnings) => format!("ok {warnings:?}"),
            Err(error) => error.to_string(),
        }
    };
    let mut text = String::new();
    for (said, list, rules, scope) in [
        (RuleChange::Add, RuleKind::Allow, &["Bash(mytool *)", "Bash(curl *)"][..], Scope::Session),
        (RuleChange::Add, RuleKind::Deny, &["Bash(npm *)"], Scope::Session),
        (RuleChange::Add, RuleKind::Allow, &["Bash(mkdir *)", "Bash("], Scope::Session),
        (RuleChange::Add, RuleKind::Allow, &["Bash(mkdir *)"], Scope::Always),
        (RuleChange::Replace, RuleKind::Allow, &["Bash(touch *)"], Scope::Session),
        (RuleChange::Remove, RuleKind::Deny, &["Bash(npm *)", "Bash(curl *)"], Scope::Always),
    ] {
        text += &format!("{said:?} {list} {rules:?} {scope:?}: {}\n   ", change(said, list, rules, scope));
        for command in ["mytool x", "curl x", "npm test", "mkdir x", "touch x"] {
            let call = bash(command);
            text += &format!(" {command}: {}", gate.explain(&call, effect(&call)).decision);
        }
        text.push('\n');
    }
    text += &format!("saved {:?}", saved.0.lock().unwrap());
    expect![[r#"
        Add allow ["Bash(mytool *)", "Bash(curl *)"] Session: ok []
            mytool x: allow curl x: deny npm test: ask mkdir x: ask touch x: ask
        Add deny ["Bash(npm *)"] Session: ok []
            mytool x: allow curl x: deny npm test: deny mkdir x: ask touch x: ask
        Add allow ["Bash(mkdir *)", "Bash("] Session: cannot read the rule "Bash(": character 6: the parenthesis is not closed; write Bash()
            mytool x: allow curl x: deny npm test: deny mkdir x: ask touch x: ask
        Add allow ["Bash(mkdir *)"] Always: ok []
            mytool x: allow curl x: deny npm test: deny mkdir x: allow touch x: ask
        Replace allow ["Bash(touch *)"] Session: ok []
            mytool x: ask curl x: deny npm test: deny mkdir x: ask touch x: allow
        Remove deny ["Bash(npm *)", "Bash(curl *)"] Always: ok ["not saved to a settings file: it applies to this session only"]
            mytool x: ask curl x: deny npm test: ask mkdir x: ask touch x: allow
        saved ["User allow Bash(mkdir *)"]"#]].assert_eq(&world.clean(&text));
}

#[test]
fn a_session_takes_no_more_rules_at_once_than_it_keeps() {
    let world = World::new();
    let gate = world.gate("{}");
    let rules = |count: usize| -> Vec<String> { (0..count).map(|n| format!("Bash(mkdir d{n})")).collect() };
    let add = |count| gate.change_rules(RuleChange::Add, RuleKind::Allow, &rules(count), Scope::Session);
    assert_eq!(
        add(SESSION_RULES_MAX + 1).unwrap_err().to_string(),
        "a session can add at most 1000 rules; put them in a settings file"
    );
    assert!(matches!(check(&gate, &bash("mkdir d1")), Verdict::Ask { .. }));
    assert_eq!(add(SESSION_RULES_MAX), Ok(Vec::new()));
    assert_eq!(check(&gate, &bash("mkdir d999")), Verdict::Allow);
}

fn facts(gate: &PolicyGate, call: &ToolCall) -> Option<ShellFacts> {
    match gate.check(GateRequest { call, tool: &Unused, effect: effect(call) }) {
        Answer::Now(judgement) => judgement.facts.get::<ShellFacts>().cloned(),
        Answer::Later(_) => panic!("the gate has to wait"),
    }
}

#[test]
fn what_was_found_out_about_a_line_comes_with_the_verdict() {
    let world = World::new();
    let (work, src) = (world.path().join("work"), world.path().join("work/src"));
    let line = "cd src && git commit -m x";
    let known = |dir| {
        Some(ShellFacts {
            line: line.to_owned(),
            dir,
            analysis: crate::shell::analyze(line),
            refusals: Default::default(),
        })
    };
    let gate = world.gate("{}").with_shell(ShellAnalyzer::default());
    assert_eq!(facts(&gate, &bash(line)), known(None), "it follows no shell");
    let dir = ShellDirectory::new(&work);
    let gate = gate.with_shell_directory(dir.clone());
    assert_eq!(facts(&gate, &bash(line)), known(Some(work)));
    dir.enter(src.clone());
    assert_eq!(facts(&gate, &bash(line)), known(Some(src)));
    assert_eq!(facts(&gate, &write("src/a.rs")), None);
}
