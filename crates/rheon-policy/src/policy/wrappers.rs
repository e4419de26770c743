//! Commands that do nothing but run the next one.

use crate::policy::names::TRANSPARENT;
use crate::policy::words::sets_only_harmless;
use crate::shell::SimpleCommand;

/// Whether `command` does nothing but run `next`.
pub(crate) fn is_transparent(command: &SimpleCommand, next: &SimpleCommand) -> bool {
    let Some(Some(name)) = command.words.first() else { return false };
    let inner = match next.words.split_last() {
        Some((None, words)) if name == "xargs" && next.input_words => words,
        Some(_) | None => next.words.as_slice(),
    };
    let wraps = command.words.len() > inner.len() && command.words.ends_with(inner);
    let own = command.words.len().saturating_sub(inner.len());
    let mut options = command.words.iter().take(own).skip(1);
    let bare = match name.as_str() {
        "xargs" => are_plain_options(options),
        // The program `time` can write files; the shell keyword has only this option.
        "time" => options.all(|word| word.as_deref() == Some("-p")),
        _ => true,
    };
    TRANSPARENT.contains(&name.as_str()) && wraps && bare && sets_only_harmless(command)
}

/// Options of `xargs` that do not change which words it adds.
fn are_plain_options<'a>(options: impl Iterator<Item = &'a Option<String>>) -> bool {
    let mut takes_number = false;
    let is_plain = |word: &Option<String>| {
        let Some(word) = word.as_deref() else { return false };
        if std::mem::take(&mut takes_number) {
            return is_number(word);
        }
        takes_number = matches!(word, "-n" | "-P" | "-L");
        let attached = word.strip_prefix("-n").or(word.strip_prefix("-P")).or(word.strip_prefix("-L"));
        takes_number
            || attached.is_some_and(is_number)
            || matches!(word, "-0" | "-r" | "-0r" | "-r0" | "-t" | "--null" | "--no-run-if-empty")
    };
    let mut options = options;
    options.all(is_plain)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
