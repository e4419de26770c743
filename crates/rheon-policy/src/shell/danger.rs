//! How dangerous a command is: the table, plus commands whose arguments decide.

use rheon_types::event::Danger;
use rheon_types::event::Danger::{Critical, Dangerous, Moderate, Safe};

use super::builtin::{is_influential, is_interpreter, obscures};
use super::options::has;
use super::report::CALLS_ITSELF;
use super::table::{CREDENTIALS, GIT_RAISES, OTHERS, Raise, Row, SYSTEM_DIRS, find, is_in};
use super::types::{Analysis, Redirection, SimpleCommand};
use super::wrapper::base_name;

/// Options before a subcommand that do not affect it.
const PLAIN_OPTIONS: &str = "-q --quiet -v --verbose -s --silent --offline --locked --frozen --no-color --no-pager -p -P \
     --no-optional-locks --literal-pathspecs --bare";

/// Why a command is dangerous that only an unknown argument could make so.
pub const UNKNOWN_OPTION: &str = "an unknown argument may be an option";

type Verdict = (Danger, &'static str);

/// How dangerous a command is, and why.
pub fn danger(command: &SimpleCommand) -> (Danger, &'static str) {
    let words: Vec<Option<&str>> = command.words.iter().map(Option::as_deref).collect();
    let mut worst = match words.split_first() {
        None => (Safe, "sets variables"),
        Some((None, _)) => (Dangerous, "a command with an unknown name"),
        Some((Some(name), rest)) => by_name(name, rest),
    };
    if let Some(doubt) = obscures(&words) {
        raise(&mut worst, (Dangerous, doubt.reason()));
    }
    if command.assignments.iter().any(|(name, _)| is_influential(name)) {
        raise(&mut worst, (Dangerous, "sets an environment variable that changes what commands do"));
    }
    let secret = |word: &&str| is_secret(word) || *word == "~/.ssh";
    if words.iter().skip(1).flatten().any(secret) {
        raise(&mut worst, (Critical, "touches keys or passwords"));
    }
    worst
}

/// Commands that change the directory of the next line.
const DIRECTORY_CHANGES: [&str; 3] = ["cd", "pushd", "popd"];

/// Whether a line changes nothing, not even the directory of the next line.
pub fn only_reads(analysis: &Analysis) -> bool {
    let reads = |command: &SimpleCommand| {
        let is_known = command.assignments.is_empty() && command.words.iter().all(Option::is_some);
        let name = command.words.first().and_then(Option::as_deref).unwrap_or_default();
        is_known && danger(command).0 == Danger::Safe && !DIRECTORY_CHANGES.contains(&name)
    };
    analysis.unknown.is_empty()
        && analysis.commands.iter().all(reads)
        && analysis.redirections.iter().all(|redirection| redirection_danger(redirection).0 == Danger::Safe)
}

/// How dangerous it is that the shell opens this file, and why.
pub fn redirection_danger(redirection: &Redirection) -> (Danger, &'static str) {
    let Some(target) = redirection.target.as_deref() else {
        return (Dangerous, "opens an unknown file");
    };
    if matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty") {
        return (Safe, "opens no file");
    }
    if target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/") {
        return (Dangerous, "accesses the network");
    }
    if is_secret(target) {
        return (Critical, "touches keys or passwords");
    }
    match (redirection.writes, is_system(target)) {
        (true, true) => (Critical, "writes to the system"),
        (true, false) => (Moderate, "writes a file"),
        (false, _) => (Safe, "reads a file"),
    }
}

/// The highest danger in a line. Unknown parts count as dangerous.
pub fn highest_danger(analysis: &Analysis) -> (Danger, &'static str) {
    let mut worst = (Safe, "does nothing");
    for verdict in analysis.commands.iter().map(danger) {
        raise(&mut worst, verdict);
    }
    for verdict in analysis.redirections.iter().map(redirection_danger) {
        raise(&mut worst, verdict);
    }
    if analysis.unknown.iter().any(|reason| reason == CALLS_ITSELF) {
        raise(&mut worst, (Critical, "a function that calls itself forever"));
    }
    if !analysis.unknown.is_empty() {
        raise(&mut worst, (Dangerous, "parts of it are unknown"));
    }
    worst
}

fn raise(worst: &mut Verdict, other: Verdict) {
    if other.0 > worst.0 {
        *worst = other;
    }
}

fn by_name(name: &str, rest: &[Option<&str>]) -> Verdict {
    let base = base_name(name);
    if base != name
        && !["/bin/", "/usr/bin/", "/usr/local/bin/"].iter().any(|dir| *name == format!("{dir}{base}"))
    {
        return (Dangerous, "runs a program by its path");
    }
    if base.starts_with("mkfs") {
        return (Critical, "destroys disks");
    }
    if is_interpreter(base) && base != "bun" {
        return interpreter(base, rest);
    }
    match base {
        "rm" | "unlink" => rm(rest),
        "dd" => dd(rest),
        "chmod" => chmod(rest),
        "sed" | "gsed" => sed(rest),
        "awk" | "gawk" | "mawk" | "nawk" => awk(rest),
        "git" => git(rest),
        "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" => shell(rest),
        "cp" | "mv" | "tee" | "ln" | "install" | "truncate" | "touch" | "mkdir" => {
            let system = rest.last().copied().flatten().is_some_and(is_system)
                || (base != "cp" && rest.iter().flatten().any(|word| is_system(word)));
            if system { (Critical, "writes to the system") } else { from_table(base, rest) }
        }
        "make" | "gmake"
            if rest.iter().flatten().any(|word| word.contains('$') || word.starts_with("SHELL=")) =>
        {
            (Dangerous, "runs other programs")
        }
        // The first word of tar may hold options without a dash.
        "tar"
            if rest
                .first()
                .copied()
                .flatten()
                .is_some_and(|word| !word.starts_with('-') && word.contains(['I', 'F', 'P'])) =>
        {
            (Dangerous, "runs other programs")
        }
        "uniq" if operands(rest).count() > 1 => (Moderate, "changes files"),
        "npm" if matches!(rest, [Some("ls" | "list" | "why" | "explain"), ..]) => (Safe, "only reads"),
        "hostname" if operands(rest).next().is_some() => (Dangerous, "changes the system"),
        "kill" if rest.len() > 1 && rest.last() == Some(&Some("-1")) => (Critical, "stops every process"),
        "ps" if shows_environment(rest) => {
            (Critical, "shows environment variables of other programs, including keys")
        }
        "strings" if rest.iter().flatten().any(|word| word.starts_with('@')) => {
            (Dangerous, "reads its arguments from a file")
        }
        // A jq program can import others from anywhere.
        "jq" if has(rest, "-f", "") || has(rest, "--from-file", "") || rest.iter().flatten().any(imports) => {
            (Moderate, "may read other files")
        }
        "env" | "printenv" if rest.is_empty() => (Moderate, "shows the environment"),
        "command" if has(rest, "-v", "") || has(rest, "-V", "") => (Safe, "only reads"),
        _ => from_table(base, rest),
    }
}

fn from_table(name: &str, rest: &[Option<&str>]) -> Verdict {
    match find(name) {
        Some(row) => from_row(row, rest),
        None => (Dangerous, "an unknown command"),
    }
}

fn from_row(row: &Row, rest: &[Option<&str>]) -> Verdict {
    if !row.subcommands.is_empty() {
        let found = rest.iter().position(|word| !word.is_some_and(|word| word.starts_with(['-', '+'])));
        let sub = found.and_then(|at| rest.get(at)).copied().flatten();
        let sub = sub.and_then(|sub| row.subcommands.iter().find(|row| row.is(sub)));
        let before = rest.get(..found.unwrap_or_default()).unwrap_or_default();
        let plain = |word: &Option<&str>| {
            word.is_some_and(|word| word.starts_with('+') || is_in(PLAIN_OPTIONS, word))
        };
        if !before.iter().all(plain) {
            return (row.danger, row.reason);
        }
        return match (sub, found) {
            (Some(sub), Some(at)) => from_row(sub, rest.get(at + 1..).unwrap_or_default()),
            (None, None) if matches!(rest, [Some("--version" | "--help" | "-V" | "-h")]) => {
                // The project decides which cargo runs.
                if row.is("cargo") { (Moderate, "runs project code") } else { (Safe, "only reads") }
            }
            _ => (row.danger, row.reason),
        };
    }
    let mut worst = (row.danger, row.reason);
    raised(row.raises, rest, row.letters_with_value, &mut worst);
    worst
}

fn raised(raises: &[Raise], rest: &[Option<&str>], letters_with_value: &str, worst: &mut Verdict) {
    for (option, danger, reason) in raises {
        let given = match *option {
            "--" | "." => rest.contains(&Some(option)),
            _ => has(rest, option, letters_with_value),
        };
        if given {
            raise(worst, (*danger, reason));
        }
    }
    if !raises.is_empty() && rest.contains(&None) {
        raise(worst, (Dangerous, UNKNOWN_OPTION));
    }
}

fn operands<'a>(rest: &'a [Option<&'a str>]) -> impl Iterator<Item = Option<&'a str>> {
    rest.iter().copied().filter(|word| !word.is_some_and(|word| word.starts_with('-')))
}

fn rm(rest: &[Option<&str>]) -> Verdict {
    let recursive = has(rest, "-r", "") || has(rest, "-R", "") || has(rest, "--recursive", "");
    if has(rest, "--no-preserve-root", "") {
        return (Critical, "deletes the whole disk");
    }
    let vast = |word: Option<&str>| match word {
        // `rm -rf "$UNSET/"` is `rm -rf /`.
        None => recursive,
        Some(word) => {
            let trimmed = word.trim_end_matches(['/', '*', '.']);
            let home = trimmed == "~" || trimmed.starts_with("/home") && trimmed.matches('/').count() < 3;
            (trimmed.is_empty() && word.starts_with('/')) || home || is_system(word)
        }
    };
    if operands(rest).any(vast) {
        return (Critical, "deletes files of the system or the user");
    }
    if recursive { (Dangerous, "deletes directories") } else { (Dangerous, "deletes files") }
}

fn dd(rest: &[Option<&str>]) -> Verdict {
    let out = rest.iter().flatten().find_map(|word| word.strip_prefix("of="));
    match out {
        Some("/dev/null" | "/dev/stdout") => (Moderate, "copies bytes"),
        Some(out) if is_system(out) => (Critical, "overwrites a device or the system"),
        Some(_) | None => (Dangerous, "overwrites files"),
    }
}

fn chmod(rest: &[Option<&str>]) -> Verdict {
    let recursive = has(rest, "-R", "") || has(rest, "--recursive", "");
    let vast = |word: &&str| *word == "/" || *word == "~" || *word == "~/" || is_system(word);
    let open =
        |word: &&str| matches!(*word, "777" | "0777" | "a+rwx" | "a=rwx" | "ugo+rwx" | "+s" | "u+s" | "4755");
    if rest.iter().flatten().any(vast) {
        (Critical, "changes system permissions")
    } else if recursive || rest.iter().flatten().any(open) {
        (Dangerous, "makes files accessible to everyone")
    } else {
        (Moderate, "changes file permissions")
    }
}

const SED_OPTIONS: &str =
    "-- --quiet --silent --regexp-extended --null-data --separate --unbuffered --posix --debug --sandbox";

/// Only scripts that print, delete and substitute are safe. Everything else may run programs or write files.
fn sed(rest: &[Option<&str>]) -> Verdict {
    if has(rest, "-i", "ef") || has(rest, "--in-place", "") {
        return (Dangerous, "changes files in place");
    }
    if has(rest, "-f", "e") || has(rest, "--file", "") || rest.contains(&None) {
        return (Dangerous, "runs an unknown script");
    }
    let mut scripts: Vec<&str> = Vec::new();
    let mut words = rest.iter().flatten().copied();
    let mut first = None;
    while let Some(word) = words.next() {
        match word {
            "-e" | "--expression" => scripts.extend(words.next()),
            _ if word.starts_with("--expression=") => {
                scripts.extend(word.split_once('=').map(|(_, script)| script))
            }
            _ if is_in(SED_OPTIONS, word) => {}
            _ if word.starts_with("--") => return (Dangerous, "an unknown sed option"),
            _ if word.len() > 1 && word.starts_with('-') => {
                let (letters, script) = match word.split_once('e') {
                    Some((letters, script)) => (letters, Some(script)),
                    None => (word, None),
                };
                // Another letter may take the next word as its value.
                if !letters.bytes().skip(1).all(|letter| b"nErsuz".contains(&letter)) {
                    return (Dangerous, "an unknown sed option");
                }
                match script {
                    Some("") => scripts.extend(words.next()),
                    Some(script) => scripts.push(script),
                    None => {}
                }
            }
            _ => first = first.or(Some(word)),
        }
    }
    if scripts.is_empty() {
        scripts.extend(first);
    }
    if scripts.iter().all(|script| is_plain_sed(script)) {
        (Safe, "only reads")
    } else {
        (Dangerous, "a script that may run programs or write files")
    }
}

fn is_plain_sed(script: &str) -> bool {
    let commands = script
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!' | '+' | '~'));
    if matches!(commands, "p" | "d" | "q" | "=" | "pq" | "") || script.split(';').all(is_plain_look) {
        return true;
    }
    // `s/a/b/` followed only by harmless flags.
    let Some(separator) = commands.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
        return false;
    };
    let parts: Vec<&str> = commands.split(separator).collect();
    !script.contains('\n')
        && !separator.is_alphanumeric()
        && !matches!(separator, '\\' | ';')
        && matches!(parts.as_slice(), ["s", pattern, replacement, flags]
            if !pattern.ends_with('\\') && !replacement.ends_with('\\')
                && flags.chars().all(|flag| flag.is_ascii_digit() || matches!(flag, 'g' | 'p' | 'i' | 'I')))
}

/// Whether a sed command only prints or drops lines: `p`, `1,5p`, `/from/,/to/!d`.
fn is_plain_look(command: &str) -> bool {
    let Some(mut rest) = after_address(command.trim_start_matches(' ')) else { return false };
    if let Some(second) = rest.strip_prefix(',') {
        let Some(after) = after_address(second) else { return false };
        rest = after;
    }
    matches!(rest.trim_start_matches([' ', '!']).trim_end_matches(' '), "p" | "d" | "q" | "=" | "")
}

/// The text after a sed address. `None` if the end of the address is unclear.
fn after_address(text: &str) -> Option<&str> {
    let Some(pattern) = text.strip_prefix('/') else {
        return Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | '+' | '~')));
    };
    let (pattern, after) = pattern.split_once('/')?;
    (!pattern.contains(['\\', '\n'])).then_some(after)
}

fn awk(rest: &[Option<&str>]) -> Verdict {
    let option = |word: &&str| word.len() > 1 && word.starts_with('-');
    let plain = |word: &&str| *word == "--" || word.starts_with("-F") || word.starts_with("-v");
    let extended = rest.iter().flatten().any(|word| option(word) && !plain(word));
    // Output pipes and redirections occur only in braces, input ones only with `getline`. Indirect calls, computed file
    // names and other programs need one of these.
    let acts = |word: &str| {
        (word.contains('{') && word.contains(['|', '>']))
            || ["@", "system", "getline", "ARGV", "ARGC"].iter().any(|name| word.contains(name))
    };
    let mut is_separator = false;
    let mut words = rest.iter().flatten().filter(|word| {
        // `-F '|'` is a field separator, not a pipe.
        let skipped = is_separator || word.starts_with("-F");
        is_separator = !is_separator && **word == "-F";
        !skipped
    });
    if extended || rest.contains(&None) || words.any(|word| acts(word)) {
        return (Dangerous, "a script that may run programs or write files");
    }
    (Safe, "only reads")
}

fn git(rest: &[Option<&str>]) -> Verdict {
    let mut worst = (Safe, "only reads");
    let mut at = 0;
    while let Some(Some(word)) = rest.get(at) {
        let takes_value = matches!(
            *word,
            "-C" | "-c"
                | "--git-dir"
                | "--work-tree"
                | "--namespace"
                | "--super-prefix"
                | "--config-env"
                | "--attr-source"
        );
        if !word.starts_with('-') {
            break;
        }
        raised(GIT_RAISES, &[Some(word)], "", &mut worst);
        at += if takes_value { 2 } else { 1 };
    }
    let rest = rest.get(at..).unwrap_or_default();
    let mut verdict = match rest {
        []
        | [Some("remote" | "branch" | "tag")]
        | [Some("remote"), Some("-v" | "--verbose")]
        | [Some("branch"), Some("--show-current" | "-a" | "-r" | "-v" | "-vv" | "--list" | "--all")]
        | [Some("tag"), Some("-l" | "--list"), ..]
        | [Some("worktree" | "stash"), Some("list")]
        | [Some("config"), Some("--get" | "--list" | "-l" | "get"), ..] => (Safe, "only reads"),
        _ => from_table("git", rest),
    };
    let programs = ["--upload-pack", "--receive-pack", "--exec"];
    if rest.iter().flatten().any(|word| programs.iter().any(|option| word.starts_with(option))) {
        raise(&mut verdict, (Dangerous, "runs other programs"));
    }
    // `+main` is a forced push, and pushing nothing to `main` deletes it.
    let mut refs = rest.iter().skip(1).flatten();
    if rest.first() == Some(&Some("push")) && refs.any(|word| word.starts_with(['+', ':'])) {
        raise(&mut verdict, (Critical, OTHERS));
    }
    raise(&mut worst, verdict);
    worst
}

fn shell(rest: &[Option<&str>]) -> Verdict {
    match rest {
        [Some("--version" | "--help")] => (Safe, "only reads"),
        // `curl ... | sh`: the input has not been reviewed.
        _ if !rest.iter().any(|word| !word.is_some_and(|word| word.starts_with('-'))) => {
            (Critical, "runs its input")
        }
        _ => (Dangerous, "runs a script"),
    }
}

/// Interpreters and the options with which they only print their version. For others, `-v` is just another option,
/// after which they run their input or a file.
const ASKED_FOR_VERSION: &[(&str, &str)] = &[
    ("python pypy", "--version -V --help -h"),
    ("perl ruby node nodejs php julia", "--version -v --help -h"),
    ("deno", "--version -V --help -h"),
];

fn interpreter(base: &str, rest: &[Option<&str>]) -> Verdict {
    let stem = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let only_says = |word: &str| {
        ASKED_FOR_VERSION.iter().any(|(names, options)| is_in(names, stem) && is_in(options, word))
    };
    match rest {
        [Some(word)] if only_says(word) => (Safe, "only reads"),
        [] | [Some("-" | "/dev/stdin")] => (Critical, "runs its input"),
        _ => (Dangerous, "runs a program"),
    }
}

/// Whether a jq program may import another.
fn imports(program: &&str) -> bool {
    program.contains('"') && (program.contains("import") || program.contains("include"))
}

/// Whether `ps` shows environment variables of processes: the letter `e` without a dash, with a dash where the other
/// letters make no sense with it (`-auxe`), or the column of that name.
fn shows_environment(rest: &[Option<&str>]) -> bool {
    let mut is_column = false;
    rest.iter().any(|word| {
        let Some(word) = word else { return true };
        let letters = word.trim_start_matches('-');
        let follows = std::mem::replace(&mut is_column, word.ends_with('o') || *word == "--format");
        let cluster = !letters.is_empty() && letters.bytes().all(|letter| letter.is_ascii_alphabetic());
        let old_style = !word.starts_with('-') || word.starts_with('-') && letters.contains('x');
        let listed = follows || word.starts_with("--");
        word.contains("environ") || (!listed && cluster && old_style && letters.contains('e'))
    })
}

/// Whether a path leads to keys or passwords.
fn is_secret(path: &str) -> bool {
    // Every entry of the list contains one of these; most words contain none.
    path.contains(['.', '/', '_']) && CREDENTIALS.split(' ').any(|part| path.contains(part))
}

/// Whether a path is in a system directory, or is the root.
fn is_system(path: &str) -> bool {
    if matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr") {
        return false;
    }
    SYSTEM_DIRS
        .split(' ')
        .any(|dir| path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        && !path.starts_with("/var/tmp/")
}
