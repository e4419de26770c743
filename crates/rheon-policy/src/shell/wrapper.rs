//! Commands that run other commands.

use super::options::{GivenOption, Leading, Options, leading};
use super::report::Doubt;
use super::table::is_in;

/// What a command would run besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Inner {
    /// Some of its own words.
    Words(InnerWords),
    Script {
        text: String,
        dialect: Dialect,
    },
    /// Any of its words with those after it, or one of them as a script; and why that is unknown.
    Any(&'static str),
    /// Cannot be determined, and why.
    Unknown(Doubt),
}

/// A command made of words of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InnerWords {
    /// The index of its name.
    pub from: usize,
    /// The index after its last word.
    pub to: usize,
    pub assignments: Vec<(String, Option<String>)>,
    /// The directory it starts in, if that changes. The inner `None` means unknown.
    pub dir: Option<Option<String>>,
    pub holes: Holes,
}

/// Words that are filled in only when a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holes {
    None,
    /// Every word that contains this text.
    At(String),
    /// More words at the end.
    Tail,
}

/// How a shell parses text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Bash,
    /// POSIX sh, which has fewer kinds of quotes.
    Posix,
}

/// A command whose last words are another command.
struct Wrapper {
    name: &'static str,
    options: Options,
    /// How many words come between its options and the inner command.
    operands: usize,
}

const fn wrapper(name: &'static str, letters: &'static str, letters_with_value: &'static str) -> Wrapper {
    Wrapper {
        name,
        options: Options { letters, letters_with_value, names: &[], names_with_value: &[] },
        operands: 0,
    }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("builtin", "", ""),
    wrapper("command", "p", ""),
    wrapper("doas", "nL", "Cua"),
    wrapper("exec", "cl", "a"),
    wrapper("ionice", "t", "cn"),
    wrapper("nohup", "", ""),
    wrapper("setsid", "cfw", ""),
    wrapper("time", "apqv", "fo"),
    Wrapper {
        name: "nice",
        options: Options {
            letters: "",
            letters_with_value: "n",
            names: &[],
            names_with_value: &["adjustment"],
        },
        operands: 0,
    },
    Wrapper {
        name: "stdbuf",
        options: Options {
            letters: "",
            letters_with_value: "ioe",
            names: &[],
            names_with_value: &["input", "output", "error"],
        },
        operands: 0,
    },
    Wrapper {
        name: "sudo",
        options: Options {
            letters: "AbEHnPS",
            letters_with_value: "CghpTtuU",
            names: &["non-interactive", "preserve-env", "stdin", "set-home"],
            names_with_value: &["user", "group", "prompt", "host"],
        },
        operands: 0,
    },
    Wrapper {
        name: "timeout",
        options: Options {
            letters: "v",
            letters_with_value: "ks",
            names: &["foreground", "preserve-status", "verbose"],
            names_with_value: &["kill-after", "signal"],
        },
        operands: 1,
    },
    Wrapper {
        name: "chroot",
        options: Options {
            letters: "",
            letters_with_value: "",
            names: &["skip-chdir"],
            names_with_value: &["userspec", "groups"],
        },
        operands: 1,
    },
];

/// Whether a command runs others in ways of its own, not only words of its line.
fn is_opaque(name: &str) -> bool {
    matches!(name, "at" | "batch" | "daemonize" | "expect" | "gdb" | "osascript" | "parallel" | "script")
}

/// Whether a command runs some of its words, in ways that are not followed.
fn runs_words(name: &str) -> bool {
    matches!(
        name,
        "bwrap"
            | "busybox"
            | "chrt"
            | "cpulimit"
            | "entr"
            | "faketime"
            | "firejail"
            | "flock"
            | "ltrace"
            | "nsenter"
            | "pkexec"
            | "prlimit"
            | "proot"
            | "rlwrap"
            | "runuser"
            | "screen"
            | "setarch"
            | "setpriv"
            | "ssh"
            | "start-stop-daemon"
            | "strace"
            | "su"
            | "systemd-run"
            | "taskset"
            | "tmux"
            | "torsocks"
            | "toybox"
            | "unbuffer"
            | "unshare"
            | "valgrind"
            | "xvfb-run"
    )
}

const BASH_OPTIONS: Options = Options {
    letters: "abcefhiklmnprstuvxBCDEHPT",
    letters_with_value: "oO",
    names: &["login", "noprofile", "norc", "posix", "restricted", "verbose", "noediting"],
    names_with_value: &[],
};

const ENV_OPTIONS: Options = Options {
    letters: "i0v",
    letters_with_value: "uC",
    names: &["ignore-environment", "null", "debug"],
    names_with_value: &["unset", "chdir"],
};

const XARGS_OPTIONS: Options = Options {
    letters: "0rtpxo",
    letters_with_value: "aEIJLRnPsd",
    names: &["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "replace"],
    names_with_value: &["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars"],
};

const WATCH_OPTIONS: Options = Options {
    letters: "bcdegprtvwxC",
    letters_with_value: "nq",
    names: &["beep", "color", "differences", "errexit", "chgexit", "no-title", "exec", "no-wrap", "precise"],
    names_with_value: &["interval", "equexit"],
};

/// The name of a command without its directory.
pub(super) fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a file is more than a name for what the line itself provides, such as `/dev/stdin`.
pub(super) fn is_ordinary_file(path: &str) -> bool {
    !path.starts_with("/dev") && !path.starts_with("/proc") && !path.starts_with("//")
}

/// What a command would run besides itself.
pub(super) fn unwrap(words: &[Option<&str>]) -> Vec<Inner> {
    let Some(Some(name)) = words.first() else { return Vec::new() };
    let name = base_name(name);
    match name {
        "env" => vec_of(env(words)),
        "xargs" => xargs(words),
        "find" | "gfind" => find(words),
        "watch" => vec_of(watch(words)),
        "sh" | "dash" | "ash" => vec_of(shell(words, Dialect::Posix)),
        "bash" | "rbash" => vec_of(shell(words, Dialect::Bash)),
        "zsh" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" | "nu" | "pwsh" | "elvish" | "xonsh" => {
            vec_of(other_shell(words))
        }
        "eval" => vec_of(eval(words)),
        "trap" => vec_of(trap(words)),
        "fd" | "fdfind"
            if ["-x", "-X", "--exec", "--exec-batch"].iter().any(|o| super::options::has(words, o, "")) =>
        {
            vec![Inner::Any("fd runs a command for what it finds")]
        }
        _ if is_opaque(name) => vec![Inner::Unknown(Doubt::Hides("a command that runs another one"))],
        // These type what they are given into another shell.
        "tmux" | "screen" if words.iter().flatten().any(|word| is_in("send-keys send stuff -X", word)) => {
            vec![Inner::Unknown(Doubt::Hides("a command that runs another one"))]
        }
        _ if runs_words(name) => vec![Inner::Any("a command that runs another one")],
        _ => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(wrapper) => vec_of(plain(words, wrapper)),
            None => Vec::new(),
        },
    }
}

fn vec_of(inner: Option<Inner>) -> Vec<Inner> {
    inner.into_iter().collect()
}

fn words_from(from: usize, words: &[Option<&str>]) -> Option<Inner> {
    if from >= words.len() {
        return None;
    }
    let inner = InnerWords { from, to: words.len(), assignments: Vec::new(), dir: None, holes: Holes::None };
    Some(Inner::Words(inner))
}

const NOT_UNWRAPPED: Inner = Inner::Unknown(Doubt::Hides("the options of a command that runs another one"));

fn plain(words: &[Option<&str>], wrapper: &Wrapper) -> Option<Inner> {
    let first = words.get(1).copied().flatten().unwrap_or_default();
    match wrapper.name {
        // These only print what would run.
        "command" if matches!(first, "-v" | "-V") => return None,
        "nice"
            if first
                .strip_prefix('-')
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) =>
        {
            return words_from(2, words);
        }
        _ => {}
    }
    let Some(leading) = leading(words, 1, &wrapper.options) else { return Some(NOT_UNWRAPPED) };
    let from = leading.next + wrapper.operands;
    if wrapper.name == "sudo" && words.get(from).copied().flatten().is_some_and(|word| word.contains('=')) {
        return Some(NOT_UNWRAPPED);
    }
    words_from(from, words)
}

fn env(words: &[Option<&str>]) -> Option<Inner> {
    let mut start = 1;
    while words.get(start) == Some(&Some("-")) {
        start += 1;
    }
    let Some(Leading { given, mut next }) = leading(words, start, &ENV_OPTIONS) else {
        return Some(NOT_UNWRAPPED);
    };
    if words.get(next) == Some(&Some("-")) {
        next += 1;
    }
    let dir = given.iter().rfind(|given| matches!(given.name, "C" | "chdir"));
    let dir = dir.map(|given| given.value.flatten().map(str::to_owned));
    let mut assignments = Vec::new();
    while let Some(word) = words.get(next) {
        let Some(word) = word else { return Some(Inner::Unknown(Doubt::Hides("what env runs"))) };
        let Some((name, value)) = word.split_once('=') else { break };
        assignments.push((name.to_owned(), Some(value.to_owned())));
        next += 1;
    }
    if next >= words.len() {
        return None;
    }
    Some(Inner::Words(InnerWords { from: next, to: words.len(), assignments, dir, holes: Holes::None }))
}

fn xargs(words: &[Option<&str>]) -> Vec<Inner> {
    let Some(Leading { given, next }) = leading(words, 1, &XARGS_OPTIONS) else { return vec![NOT_UNWRAPPED] };
    let mut inners = Vec::new();
    let replaces = |given: &&GivenOption<'_>| matches!(given.name, "I" | "J" | "R" | "replace");
    let mark = given.iter().rfind(replaces).map(|given| match (given.name, given.value) {
        ("replace", None) => Some("{}".to_owned()),
        ("I" | "J" | "replace", Some(mark)) => mark.filter(|mark| !mark.is_empty()).map(str::to_owned),
        _ => None,
    });
    match &mark {
        None => {}
        Some(Some(_)) => inners.push(Inner::Unknown(Doubt::Leaves("arguments that xargs fills in"))),
        Some(None) => inners.push(Inner::Unknown(Doubt::Hides("arguments that xargs fills in"))),
    }
    if next < words.len() {
        let holes = mark.flatten().map_or(Holes::Tail, Holes::At);
        let words = InnerWords { from: next, to: words.len(), assignments: Vec::new(), dir: None, holes };
        inners.push(Inner::Words(words));
    }
    inners
}

fn find(words: &[Option<&str>]) -> Vec<Inner> {
    let mut inners = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        if !matches!(word, Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        let rest = words.get(at..).unwrap_or_default();
        let mut ends = rest.iter().enumerate().filter(|(index, word)| {
            let plus =
                **word == Some("+") && index.checked_sub(1).and_then(|i| rest.get(i)) == Some(&Some("{}"));
            **word == Some(";") || plus
        });
        let Some((length, _)) = ends.next() else {
            inners.push(Inner::Unknown(Doubt::Hides("where the command of find ends")));
            continue;
        };
        let dir = matches!(word, Some("-execdir" | "-okdir")).then_some(None);
        if length > 0 {
            let to = at + length;
            let holes = Holes::At("{}".to_owned());
            let words = InnerWords { from: at, to, assignments: Vec::new(), dir, holes };
            inners.push(Inner::Words(words));
        }
        at += length + 1;
    }
    inners
}

fn watch(words: &[Option<&str>]) -> Option<Inner> {
    let Some(Leading { given, next }) = leading(words, 1, &WATCH_OPTIONS) else { return Some(NOT_UNWRAPPED) };
    if given.iter().any(|given| matches!(given.name, "x" | "exec")) {
        return words_from(next, words);
    }
    let rest = words.get(next..).unwrap_or_default();
    let known: Option<Vec<&str>> = rest.iter().copied().collect();
    match known {
        Some(known) => Some(Inner::Script { text: known.join(" "), dialect: Dialect::Posix }),
        None => Some(Inner::Unknown(Doubt::Hides("what watch runs"))),
    }
}

/// `eval` joins its words and runs them in this shell.
fn eval(words: &[Option<&str>]) -> Option<Inner> {
    let from = if words.get(1) == Some(&Some("--")) { 2 } else { 1 };
    let known: Option<Vec<&str>> = words.get(from..).unwrap_or_default().iter().copied().collect();
    let text = known?.join(" ");
    (!text.is_empty()).then_some(Inner::Script { text, dialect: Dialect::Bash })
}

/// A shell whose syntax is not followed: what it runs from a file is not part of the line.
fn other_shell(words: &[Option<&str>]) -> Option<Inner> {
    const REASON: &str = "a shell with a different syntax";
    let rest = words.get(1..).unwrap_or_default();
    let is_file = matches!(rest, [Some(file), ..] if !file.starts_with('-'));
    Some(Inner::Unknown(if is_file { Doubt::Leaves(REASON) } else { Doubt::Hides(REASON) }))
}

fn shell(words: &[Option<&str>], dialect: Dialect) -> Option<Inner> {
    let first = words.get(1).copied().flatten().unwrap_or_default();
    if words.len() == 2 && matches!(first, "--version" | "--help") {
        return None;
    }
    let Some(Leading { given, next }) = leading(words, 1, &BASH_OPTIONS) else { return Some(NOT_UNWRAPPED) };
    let reads_settings = given.iter().any(|given| matches!(given.name, "O" | "k"));
    if reads_settings {
        return Some(Inner::Unknown(Doubt::Hides("shell options that change its syntax")));
    }
    if given.iter().any(|given| given.name == "c") {
        return match words.get(next) {
            Some(Some(text)) => Some(Inner::Script { text: (*text).to_owned(), dialect }),
            Some(None) | None => Some(Inner::Unknown(Doubt::Hides("what the shell runs"))),
        };
    }
    if next >= words.len()
        || given.iter().any(|given| given.name == "s")
        || words.get(next) == Some(&Some("-"))
    {
        return Some(Inner::Unknown(Doubt::Hides("a shell that runs its input")));
    }
    // `/dev/stdin` and `<(...)` are files only by name.
    let is_file = words.get(next).copied().flatten().is_some_and(is_ordinary_file);
    Some(Inner::Unknown(if is_file { Doubt::Leaves(RUNS_FILE) } else { Doubt::Hides(RUNS_FILE) }))
}

const RUNS_FILE: &str = "a shell that runs a file";

fn trap(words: &[Option<&str>]) -> Option<Inner> {
    let from = if words.get(1) == Some(&Some("--")) { 2 } else { 1 };
    match words.get(from) {
        None | Some(Some("-" | "" | "-l" | "-p")) => None,
        Some(Some(text)) if words.len() > from + 1 => {
            Some(Inner::Script { text: (*text).to_owned(), dialect: Dialect::Bash })
        }
        Some(Some(_)) => None,
        Some(None) => Some(Inner::Unknown(Doubt::Hides("what trap runs"))),
    }
}
