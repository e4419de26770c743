//! The list of names whose value is a secret: fields, parameters, headers, options and environment variables.

/// Endings of such names, alone or after another word. Lower case, with `-` written as `_`.
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

/// Names that count only alone or after a `_`.
const WHOLE: &[&str] = &["pass", "pw"];

/// Endings of password names. A password may be any words.
const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "passwort"];

/// Parts of environment variable names that mark a secret, anywhere in the name.
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

/// Whether a value with this name is a secret: `api-key`, `GITHUB_TOKEN`, `clientSecret`, `DB_PASS`.
pub fn is_secret_name(name: &str) -> bool {
    let plain = name.to_lowercase().replace('-', "_");
    let is_whole = |known: &&str| {
        plain.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    ENDINGS.iter().any(|known| plain.ends_with(known)) || WHOLE.iter().any(is_whole)
}

/// Whether an environment variable with this name holds a secret. Broader than `is_secret_name`: withholding a variable
/// costs little, leaking one costs a lot.
pub fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_uppercase();
    VARIABLE_PARTS.iter().any(|part| upper.contains(part)) || is_secret_name(name)
}

/// Whether a value with this name may be any words.
pub(super) fn is_password_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    PASSWORDS.iter().any(|known| lower.ends_with(known))
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
