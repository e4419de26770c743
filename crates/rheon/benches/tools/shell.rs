//! Shell analysis of lines of one kilobyte, by what is in them.

use std::hint::black_box;

use rheon::policy::shell::analyze;

use crate::race::{race, whole};
use crate::report;

const LINE_BYTES: usize = 1_000;
const ROUNDS: usize = 200;
const HOSTILE_ROUNDS: usize = 3;

/// Whether all of a line can be known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Known,
    Unknown,
}

/// Kinds of lines: a name, what is repeated, what stands between, and whether all of it can be known.
const KINDS: [(&str, &str, &str, Outcome); 14] = [
    ("pipeline", "sort -u -k 2 input.txt", " | ", Outcome::Known),
    ("list", "cargo test --workspace -p rheon-tools", " && ", Outcome::Known),
    ("redirections", "make -j2 all > build.log 2>&1", "; ", Outcome::Known),
    ("single_quotes", "grep -rn 'some text; with | signs' src", " | ", Outcome::Known),
    ("quoted_program", "awk '{ print $1, ($2 + 1) }' data.txt", " | ", Outcome::Known),
    ("quoted_escapes", "git commit -m \"say \\\"no\\\" (twice)\"", " && ", Outcome::Known),
    ("double_quotes", "git commit -m \"it's done & tested\"", " && ", Outcome::Known),
    ("wrappers", "timeout 10 nice -n 5 env A=b cargo check", " ; ", Outcome::Known),
    ("scripts", "bash -c 'cd src && ls -la | wc -l'", " ; ", Outcome::Known),
    ("escapes", "find . -name a\\ b.txt \\( -type f \\)", " ; ", Outcome::Known),
    ("braces", "git stash show stash@{1} --stat", " && ", Outcome::Known),
    ("compound", "if test -f a; then echo yes; else ( cd b && make ); fi", " ; ", Outcome::Known),
    ("ansi_quotes", "printf $'%s\\t%s\\n' one two", " ; ", Outcome::Known),
    ("variables", "echo \"$HOME/bin:$PATH\" $(git rev-parse HEAD)", " ; ", Outcome::Unknown),
];

/// The longest text that is looked at.
const TEXT_BYTES: usize = 64 * 1024;

/// What a text is made of that is meant to take long: a beginning, what is repeated, an end.
const HOSTILE: [(&str, &str, &str); 14] = [
    ("", "\"$(cat <<E\n", ""),
    ("", "$(", ""),
    ("", "((", ""),
    ("", "`", ""),
    ("", "\"`", ""),
    ("", "${a:-", ""),
    ("", "if ", ""),
    ("", "time ", "a"),
    ("", "a <<E;", "\nE\n"),
    ("", "a=b ", "c"),
    ("nice ", "nice ", "ls"),
    ("bash -c '", "a;", "'"),
    ("echo ", "{a,", "}"),
    ("", "f() { a; }; ", "f"),
];

pub(crate) fn measure() {
    usual();
    hostile();
}

/// The slowest of the hostile texts, by the best of a few rounds.
fn hostile() {
    let texts = HOSTILE.map(|(begin, part, end)| {
        let count = (TEXT_BYTES - begin.len() - end.len()) / part.len();
        (part, format!("{begin}{}{end}", part.repeat(count)))
    });
    let ways = texts.iter().map(|(part, text)| {
        whole(*part, move || {
            black_box(analyze(black_box(text)));
        })
    });
    let times = race(HOSTILE_ROUNDS, ways);
    let slowest = texts.iter().map(|(part, _)| (times.best(part), part)).max_by(|a, b| a.0.total_cmp(&b.0));
    let (time, part) = slowest.expect("there are texts");
    eprintln!("== the slowest hostile text repeats {part:?}");
    report("shell/hostile", time);
}

fn usual() {
    let lines = KINDS.map(|(name, part, between, outcome)| {
        let count = LINE_BYTES / (part.len() + between.len());
        let line = vec![part; count].join(between);
        let analysis = analyze(&line);
        let is_known = analysis.unknown.is_empty();
        assert_eq!(is_known, outcome == Outcome::Known, "{name}: {:?}", analysis.unknown);
        assert!(analysis.commands.len() >= count, "{name}: all commands are listed");
        (name, line)
    });
    let ways = lines.iter().map(|(name, line)| {
        whole(*name, move || {
            black_box(analyze(black_box(line)));
        })
    });
    let times = race(ROUNDS, ways);
    let splits = lines.iter().map(|(name, line)| {
        whole(*name, move || {
            black_box(line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        })
    });
    let split = race(ROUNDS, splits);
    for (name, line) in &lines {
        // By the kilobyte: no line has just so many bytes.
        let kilobytes = line.len() as f64 / LINE_BYTES as f64;
        report(&format!("shell/{name}"), times.best(name) / kilobytes);
        report(&format!("shell/{name}/median"), times.median(name) / kilobytes);
        report(&format!("shell/{name}/split"), split.best(name) / kilobytes);
    }
}
