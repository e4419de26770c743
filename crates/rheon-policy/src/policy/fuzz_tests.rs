//! Random lines in a real bash: none that runs a denied command may be judged anything but denied, in the mode that asks
//! nothing. `cargo xtask fuzz-shell` tries many more.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use proptest::prelude::{ProptestConfig, Rng as _};
use proptest::test_runner::TestRunner;
use rheon_types::event::PermissionMode;

use crate::policy::fixtures::{World, bash, effect};
use crate::policy::{Decision, PolicyGate, PolicyTrust, RuleSource, ShellAnalyzer};
use crate::shell::differential_tests::{CASES_USUAL, Chance, LINES_PER_CASE};

/// Lines that one bash runs.
const BATCH: usize = 500;

/// Ways to run `cc`, which is denied. `@` stands for the name, in one of its spellings.
const WAYS: &[&str] = &[
    "@",
    "@ 1 2",
    "@ > out",
    "V=1 @",
    "eval '@ 1'",
    "eval @ 1",
    "eval \"e\"'val @'",
    "command @",
    "builtin command @",
    "exec @",
    "coproc @",
    "! @",
    "time @",
    "@ &",
    "(@)",
    "{ @; }",
    "if @; then :; fi",
    "while @; do break; done",
    "case x in x) @;; esac",
    "for v in cc; do $v; done",
    "for v in 1 2; do @; done",
    "X=cc; $X 1",
    "X=c; ${X}c",
    "$(echo cc) 1",
    "`echo cc`",
    "set -- cc; \"$@\"",
    "a=(cc 1); \"${a[@]}\"",
    "f() { \"$@\"; }; f cc",
    "f() { @; }; f",
    "echo() { @; }; echo",
    "trap @ EXIT",
    "trap '@ 1' EXIT; :",
    "bash -c '@'",
    "bash -c \"eval '@'\"",
    "sh -c 'cc 1'",
    "sh -c cc",
    "env cc",
    "env X=1 cc 2",
    "env -u X cc",
    "timeout 5 cc",
    "nice cc",
    "nice -n 1 cc",
    "nohup cc",
    "xargs cc </dev/null",
    "xargs -I% % <<< cc",
    "xargs sh -c <<< cc",
    "find . -maxdepth 0 -exec cc {} \\;",
    "find . -maxdepth 0 -exec sh -c cc \\;",
    "echo cc | bash",
    "bash <<< '@'",
    "bash -s <<E\n@\nE\n",
    "source /dev/stdin <<< cc",
    ". <(echo cc)",
    "x='y[$(@)]'; echo $((x))",
    "x='y[$(@)]'; ((x))",
    "x='y[$(@)]'; [[ $x -eq 1 ]]",
    "x='$(@)'; echo ${x@P}",
    "echo $((y[$(@)]))",
    "echo ${y[$(@)]}",
    "printf -v 'y[$(@)]' 1",
    "test -v 'y[$(@)]'",
    "unset 'y[$(@)]'",
    "read 'y[$(@)]' <<< 1",
    "declare -i y='z[$(@)]'",
    "let 'y=z[$(@)]'",
    "for ((i=$(@);0;)); do :; done",
    "[[ -n $(@) ]]",
    "echo <(@)",
    "echo \"$(@)\"",
    "cat <<E\n$(@)\nE\n",
    "y[$(@)]=1",
    "y=([$(@)]=1)",
    "PS4='$(@)'; set -x; :",
    "shopt -s expand_aliases; alias q=cc\nq",
    "hash -p \"$SHIMS/cc\" q; q",
    "mapfile -C @ -c 1 y <<< 1",
    "cd .; @",
    "cd none || @",
    "c?",
    "[c]c",
    "c*",
];

/// Spellings of the name.
const NAMES: &[&str] = &[
    "cc",
    "cc",
    "cc",
    "c\"\"c",
    "\\cc",
    "c\\c",
    "$'c\\x63'",
    "\"cc\"",
    "{cc,1}",
    "{c,}c",
    "c{c,x}",
    "$\"cc\"",
];

#[test]
fn no_line_that_runs_a_denied_command_is_judged_allowed() {
    let cases = ProptestConfig::default().cases;
    let mut runner = if cases <= CASES_USUAL { TestRunner::deterministic() } else { TestRunner::default() };
    let seed = runner.rng().next_u64();
    // An ordinary run tries the same few lines every time.
    let count = if cases <= CASES_USUAL { 1_500 } else { (cases * LINES_PER_CASE) as usize };
    let world = World::new();
    let policy = world
        .policy(&[(RuleSource::User, r#"{"allow":["Bash"],"deny":["Bash(cc *)"]}"#)], PolicyTrust::Trusted);
    let policy = policy.unwrap();
    let workspace = Arc::new(policy.workspace().unwrap());
    let gate = PolicyGate::new(policy, workspace).with_shell(ShellAnalyzer::default());
    gate.set_mode(PermissionMode::BypassPermissions).unwrap();

    let mut chance = Chance(seed);
    let (mut ran, mut allowed) = (0, 0);
    for begin in (0..count).step_by(BATCH) {
        let lines: Vec<String> = (begin..count.min(begin + BATCH)).map(|_| line(&mut chance)).collect();
        let denied = ran_denied(&lines);
        for (index, line) in lines.iter().enumerate() {
            let explanation = gate.explain(&bash(line), effect(&bash(line)));
            allowed += usize::from(explanation.decision == Decision::Allow);
            if denied.contains(&index) {
                ran += 1;
                assert_eq!(
                    explanation.decision,
                    Decision::Deny,
                    "seed {seed}: bash ran the denied command\nline: {line:?}\n{explanation}"
                );
            }
        }
    }
    println!("seed {seed}: {count} lines, {ran} of them ran the denied command, {allowed} were allowed");
    assert!(ran * 4 > count && allowed * 20 > count, "{ran} ran, {allowed} allowed: the test says little");
}

fn line(chance: &mut Chance) -> String {
    let mut line = String::new();
    if chance.one_in(3) {
        line.push_str(&chance.list(1));
        line.push_str(chance.pick(&["; ", "\n", " && ", " || ", " | ", " & "]));
    }
    if !chance.one_in(6) {
        let (way, name) = (chance.pick(WAYS), chance.pick(NAMES));
        // Within quotes only a plain name is one.
        let name =
            if way.contains("'@") || way.contains("[$(@") || way.contains("$(@)'") { "cc" } else { name };
        line.push_str(&way.replace('@', name));
    } else {
        line.push_str(&chance.list(1));
    }
    if chance.one_in(3) {
        line.push_str(chance.pick(&["; ", "\n", " && ", " || "]));
        line.push_str(&chance.list(1));
    }
    if chance.one_in(4) && !["while", "until", "ff", "for"].iter().any(|word| line.contains(word)) {
        for _ in 0..=chance.below(2) {
            chance.mangle(&mut line);
        }
    }
    line
}

/// The lines that ran `cc`.
fn ran_denied(lines: &[String]) -> BTreeSet<usize> {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for name in ["work", "shims", "seen"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    // Programs find it on the path, the shell as a function, which is quicker.
    let record = "printf '%s\\n' \"$CASE\" >> \"$SEEN/$$\"";
    std::fs::write(at("shims/cc"), format!("#!/bin/sh\n{record}\n")).unwrap();
    std::fs::set_permissions(at("shims/cc"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(at("work/cc"), "").unwrap();
    for name in ["bash", "sh", "env", "timeout", "nice", "nohup", "xargs", "find", "cat", "echo"] {
        let program =
            ["/bin", "/usr/bin"].iter().map(|dir| Path::new(dir).join(name)).find(|path| path.exists());
        std::os::unix::fs::symlink(program.unwrap(), at("shims").join(name)).unwrap();
    }
    let mut script = "cc() { printf '%s\\n' \"$CASE\" >> \"$SEEN/$BASHPID\"; }\nexport -f cc\nexport CASE\n\
                      command_not_found_handle() { :; }\nFUNCNEST=4\nulimit -t 20\n"
        .to_owned();
    for (index, line) in lines.iter().enumerate() {
        let quoted = line.replace('\'', "'\\''");
        writeln!(script, "CASE={index}\nLINE='{quoted}'\n(eval \"$LINE\"\nwait) </dev/null >/dev/null 2>&1")
            .unwrap();
    }
    std::fs::write(at("script"), script).unwrap();
    let status = Command::new("/bin/bash")
        .args(["--norc", "--noprofile"])
        .arg(at("script"))
        .current_dir(at("work"))
        .env_clear()
        .env("PATH", at("shims"))
        .env("SHIMS", at("shims"))
        .env("SEEN", at("seen"))
        .env("HOME", "~")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.code().is_some(), "bash was killed");
    let files = std::fs::read_dir(at("seen")).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    texts.flat_map(|text| text.lines().filter_map(|line| line.parse().ok()).collect::<Vec<usize>>()).collect()
}
