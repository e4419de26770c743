//! Parses command options in every form that GNU getopt accepts.

/// The options of a command, as far as they matter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Options {
    /// Short options without a value.
    pub letters: &'static str,
    /// Short options with a value.
    pub letters_with_value: &'static str,
    /// Long options without a value, without dashes.
    pub names: &'static [&'static str],
    /// Long options with a value, without dashes.
    pub names_with_value: &'static [&'static str],
}

/// An option as given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GivenOption<'a> {
    /// The letter or the long name.
    pub name: &'a str,
    /// The inner `None` means the value is unknown.
    pub value: Option<Option<&'a str>>,
}

/// The leading options, and the index of the first word after them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Leading<'a> {
    pub given: Vec<GivenOption<'a>>,
    pub next: usize,
}

/// Parses options from index `from` up to the first other word. `None` if an option is not in the list.
pub(super) fn leading<'a>(words: &[Option<&'a str>], from: usize, options: &Options) -> Option<Leading<'a>> {
    let mut given = Vec::new();
    let mut next = from;
    while let Some(word) = words.get(next) {
        let word = (*word)?;
        if word == "--" {
            return Some(Leading { given, next: next + 1 });
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(Some(value))),
                None => (long, None),
            };
            if options.names.contains(&name) {
                given.push(GivenOption { name, value });
            } else if options.names_with_value.contains(&name) {
                if value.is_none() {
                    next += 1;
                }
                let value = value.or_else(|| words.get(next).copied());
                given.push(GivenOption { name, value });
            } else {
                return None;
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            next += cluster(letters, words.get(next + 1).copied(), options, &mut given)?;
        } else {
            break;
        }
        next += 1;
    }
    Some(Leading { given, next })
}

/// Parses `-abc` and returns how many further words its value took.
fn cluster<'a>(
    letters: &'a str,
    following: Option<Option<&'a str>>,
    options: &Options,
    given: &mut Vec<GivenOption<'a>>,
) -> Option<usize> {
    for (at, letter) in letters.char_indices() {
        let after = at + letter.len_utf8();
        let name = letters.get(at..after)?;
        if options.letters.contains(letter) {
            given.push(GivenOption { name, value: None });
        } else if options.letters_with_value.contains(letter) {
            let attached = letters.get(after..).filter(|value| !value.is_empty());
            let taken = usize::from(attached.is_none());
            given.push(GivenOption { name, value: attached.map(Some).or(following) });
            return Some(taken);
        } else {
            return None;
        }
    }
    Some(0)
}

/// Whether one of the words is this option: `-r`, inside `-fr`, `--recursive`, `--recursive=x`, `--rec`, or a
/// single-dash word such as `-delete`. A letter in `letters_with_value` ends a cluster; the rest is its value.
pub(super) fn has(words: &[Option<&str>], option: &str, letters_with_value: &str) -> bool {
    let mut options_end = false;
    words.iter().flatten().any(|word| {
        options_end |= *word == "--";
        !options_end && is(word, option, letters_with_value)
    })
}

fn is(word: &str, option: &str, letters_with_value: &str) -> bool {
    if let Some(long) = option.strip_prefix("--") {
        let Some(word) = word.strip_prefix("--") else { return false };
        let name = word.split('=').next().unwrap_or_default();
        return !name.is_empty() && long.starts_with(name);
    }
    let option = option.trim_start_matches('-');
    let Some(letters) = word.strip_prefix('-') else { return false };
    let letters = match letters.strip_prefix('-') {
        Some(long) if option.len() > 1 => long,
        Some(_) => return false,
        None => letters,
    };
    let mut characters = option.chars();
    match (characters.next(), characters.next()) {
        (Some(wanted), None) => {
            for letter in letters.chars() {
                if letter == wanted {
                    return true;
                }
                if letters_with_value.contains(letter) {
                    return false;
                }
            }
            false
        }
        // Some programs accept a value after `=`, or a second dash.
        _ => letters.split('=').next() == Some(option),
    }
}
