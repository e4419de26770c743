//! Shell builtins and variables that change the meaning of the rest of a line.

use super::report::Doubt;
use super::table::is_in;
use super::wrapper::{base_name, is_ordinary_file};

const INFLUENTIAL: &str = "an environment variable that changes what commands do";

/// Why the rest of the line is unknown after this command. `None` for most commands.
pub(super) fn obscures(words: &[Option<&str>]) -> Option<Doubt> {
    let Some(Some(name)) = words.first() else { return None };
    let rest = words.get(1..).unwrap_or_default();
    match *name {
        "eval" if rest.contains(&None) => Some(Doubt::Hides("eval runs a text")),
        "source" | "." if rest.first().copied().flatten().is_some_and(is_ordinary_file) => {
            Some(Doubt::Leaves("a file of commands"))
        }
        "source" | "." => Some(Doubt::Hides("a file of commands")),
        "alias" | "enable" | "hash" | "shopt" | "fc" | "bind" | "complete" | "compgen" | "let" => {
            Some(Doubt::Hides("a builtin that changes what names mean or runs more"))
        }
        "set" if !rest.iter().all(|word| word.is_some_and(harmless_set)) => {
            Some(Doubt::Hides("shell options"))
        }
        "exec" if rest.is_empty() => Some(Doubt::Leaves("the shell redirects itself")),
        "jobs" if super::options::has(rest, "-x", "") => {
            Some(Doubt::Hides("a builtin that runs another command"))
        }
        "mapfile" | "readarray" if super::options::has(rest, "-C", "dnOsu") => {
            Some(Doubt::Hides("a callback"))
        }
        "export" | "declare" | "typeset" | "local" | "readonly" => declares(rest),
        "unset" | "read" | "mapfile" | "readarray" | "printf" | "test" | "[" | "[[" | "wait" | "getopts" => {
            evaluates(name, rest)
        }
        _ => reads_program(name, rest),
    }
}

fn harmless_set(word: &str) -> bool {
    match word.strip_prefix(['-', '+']) {
        Some(letters) if !letters.is_empty() => letters.bytes().all(|letter| b"euxovEC".contains(&letter)),
        Some(_) => false,
        None => matches!(
            word,
            "pipefail" | "errexit" | "nounset" | "xtrace" | "verbose" | "noclobber" | "errtrace"
        ),
    }
}

fn declares(rest: &[Option<&str>]) -> Option<Doubt> {
    for word in rest {
        let word = (*word)?;
        let name = word.split(['=', '+']).next().unwrap_or_default();
        if word.starts_with('-') && word.contains(['f', 'n', 'i', 'F']) {
            return Some(Doubt::Hides("a declaration of more than a value"));
        }
        if name.contains('[') {
            return Some(Doubt::Hides("an index that is evaluated"));
        }
        if let Some(doubt) = sets(name, None) {
            return Some(doubt);
        }
    }
    None
}

/// Builtins evaluate the index in a variable name, including commands in it.
fn evaluates(name: &str, rest: &[Option<&str>]) -> Option<Doubt> {
    let indexed = rest.iter().flatten().copied().flat_map(names_in).any(|word| {
        let head = word.split('[').next().unwrap_or_default();
        head.len() < word.len()
            && !head.is_empty()
            && head.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    let compares =
        |word: &&str| matches!(*word, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R" | "=~");
    let numbers = || {
        rest.iter().flatten().any(|word| {
            !word.starts_with('-')
                && *word != "]]"
                && !word.bytes().all(|byte| byte.is_ascii_digit() || b"!()&|".contains(&byte))
        })
    };
    match name {
        "[[" if rest.iter().flatten().any(compares) && numbers() => {
            Some(Doubt::Hides("an expression that is evaluated"))
        }
        "[[" => None,
        "read" | "mapfile" | "readarray" | "unset" | "getopts" | "printf" | "wait"
            if rest.iter().flatten().copied().flat_map(names_in).any(is_influential) =>
        {
            let mut names = rest.iter().flatten().copied().flat_map(names_in);
            names
                .find_map(|name| sets(name, None).filter(|doubt| *doubt == Doubt::Hides(INFLUENTIAL)))
                .or(Some(Doubt::Leaves(INFLUENTIAL)))
        }
        _ if indexed => Some(Doubt::Hides("an index that is evaluated")),
        _ => None,
    }
}

/// Why setting this variable is a doubt. `command` is the name of the command that it is set for; without one, it stays
/// set.
pub(super) fn sets(variable: &str, command: Option<Option<&str>>) -> Option<Doubt> {
    if !is_influential(variable) {
        return None;
    }
    let is_outside = command.is_some_and(|name| name.is_some_and(|name| !is_in(SHELL_COMMANDS, name)));
    let shapes = is_in(SHELL_VARIABLES, variable.trim_end_matches('+')) || variable.starts_with("BASH_");
    Some(if shapes && !is_outside { Doubt::Hides(INFLUENTIAL) } else { Doubt::Leaves(INFLUENTIAL) })
}

/// Variables that change how the shell itself reads the rest of a line.
const SHELL_VARIABLES: &str = "IFS ENV CDPATH HOME SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND GLOBIGNORE \
     POSIXLY_CORRECT histchars OPTIND";

/// Commands that are or become a shell, so that a variable for them alone matters too.
const SHELL_COMMANDS: &str =
    "cd pushd popd eval source . command builtin exec export declare typeset readonly local bash sh dash ash";

/// Whether bash could run a part of this text when it evaluates a variable that holds it.
pub(super) fn may_be_run(value: &str) -> bool {
    value.contains(['[', ']', '$', '`', '(', ')', '\\'])
}

/// Whether a builtin evaluates an unknown word as an expression.
pub(super) fn evaluates_unknown(words: &[Option<&str>]) -> bool {
    let Some((Some(name), rest)) = words.split_first() else { return false };
    if !rest.contains(&None) {
        return false;
    }
    let has = |options: &[&str]| rest.iter().flatten().any(|word| options.contains(word));
    match *name {
        "[[" => has(&["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"]),
        "unset" | "read" | "mapfile" | "readarray" | "wait" | "getopts" => true,
        "printf" => matches!(rest, [None, ..]) || has(&["-v"]),
        "test" | "[" => {
            let compares = |word: &&str| word.starts_with(['=', '!', '-']);
            has(&["-v", "-R"])
                || matches!(rest, [None, second, ..] if !second.as_ref().is_some_and(compares) && *second != Some("]"))
        }
        _ => false,
    }
}

/// Whether a builtin sets a variable to a text that bash could run when it evaluates it.
pub(super) fn sets_text(words: &[Option<&str>]) -> bool {
    let Some((Some(name), rest)) = words.split_first() else { return false };
    match *name {
        "read" | "mapfile" | "readarray" | "getopts" | "set" => !rest.is_empty(),
        "printf" => matches!(rest.first(), Some(None)) || rest.first() == Some(&Some("-v")),
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            rest.iter().any(|word| word.is_none_or(may_be_run))
        }
        _ => false,
    }
}

/// The names that a word may contain: itself, and whatever follows the letters of an option, as in `printf -vPATH`.
fn names_in(word: &str) -> impl Iterator<Item = &str> {
    let ends = word.strip_prefix('-').unwrap_or_default();
    std::iter::once(word).chain(ends.char_indices().filter_map(|(at, _)| ends.get(at..)))
}

/// Interpreters without a program argument read it from their input.
fn reads_program(name: &str, rest: &[Option<&str>]) -> Option<Doubt> {
    let interpreter = is_interpreter(name);
    let empty = rest.iter().all(|word| word.is_some_and(|word| word == "-" || word == "/dev/stdin"));
    if interpreter && empty {
        return Some(Doubt::Leaves("an interpreter that runs its input"));
    }
    None
}

pub(super) fn is_interpreter(name: &str) -> bool {
    let name = base_name(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        stem,
        "python"
            | "pypy"
            | "perl"
            | "ruby"
            | "node"
            | "nodejs"
            | "deno"
            | "bun"
            | "php"
            | "lua"
            | "luajit"
            | "tclsh"
            | "wish"
            | "Rscript"
            | "R"
            | "julia"
            | "guile"
            | "racket"
            | "osascript"
            | "ipython"
            | "irb"
            | "ghci"
            | "runghc"
            | "scala"
            | "groovy"
            | "elixir"
            | "iex"
            | "erl"
            | "escript"
            | "swift"
            | "ts-node"
            | "tsx"
    )
}

/// Whether an environment variable changes which programs run or what they do.
pub(super) fn is_influential(name: &str) -> bool {
    const PREFIXES: [&str; 21] = [
        "LD_",
        "DYLD_",
        "BASH_",
        "PYTHON",
        "PERL5",
        "RUBY",
        "npm_config_",
        "NPM_CONFIG_",
        "GIT_",
        "CARGO_TARGET_",
        "CARGO_BUILD_",
        "CARGO_HOME",
        "RUSTC",
        "RUSTUP_",
        "DOCKER_",
        "SSL_CERT",
        "LESS",
        "MAKE",
        "SSH_",
        "SUDO_",
        "MALLOC_",
    ];
    const NAMES: &str = "PATH IFS ENV CDPATH HOME SHELL SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND GLOBIGNORE PAGER \
     MANPAGER EDITOR VISUAL BROWSER FCEDIT NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS \
     _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH RUSTFLAGS RUSTDOCFLAGS CC CXX LD AR CFLAGS \
     CXXFLAGS LDFLAGS GREP_OPTIONS TAR_OPTIONS RIPGREP_CONFIG_PATH POSIXLY_CORRECT LOCPATH \
     GCONV_PATH HOSTALIASES KUBECONFIG http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY \
     all_proxy GOFLAGS GOPROXY GOROOT PHPRC LUA_INIT XDG_CONFIG_HOME GNUPGHOME EXINIT VIMINIT \
     OPENSSL_CONF CURL_HOME WGETRC INPUTRC FPATH ZDOTDIR TMPDIR OPTIND histchars";
    const HARMLESS: &str = "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL \
     GIT_COMMITTER_DATE GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS PYTHONUNBUFFERED \
     PYTHONDONTWRITEBYTECODE CARGO_BUILD_JOBS LESSCHARSET";
    let name = name.trim_end_matches('+');
    (is_in(NAMES, name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))) && !is_in(HARMLESS, name)
}
