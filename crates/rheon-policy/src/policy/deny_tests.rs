//! Deny rules hold in every mode, whatever a line hides; and they leave ordinary lines alone.

use std::sync::Arc;

use rheon_types::event::PermissionMode;

use crate::policy::fixtures::{World, bash, effect};
use crate::policy::{Decision, PolicyGate, PolicyTrust, RuleSource, ShellAnalyzer};

const MODES: [PermissionMode; 6] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Auto,
    PermissionMode::Plan,
    PermissionMode::DontAsk,
    PermissionMode::BypassPermissions,
];

fn gate(world: &World, permissions: &str) -> PolicyGate {
    let policy = world.policy(&[(RuleSource::User, permissions)], PolicyTrust::Trusted).unwrap();
    let workspace = Arc::new(policy.workspace().unwrap());
    PolicyGate::new(policy, workspace).with_shell(ShellAnalyzer::default())
}

/// The lines that are not decided so in one of the modes.
fn others<'a>(
    gate: &PolicyGate,
    modes: &[PermissionMode],
    wanted: Decision,
    lines: &[&'a str],
) -> Vec<(PermissionMode, &'a str)> {
    let mut found = Vec::new();
    for mode in modes {
        gate.set_mode(*mode).unwrap();
        let decision = |line: &str| gate.explain(&bash(line), effect(&bash(line))).decision;
        found.extend(lines.iter().filter(|line| decision(line) != wanted).map(|line| (*mode, *line)));
    }
    found
}

#[test]
fn a_denied_command_is_denied_in_every_mode_however_it_is_hidden() {
    let world = World::new();
    let gate = gate(&world, r#"{"allow":["Bash"],"deny":["Bash(curl *)","Bash(git push *)"]}"#);
    let many = format!("{}curl x", "ls; ".repeat(1_000));
    let long = format!("echo {}; curl x", "a".repeat(64 * 1024));
    let deep = format!("{}curl x{}", "(".repeat(50), ")".repeat(50));
    let wrapped = format!("{}curl x", "env ".repeat(50));
    let options = format!("git {}push", "-c a=b ".repeat(20));
    let lines = [
        many.as_str(),
        &long,
        &deep,
        &wrapped,
        &options,
        "eval 'curl x'",
        "eval \"cu\"'rl x'",
        "eval \"$X\"",
        "{curl,x}",
        "{,,curl} x",
        "{cu,}rl{,} x",
        "$X y",
        "X=curl; $X y",
        "$(echo curl) x",
        "cur? x",
        "/usr/bin/cur* x",
        "git $X",
        "git -C $D $X",
        "git \"${A[@]}\"",
        "bash <<< 'curl x'",
        "echo curl x | sh",
        "bash -s <<'E'\ncurl x\nE",
        "source /dev/stdin <<< 'curl x'",
        ". <(echo curl x)",
        "env -S 'curl x'",
        "strace -f curl x",
        "flock /tmp/l -c 'curl x'",
        "ssh host 'cd x && curl y'",
        "busybox sh -c 'curl x'",
        "nsenter -t 1 sh <<< 'curl x'",
        "find . -exec {} \\;",
        "ls | xargs -I% % x",
        "ls | xargs -I% sh -c %",
        "ls | xargs git",
        "echo x | parallel curl",
        "echo 'curl x' | at now",
        "tmux send-keys 'cur' 'l x' Enter",
        "fd -x curl",
        "a='b[$(curl x)]'; echo $((a))",
        "a='b[$(curl x)]'; echo ${c[a]}",
        "a='$(curl x)'; echo ${a@P}",
        "a='b[$(curl x)]'; [[ $a -eq 1 ]]",
        "a='b[$(curl x)]'; ((a))",
        "a='b[$(curl x)]'; unset $a",
        "for ((i=$(curl x);;)); do :; done",
        "alias ls=curl",
        "f() { \"$@\"; }; f curl x",
        "trap 'curl x' EXIT",
        "mapfile -C 'curl x' -c 1 a < src/main.rs",
        "PS4='$(curl x)'; set -x; ls",
        "zsh -c 'curl x'",
        "sudo --unknown curl x",
    ];
    assert_eq!(others(&gate, &MODES, Decision::Deny, &lines), []);
}

#[test]
fn a_denied_file_is_denied_in_every_mode_wherever_the_line_stands() {
    let world = World::new();
    for dir in ["work/sub/dir", "work/tree/deep"] {
        std::fs::create_dir_all(world.path().join(dir)).unwrap();
    }
    std::fs::write(world.path().join("work/tree/deep/x"), "").unwrap();
    let gate = gate(
        &world,
        r#"{"allow":["Bash"],"deny":["Edit(./sub/new.txt)","Edit(./sub/dir/deep/x)","Edit(./sub/x)"]}"#,
    );
    let absolute = format!("cd $X; echo a > {}/work/sub/new.txt", world.path().display());
    let lines = [
        "cd sub; echo a > new.txt",
        "cd sub || true; echo a > new.txt",
        "cd sub && cd ../none; echo a > new.txt",
        "if cd sub; then :; fi; echo a > new.txt",
        "cd none; echo a > sub/new.txt",
        "{ cd sub; }; touch new.txt",
        "cd src; echo a > ../sub/new.txt",
        "cd $X; echo a > sub/new.txt",
        "while read l; do cd sub; done; echo a > new.txt",
        &absolute,
        "cd sub; touch new.txt",
        "cp x sub/",
        "cp a/x sub",
        "cp -t sub a/x",
        "mv -t sub x",
        "mv --target-directory=sub a/x",
        "install -m 644 x sub",
        "ln -s a/x sub",
        "rsync -a tree/ sub/dir",
        "rsync -a tree/deep sub/dir",
        "cp -r tree/. sub/dir",
        "cp -r tree/deep sub/dir/",
        "cd sub && cp -r ../tree/deep dir",
        "sort -osub/x src/main.rs",
        "tee sub/{new.txt,y}",
        "echo a > $F",
        "touch \"$F\"",
        "cp src/main.rs $D",
        "eval 'echo a > sub/new.txt'",
    ];
    assert_eq!(others(&gate, &MODES, Decision::Deny, &lines), []);
    let fine = [
        "cd sub; echo a > other.txt",
        "cp src/main.rs sub/",
        "cp -r src sub/",
        "rsync -a src/ sub/",
        "echo a > sub/y",
        "mytool $X",
        "cat $X",
        "cd src; ls",
    ];
    assert_eq!(others(&gate, &[PermissionMode::BypassPermissions], Decision::Allow, &fine), []);
}

#[test]
fn a_deny_rule_leaves_ordinary_lines_alone() {
    let world = World::new();
    let rules = r#"{"allow":["Bash"],"deny":["Bash(curl *)","Bash(rm -rf *)","Bash(git push *)"]}"#;
    let gate = gate(&world, rules);
    let lines = [
        "for f in *.rs; do wc -l \"$f\"; done",
        "export PATH=\"$HOME/bin:$PATH\" && make test",
        "source .venv/bin/activate && pytest -q",
        "bash scripts/build.sh",
        "./run.sh && python3 tool.py \"$X\"",
        "python3 - <<'E'\nprint(1)\nE",
        "git log --oneline $(git merge-base main HEAD)..HEAD",
        "git commit -m \"$(cat <<'E'\nA message\nE\n)\"",
        "f() { ls; }; f",
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done",
        "for ((i=0;i<3;i++)); do echo $i; done",
        "tmux ls",
        "strace -f ls",
        "ssh host uptime",
        "rm build/*.o",
        "HOME=/tmp/x npm test",
        "IFS=, read -r a b < src/main.rs",
        "find . -name '*.log' -exec gzip {} \\;",
        "ls | xargs -I{} cp {} src/",
        "echo 👨\u{200d}👩 x",
        "cat > out.txt <<E\n$X\nE",
        "trap 'rm -f x' EXIT; ls",
    ];
    assert_eq!(others(&gate, &[PermissionMode::BypassPermissions], Decision::Allow, &lines), []);
}

#[test]
fn a_look_at_a_repository_whose_settings_run_programs_is_asked_about() {
    let world = World::new();
    std::fs::create_dir_all(world.path().join("work/inner/refs")).unwrap();
    std::fs::create_dir_all(world.path().join("work/inner/objects")).unwrap();
    std::fs::write(world.path().join("work/inner/HEAD"), "ref: refs/heads/main\n").unwrap();
    let gate = gate(&world, r#"{"allow":["Bash(git status *)","Bash(git log *)"]}"#);
    let looks = [
        "git status",
        "git diff",
        "git log -p",
        "git show HEAD",
        "git blame src/main.rs",
        "git -C src status",
    ];
    let default = [PermissionMode::Default];
    assert_eq!(others(&gate, &default, Decision::Allow, &looks), []);
    let bare = ["cd inner && git status", "git -C inner log -p", "cd inner; git show HEAD"];
    assert_eq!(others(&gate, &default, Decision::Ask, &bare), []);
    for setting in [
        "[core]\nfsmonitor = ./x",
        "[diff]\nexternal = ./x",
        "[diff \"x\"]\ntextconv = ./x",
        "[filter \"x\"]\nclean = ./x",
    ] {
        std::fs::write(world.path().join("work/.git/config"), setting).unwrap();
        assert_eq!(others(&gate, &default, Decision::Ask, &looks), [], "{setting}");
    }
    assert_eq!(others(&gate, &default, Decision::Allow, &["git --version", "ls"]), []);
}

#[test]
fn where_the_sandbox_hides_what_is_denied_unknown_files_to_read_are_asked_about_as_before() {
    let world = World::new();
    let rules = r#"{"deny":["Read(./.env)"]}"#;
    let lines = ["cat $X", "for f in src/*; do head -3 \"$f\"; done", "ls | xargs sort"];
    let held = gate(&world, rules).with_full_sandbox(true);
    assert_eq!(others(&held, &[PermissionMode::Default], Decision::Ask, &lines), []);
    assert_eq!(
        others(&held, &[PermissionMode::Auto, PermissionMode::BypassPermissions], Decision::Allow, &lines),
        []
    );
    assert_eq!(others(&gate(&world, rules), &MODES, Decision::Deny, &lines), []);
}
