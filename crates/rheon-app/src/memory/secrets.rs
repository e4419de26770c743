//! `redacted`: a text of a session without what looks like a secret, before it is remembered.
//!
//! What keys look like and what they are called is known to `rheon-text`; here is added how people type secrets in commands and say them in sentences.

use rheon_text::secrets::{self, MARK};

/// Programs that take a password right behind `-p`.
const ATTACHED: [&str; 4] = ["mysql", "mysqldump", "mysqladmin", "mariadb"];

/// Words after which `-p` is followed by a password.
const DETACHED: [&str; 2] = ["sshpass", "login"];

/// `text` without what looks like a secret.
pub fn redacted(text: &str) -> String {
    let mut words = Words { rest: text.split(' ').collect::<Vec<_>>().into_iter(), seen: Seen::default() };
    let mut shown: Vec<String> = Vec::new();
    while let Some(word) = words.rest.next() {
        let (told, next) = words.look(word);
        shown.push(told);
        match next {
            Next::Plain => {}
            Next::Secret => shown.extend(words.secret()),
            Next::LoginAndSecret => shown.extend(words.rest.next().map(login)),
            Next::IsSecret => {
                let said = words.rest.next().map(str::to_owned);
                shown.extend(said);
                shown.extend(words.secret());
            }
        }
    }
    secrets::redact(&shown.join(" ")).into_owned()
}

/// What a word means for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Plain,
    Secret,
    /// It is a name, a colon and a secret.
    LoginAndSecret,
    /// It is a word as `is`, and a secret comes after it.
    IsSecret,
}

struct Words<'t> {
    rest: std::vec::IntoIter<&'t str>,
    seen: Seen,
}

/// What came before, as far as it says how options are meant.
#[derive(Default)]
struct Seen {
    has_attached: bool,
    has_detached: bool,
}

impl Words<'_> {
    /// The redacted form of a word, and what it means for the next one.
    fn look(&mut self, word: &str) -> (String, Next) {
        let plain = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        let program = plain.rsplit('/').next().unwrap_or(plain);
        self.seen.has_attached |= ATTACHED.contains(&program);
        self.seen.has_detached |= DETACHED.contains(&program);
        if let Some((name, value)) = word.split_once('=').or_else(|| word.split_once(':'))
            && is_secret_name(name)
            && may_be_secret(value)
        {
            let head = word.strip_suffix(value).unwrap_or_default();
            self.skip_quoted(value);
            return (format!("{head}{MARK}"), Next::Plain);
        }
        if self.seen.has_attached && word.len() > 2 && word.starts_with("-p") && !word.starts_with("-p=") {
            return (format!("-p{MARK}"), Next::Plain);
        }
        let next = match word {
            "-p" if self.seen.has_detached => Next::Secret,
            "-u" | "--user" | "--proxy-user" => Next::LoginAndSecret,
            _ if word.starts_with('-') && is_secret_name(word) => Next::Secret,
            _ if (word.ends_with(':') || word.ends_with('=')) && is_secret_name(plain) => Next::Secret,
            _ if is_password_word(plain) && self.is_said() => Next::IsSecret,
            _ => Next::Plain,
        };
        (word.to_owned(), next)
    }

    /// Whether the next word is one between a name and its value.
    fn is_said(&self) -> bool {
        self.rest.as_slice().first().is_some_and(|word| matches!(*word, "is" | "=" | ":" | "was" | "ist"))
    }

    /// The replacement of the next secret: all of it if it is quoted.
    fn secret(&mut self) -> Option<String> {
        let word = self.rest.next()?;
        if !may_be_secret(word) || word.starts_with('-') {
            return Some(word.to_owned());
        }
        self.skip_quoted(word);
        Some(MARK.to_owned())
    }

    /// Passes over the words that belong to a value which begins with a quote that it does not end with.
    fn skip_quoted(&mut self, value: &str) {
        let Some(quote) = value.chars().next().filter(|sign| matches!(sign, '"' | '\'')) else { return };
        if value.len() > 1 && value.ends_with(quote) {
            return;
        }
        // An unclosed quote belongs to the value.
        if let Some(last) = self.rest.as_slice().iter().position(|word| word.ends_with(quote)) {
            self.rest.nth(last);
        }
    }
}

/// `name:secret` without the secret.
fn login(word: &str) -> String {
    match word.split_once(':') {
        Some((name, secret)) if may_be_secret(secret) => format!("{name}:{MARK}"),
        Some(_) | None => word.to_owned(),
    }
}

/// Whether a value under a name of secrets is one, and not the name of a variable, nothing, or the rest of an address.
fn may_be_secret(value: &str) -> bool {
    !value.is_empty() && !value.starts_with(['$', '%', '<', '*', '[']) && !value.starts_with("//")
}

fn is_secret_name(word: &str) -> bool {
    let word = word.trim_matches(|sign: char| !sign.is_alphanumeric());
    // The text before it in the same word, as in `(NAME` or `env;NAME`, is not part of it.
    let is_between = |sign: char| !sign.is_alphanumeric() && sign != '_' && sign != '-';
    secrets::is_secret_name(word.rsplit(is_between).next().unwrap_or_default())
}

/// Whether people say their password behind this word.
fn is_password_word(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "password" | "passphrase" | "passwort" | "passwd")
}
