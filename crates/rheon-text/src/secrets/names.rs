//! The one list of names whose value is a secret: of fields, parameters, headers, options and variables.

/// Endings of such names, alone or behind another word. Lower case, `-` written as `_`.
const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "accesskey",
    "secret_key",
    "secretkey",
    "private_key",
    "privatekey",
    "accountkey",
    "credential",
];

/// Such names that count only whole, or behind a `_`.
const WHOLE: &[&str] = &["pass", "pw"];

/// Endings of names of passwords, which may be any words at all.
const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "passwort"];

/// Parts of names of variables that hold secrets, wherever they stand in the name.
const VARIABLE_PARTS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASSWORT",
    "CREDENTIAL",
    "COOKIE",
    "HEADERS",
];

/// Whether a value under this name is a secret: `api-key`, `GITHUB_TOKEN`, `clientSecret`, `DB_PASS`.
pub fn is_secret_name(name: &str) -> bool {
    let plain = name.to_lowercase().replace('-', "_");
    let is_whole = |known: &&str| {
        plain.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    ENDINGS.iter().any(|known| plain.ends_with(known)) || WHOLE.iter().any(is_whole)
}

/// Whether an environment variable of this name holds a secret. Wider than `is_secret_name`: a variable that is withheld
/// costs little, one that leaks costs much.
pub fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_uppercase();
    VARIABLE_PARTS.iter().any(|part| upper.contains(part)) || is_secret_name(name)
}

/// Whether a value under this name may be any words at all.
pub(super) fn is_password_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    PASSWORDS.iter().any(|known| lower.ends_with(known))
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
