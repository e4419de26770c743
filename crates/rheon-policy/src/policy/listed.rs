//! Lists of files for `xargs`: `find . -name '*.rs' | xargs wc -l` reads files of the workspace and nothing else.

use crate::policy::wrappers::is_transparent;
use crate::shell::SimpleCommand;

/// Commands that read the files they are given and have no option that does more.
const READERS: [&str; 18] = [
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "ls",
    "stat",
    "du",
    "nl",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "basename",
    "dirname",
    "realpath",
    "cksum",
];

/// Whether the command at `index` only reads the files that a command before it lists.
pub(crate) fn reads_listed_files(commands: &[SimpleCommand], index: usize) -> bool {
    let Some(command) = commands.get(index).filter(|command| command.input_words) else { return false };
    let name = command.words.first().and_then(Option::as_deref).unwrap_or_default();
    let Some(at) = index.checked_sub(1) else { return false };
    let Some(xargs) = commands.get(at).filter(|xargs| xargs.piped) else { return false };
    READERS.contains(&name)
        && is_transparent(xargs, command)
        && lists_files(commands.get(..at).unwrap_or_default())
}

/// Whether what the last of these commands prints is a list of files: one that lists them, with filters after it.
fn lists_files(commands: &[SimpleCommand]) -> bool {
    let Some((last, before)) = commands.split_last() else { return false };
    let words: Option<Vec<&str>> = last.words.iter().map(Option::as_deref).collect();
    let Some(words) = words.filter(|_| last.assignments.is_empty()) else { return false };
    let Some((name, rest)) = words.split_first() else { return false };
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
    let operands = rest.iter().filter(|word| !word.starts_with('-')).count();
    // These print other text than the names.
    let is_odd = |word: &&str| {
        ["printf", "--format", "--label", "--null-data", "--replace", "--hyperlink", "-exec", "-fls"]
            .iter()
            .any(|odd| word.contains(odd))
    };
    if rest.iter().any(is_odd) {
        return false;
    }
    match *name {
        "find" | "fd" | "fdfind" | "ls" => !has(&["-L", "-follow", "-H"]),
        "git" => match rest {
            ["ls-files", ..] => true,
            ["diff" | "show" | "log", ..] => has(&["--name-only"]),
            ["grep", ..] => has(&["-l", "--files-with-matches", "--name-only"]),
            _ => false,
        },
        "rg" | "grep" => {
            has(&[
                "-l",
                "-rl",
                "-lr",
                "-L",
                "-rlE",
                "--files",
                "--files-with-matches",
                "--files-without-match",
            ]) && !has(&["-o", "-r"])
        }
        "sort" | "uniq" if last.piped && operands == 0 => lists_files(before),
        "head" | "tail" if last.piped && !rest.iter().any(|word| word.starts_with("-c")) => {
            operands <= 1 && lists_files(before)
        }
        "egrep" if last.piped && operands <= 1 => !has(&["-o"]) && lists_files(before),
        _ => false,
    }
}
