//! The analysis and a real bash must agree: random lines are run where every command is only written down.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::{ProptestConfig, Rng as _};
use proptest::test_runner::TestRunner;

use super::{Analysis, analyze};

/// Lines per case of the configuration, which `PROPTEST_CASES` raises.
pub(crate) const LINES_PER_CASE: u32 = 16;
/// How many cases there are unless `PROPTEST_CASES` says otherwise.
pub(crate) const CASES_USUAL: u32 = 256;
/// Lines that one bash runs.
const BATCH: usize = 1_000;

/// Reasons that leave the structure of a line known: every command is listed, some words are absent.
const WORDS_ONLY: [&str; 9] = [
    "an expansion",
    "a command substitution",
    "a process substitution",
    "a glob pattern",
    "a brace expansion",
    "a home directory",
    "an arithmetic expansion",
    "a translated string",
    "the name of a command",
];

#[test]
fn a_real_bash_runs_what_the_analysis_lists() {
    let cases = ProptestConfig::default().cases;
    // An ordinary run tries the same lines every time, so that a change is judged by what it changes; whoever raises the
    // number of cases looks for something new.
    let mut runner = if cases <= CASES_USUAL { TestRunner::deterministic() } else { TestRunner::default() };
    let seed = runner.rng().next_u64();
    let mut chance = Chance(seed);
    let count = (cases * LINES_PER_CASE) as usize;
    let lines: Vec<String> = (0..count).map(|_| chance.line()).collect();
    let mut known = 0;
    let mut ran = 0;
    for batch in lines.chunks(BATCH) {
        let seen = run(batch);
        for (index, line) in batch.iter().enumerate() {
            let analysis = analyze(line);
            known += usize::from(analysis.unknown.is_empty());
            for words in seen.get(&index).into_iter().flatten() {
                ran += 1;
                assert!(
                    lists(&analysis, words),
                    "seed {seed}: bash ran {words:?}, which the analysis does not list\nline: {line:?}\n{analysis:#?}"
                );
            }
        }
    }
    assert!(known * 4 > count, "only {known} of {count} lines are known: the test says little");
    assert!(ran > count / 2, "only {ran} commands ran: the test says little");
}

/// Whether a command that ran is among those listed, as far as the analysis claims to know.
fn lists(analysis: &Analysis, words: &[String]) -> bool {
    if !analysis.unknown.iter().all(|reason| WORDS_ONLY.contains(&reason.as_str())) {
        return true;
    }
    analysis.commands.iter().any(|command| matches(&command.words, words))
}

/// Whether words fit; an absent one stands for any number.
fn matches(pattern: &[Option<String>], words: &[String]) -> bool {
    match pattern.split_first() {
        None => words.is_empty(),
        Some((Some(word), rest)) => words.first() == Some(word) && matches(rest, &words[1..]),
        Some((None, rest)) => (0..=words.len()).any(|skipped| matches(rest, &words[skipped..])),
    }
}

/// Runs each line in a shell of its own and says what commands it would have run.
fn run(lines: &[String]) -> BTreeMap<usize, Vec<Vec<String>>> {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("work");
    let empty = dir.path().join("empty");
    let seen = dir.path().join("seen");
    std::fs::create_dir(&work).unwrap();
    std::fs::create_dir(&empty).unwrap();
    std::fs::create_dir(&seen).unwrap();
    // No name is found on the empty PATH, so every command ends up here, with its words.
    let mut script = String::from(
        "command_not_found_handle() { printf '%s\\0' \"$CASE\" \"$#\" \"$@\" >> \"$SEEN/$BASHPID\"; }\nFUNCNEST=4\nulimit -t 20\n",
    );
    for (index, line) in lines.iter().enumerate() {
        let quoted = line.replace('\'', "'\\''");
        writeln!(script, "CASE={index}\nLINE='{quoted}'\n(eval \"$LINE\"\nwait) </dev/null >/dev/null 2>&1")
            .unwrap();
    }
    let file = dir.path().join("script");
    std::fs::write(&file, script).unwrap();
    let status = Command::new("/bin/bash")
        .args(["--norc", "--noprofile"])
        .arg(&file)
        .current_dir(&work)
        .env_clear()
        .env("PATH", &empty)
        .env("SEEN", &seen)
        // What stands for the home directory is the sign itself, as in the analysis.
        .env("HOME", "~")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.code().is_some(), "bash was killed");
    parse(&seen)
}

fn parse(seen: &Path) -> BTreeMap<usize, Vec<Vec<String>>> {
    let mut found: BTreeMap<usize, Vec<Vec<String>>> = BTreeMap::new();
    // Every process writes a file of its own: those of a pipeline run at the same time.
    for file in std::fs::read_dir(seen).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let mut fields =
            bytes.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
        while let Some(index) = fields.next().filter(|index| !index.is_empty()) {
            let count: usize = fields.next().unwrap().parse().unwrap();
            let words = fields.by_ref().take(count).collect();
            found.entry(index.parse().unwrap()).or_default().push(words);
        }
    }
    found
}

/// A source of lines.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(crate) fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn line(&mut self) -> String {
        let mut line = self.list(0);
        // Loops and functions would not end once their words are mangled.
        if self.one_in(4) && !["while", "until", "ff"].iter().any(|word| line.contains(word)) {
            for _ in 0..=self.below(3) {
                self.mangle(&mut line);
            }
        }
        line
    }

    pub(crate) fn mangle(&mut self, line: &mut String) {
        const SIGNS: [&str; 26] = [
            "'", "\"", "\\", "$", "`", "(", ")", "{", "}", "<", ">", "|", "&", ";", "\n", " ", "#", "!", "=",
            "~", "[", "]", "*", "\t", "\\\n", "$'",
        ];
        let places: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
        if places.is_empty() {
            return;
        }
        let at = places[self.below(places.len())];
        if self.one_in(3) {
            line.remove(at);
        } else {
            let sign = self.pick(&SIGNS);
            line.insert_str(at, sign);
        }
    }

    pub(crate) fn list(&mut self, depth: usize) -> String {
        let mut text = self.statement(depth);
        for _ in 0..self.below(3) {
            let separator = self.pick(&[
                ";",
                "; ",
                " && ",
                "&&",
                " || ",
                "||",
                " | ",
                "|",
                " |& ",
                " & ",
                "&",
                "\n",
                " # it's \"x\n",
                " \\\n && ",
                "\n\n",
                " &&\n",
                "\t;\t",
            ]);
            text.push_str(separator);
            text.push_str(&self.statement(depth));
        }
        text
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth > 2 || !self.one_in(4) {
            return self.simple(depth);
        }
        let inner = self.list(depth + 1);
        match self.below(12) {
            0 => format!("({inner})"),
            1 => format!("{{ {inner}\n}}"),
            2 => format!("if {inner}\nthen {}\nelse {}\nfi", self.list(depth + 1), self.list(depth + 1)),
            3 => format!("for v in {} {}; do {inner}\ndone", self.word(depth), self.word(depth)),
            4 => format!("while {inner}\ndo {}\nbreak\ndone", self.simple(depth)),
            5 => format!("until {inner}\ndo {}\nbreak\ndone", self.simple(depth)),
            6 => format!(
                "case {} in {}) {inner}\n;; *) {};; esac",
                self.word(depth),
                self.word(depth),
                self.simple(depth)
            ),
            7 => format!("! {}", self.simple(depth)),
            8 => format!("time {}", self.simple(depth)),
            9 => format!("ff() {{ {inner}\n}}"),
            10 => format!("{{ {inner}\n}} > {}", self.word(depth)),
            _ => {
                let quote = self.pick(&["", "'", "\\"]);
                let close = if quote == "'" { "'" } else { "" };
                format!("{} <<{quote}E{close}\n{}\nE\n", self.simple(depth), self.quoted_text())
            }
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.one_in(8) {
            text.push_str(&format!("V={} ", self.word(depth)));
        }
        text.push_str(self.pick(&[
            "aa",
            "bb",
            "cc",
            "a'a'",
            "b\"\"b",
            "\\cc",
            "$'a\\x61'",
            "'a b'",
            "aa-b",
            "x=y",
            "time",
            "if",
        ]));
        for _ in 0..self.below(4) {
            text.push_str(self.pick(&[" ", "  ", "\t", " \\\n", " "]));
            let word = match self.below(12) {
                0 => {
                    let operator = self.pick(&[">", ">>", "2>", "> ", "&>", "<<<", "2>&1 >", "<"]);
                    format!("{operator}{}", self.word(depth))
                }
                _ => self.word(depth),
            };
            text.push_str(&word);
        }
        text
    }

    pub(crate) fn word(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(3) {
            let piece = match self.below(14) {
                0 => format!("'{}'", self.quoted_text().replace('\'', "")),
                1 => format!("\"{}\"", self.double_text()),
                2 => format!("$'{}'", self.ansi_text()),
                3 => format!(
                    "\\{}",
                    self.pick(&[
                        "a", " ", "'", "\"", "\\", "$", "`", ";", "&", "|", "(", "*", "é", "#", "~", "{"
                    ])
                ),
                4 if self.one_in(3) => self
                    .pick(&["*", "?", "[a]", "{a,b}", "~x", "$V", "${V}", "$((1+1))", "`aa`", "$\"x\""])
                    .into(),
                4 if depth < 2 && self.one_in(6) => format!("$({})", self.simple(depth + 1)),
                5 => self
                    .pick(&[
                        "~", "~/", "{}", "a{b}", "[", "]", "!", "$", "a=b", "-", "--", "%", "é", "x:~", "{",
                        "}", "@{1}", "^",
                    ])
                    .into(),
                _ => self
                    .pick(&[
                        "a", "b", "cc", "1", "2", "-x", "a.b", "a#b", "a=", ",", ":", "+", "@", "in", "do",
                        "fi",
                    ])
                    .into(),
            };
            text.push_str(&piece);
        }
        text
    }

    fn quoted_text(&mut self) -> String {
        const PIECES: [&str; 22] = [
            "a", " ", ";", "\"", "\\", "$", "#", "&", "|", "(", ")", "<", ">", "\n", "*", "~", "é", "{a,b}",
            "'", "!", "E", "\t",
        ];
        (0..self.below(5)).map(|_| self.pick(&PIECES)).collect()
    }

    fn double_text(&mut self) -> String {
        const PIECES: [&str; 24] = [
            "a", " ", ";", "'", "\\\\", "\\\"", "\\$", "\\`", "\\a", "\\\n", "#", "&", "|", "(", ")", "\n",
            "*", "~", "é", "$ ", "{a,b}", "!", "\\'", "$%",
        ];
        (0..self.below(5)).map(|_| self.pick(&PIECES)).collect()
    }

    fn ansi_text(&mut self) -> String {
        const PIECES: [&str; 24] = [
            "a", " ", ";", "\"", "\\\\", "\\'", "\\n", "\\t", "\\x61", "\\141", "\\x6", "\\u0061", "\\q",
            "$", "#", "&", "(", "\n", "*", "\\e", "\\?", "\\\"", "\\7", "`",
        ];
        (0..self.below(5)).map(|_| self.pick(&PIECES)).collect()
    }
}
