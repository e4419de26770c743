//! What secrets look like: a table of keys that tell themselves by their beginning, and the places where others stand.

use std::ops::Range;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Where; between characters.
    pub(super) range: Range<usize>,
    /// What it is.
    pub(super) kind: &'static str,
}

/// A key that tells itself by its beginning.
struct Shape {
    kind: &'static str,
    prefix: &'static str,
    rest: Rest,
}

/// What follows the beginning.
enum Rest {
    /// At least so many letters and digits, a digit among them.
    Plain(usize),
    /// The same, and `-` and `_`.
    Word(usize),
    /// The same, and `.`, `+`, `/`, `=`, `:`.
    Long(usize),
    /// Exactly so many hexadecimal digits.
    Hex(usize),
    /// Exactly so many capital letters and digits.
    Capitals(usize),
}

const fn shape(kind: &'static str, prefix: &'static str, rest: Rest) -> Shape {
    Shape { kind, prefix, rest }
}

/// Longer beginnings stand before those that they begin with.
const SHAPES: &[Shape] = &[
    shape("Anthropic key", "sk-ant-", Rest::Word(16)),
    shape("OpenRouter key", "sk-or-", Rest::Word(16)),
    shape("OpenAI key", "sk-proj-", Rest::Word(16)),
    shape("OpenAI key", "sk-svcacct-", Rest::Word(16)),
    shape("OpenAI key", "sk-", Rest::Word(20)),
    shape("Stripe key", "sk_live_", Rest::Word(16)),
    shape("Stripe key", "sk_test_", Rest::Word(16)),
    shape("Stripe key", "rk_live_", Rest::Word(16)),
    shape("Stripe key", "rk_test_", Rest::Word(16)),
    shape("webhook secret", "whsec_", Rest::Long(16)),
    shape("Google API key", "AIza", Rest::Word(30)),
    shape("Google token", "ya29.", Rest::Long(16)),
    shape("Google token", "1//0", Rest::Word(16)),
    shape("Google client secret", "GOCSPX-", Rest::Word(16)),
    shape("Groq key", "gsk_", Rest::Plain(20)),
    shape("xAI key", "xai-", Rest::Word(16)),
    shape("Cerebras key", "csk-", Rest::Word(16)),
    shape("Perplexity key", "pplx-", Rest::Word(16)),
    shape("NVIDIA key", "nvapi-", Rest::Word(16)),
    shape("Hugging Face token", "hf_", Rest::Plain(20)),
    shape("Fireworks key", "fw_", Rest::Plain(20)),
    shape("Vercel key", "vck_", Rest::Plain(20)),
    shape("Replicate token", "r8_", Rest::Plain(20)),
    shape("GitHub token", "github_pat_", Rest::Word(16)),
    shape("GitHub token", "ghp_", Rest::Word(16)),
    shape("GitHub token", "gho_", Rest::Word(16)),
    shape("GitHub token", "ghu_", Rest::Word(16)),
    shape("GitHub token", "ghs_", Rest::Word(16)),
    shape("GitHub token", "ghr_", Rest::Word(16)),
    shape("GitLab token", "glpat-", Rest::Word(16)),
    shape("Slack token", "xoxb-", Rest::Word(10)),
    shape("Slack token", "xoxp-", Rest::Word(10)),
    shape("Slack token", "xoxa-", Rest::Word(10)),
    shape("Slack token", "xoxs-", Rest::Word(10)),
    shape("Slack token", "xapp-", Rest::Word(10)),
    shape("Slack webhook", "hooks.slack.com/services/", Rest::Long(20)),
    shape("Discord webhook", "discord.com/api/webhooks/", Rest::Long(20)),
    shape("AWS key id", "AKIA", Rest::Capitals(16)),
    shape("AWS key id", "ASIA", Rest::Capitals(16)),
    shape("Bedrock key", "bedrock-api-key-", Rest::Long(16)),
    shape("Bedrock key", "ABSK", Rest::Long(40)),
    shape("npm token", "npm_", Rest::Plain(30)),
    shape("PyPI token", "pypi-", Rest::Word(40)),
    shape("crates.io token", "cio", Rest::Plain(32)),
    shape("Docker token", "dckr_pat_", Rest::Word(16)),
    shape("DigitalOcean token", "dop_v1_", Rest::Word(32)),
    shape("SendGrid key", "SG.", Rest::Long(32)),
    shape("Mailgun key", "key-", Rest::Hex(32)),
    shape("Twilio key", "SK", Rest::Hex(32)),
    shape("Shopify token", "shpat_", Rest::Word(16)),
    shape("Databricks token", "dapi", Rest::Hex(32)),
    shape("Linear key", "lin_api_", Rest::Word(16)),
    shape("Notion token", "ntn_", Rest::Plain(30)),
    shape("Sentry token", "sntrys_", Rest::Long(20)),
    shape("Postman key", "PMAK-", Rest::Word(20)),
    shape("Supabase token", "sbp_", Rest::Plain(20)),
    shape("Vault token", "hvs.", Rest::Word(16)),
    shape("Doppler token", "dp.pt.", Rest::Word(16)),
    shape("age key", "AGE-SECRET-KEY-1", Rest::Word(40)),
    shape("Tailscale key", "tskey-", Rest::Word(16)),
];

/// No key of the table is shorter.
const SHAPE_BYTES_MIN: usize = 15;

/// Names after which a secret stands, as fields, variables, headers or parameters, alone or after a `_`. Lower case, `-`
/// written as `_`.
const NAMES: &[&str] = &[
    "api_key",
    "apikey",
    "token",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "sessiontoken",
    "secret",
    "clientsecret",
    "secret_key",
    "private_key",
    "privatekey",
    "access_key",
    "secretaccesskey",
    "accountkey",
    "password",
    "passwd",
    "passphrase",
    "pgpassword",
    "authorization",
];

/// No name is longer; a longer word is not looked up.
const NAME_BYTES_MAX: usize = 48;

/// The secrets in `text`, in order.
pub(super) fn find(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match secret_at(bytes, at) {
            // All shapes are ASCII, so that every range lies between characters.
            Some((range, kind)) => {
                at = range.end.max(at + 1);
                found.push(Found { range, kind });
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a value under this name is a secret.
pub(super) fn is_secret_value(name: &str, value: &str) -> bool {
    let (name, value) = (name.as_bytes(), value.as_bytes());
    is_secret_name(name) && (is_secret(value) || (is_password_name(name) && is_password(value)))
}

fn secret_at(text: &[u8], at: usize) -> Option<(Range<usize>, &'static str)> {
    let rest = text.get(at..)?;
    if rest.starts_with(b"://") {
        return url_password(text, at + 3);
    }
    if !is_beginning(text, at) {
        return None;
    }
    let (range, kind) = private_key(rest)
        .map(|length| (0..length, "private key"))
        .or_else(|| shaped(rest))
        .or_else(|| json_web_token(rest).map(|length| (0..length, "JSON web token")))
        .or_else(|| announced(rest, b"bearer").map(|range| (range, "bearer token")))
        .or_else(|| announced(rest, b"basic").map(|range| (range, "basic credentials")))
        .or_else(|| named(rest).map(|range| (range, "named secret")))
        .or_else(|| telegram(rest).map(|length| (0..length, "Telegram token")))?;
    Some((at + range.start..at + range.end, kind))
}

/// Whether a word begins here. `\n` and its like, written out, are no part of a word.
fn is_beginning(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|index| text.get(index)).copied();
    match before(1) {
        None => true,
        Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
        Some(byte) => !is_word(byte),
    }
}

fn shaped(text: &[u8]) -> Option<(Range<usize>, &'static str)> {
    // Most words are short, and need not be held against the table.
    if run(text.get(..text.len().min(SHAPE_BYTES_MIN))?, 0, is_long) < SHAPE_BYTES_MIN {
        return None;
    }
    let fits = |shape: &&Shape| text.starts_with(shape.prefix.as_bytes());
    // Two shapes may begin alike: the first that fits whole is taken.
    SHAPES.iter().filter(fits).find_map(|shape| Some((0..shape.length(text)?, shape.kind)))
}

impl Shape {
    /// How long the key at the beginning of `text` is, if it is one.
    fn length(&self, text: &[u8]) -> Option<usize> {
        let start = self.prefix.len();
        let (length, is_enough) = match self.rest {
            Rest::Plain(least) => at_least(text, start, least, |byte| byte.is_ascii_alphanumeric()),
            Rest::Word(least) => at_least(text, start, least, is_word),
            Rest::Long(least) => at_least(text, start, least, is_long),
            Rest::Hex(exact) => exactly(text, start, exact, |byte| byte.is_ascii_hexdigit()),
            Rest::Capitals(exact) => {
                exactly(text, start, exact, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            }
        };
        is_enough.then_some(start + length)
    }
}

fn at_least(text: &[u8], start: usize, least: usize, kind: impl Fn(u8) -> bool) -> (usize, bool) {
    let length = run(text, start, kind);
    let rest = text.get(start..start + length).unwrap_or_default();
    let tail = rest.iter().rev().take_while(|byte| matches!(byte, b'.' | b':')).count();
    (length - tail, length - tail >= least && rest.iter().any(u8::is_ascii_digit))
}

fn exactly(text: &[u8], start: usize, exact: usize, kind: impl Fn(u8) -> bool) -> (usize, bool) {
    (exact, run(text, start, kind) == exact && !text.get(start + exact).copied().is_some_and(is_word))
}

/// `eyJ` (Base64 of `{"`), then two or more parts with dots between them.
fn json_web_token(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"eyJ") {
        return None;
    }
    let header = run(text, 0, is_word);
    let payload = run(text, header + 1, is_word);
    let is_token = header >= 12 && text.get(header) == Some(&b'.') && payload > 0;
    is_token.then(|| run(text, 0, |byte| is_word(byte) || byte == b'.'))
}

/// A private key in PEM, whole or cut off, its line breaks real or written out.
fn private_key(text: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const LABEL: &[u8] = b"PRIVATE KEY";
    const END: &[u8] = b"-----END ";
    let label = text.strip_prefix(BEGIN)?;
    let label = label.get(..label.len().min(48))?;
    let line_end = label.windows(5).position(|window| window == b"-----")?;
    label.get(..line_end)?.windows(LABEL.len()).find(|window| *window == LABEL)?;
    let start = BEGIN.len() + line_end + 5;
    // Headers of old formats (`Proc-Type: 4,ENCRYPTED`) stand between.
    let body = run(text, start, |byte| {
        byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\:,>|\"-".contains(&byte)
    });
    let inside = text.get(start..start + body)?;
    let Some(end) = inside.windows(END.len()).position(|window| window == END) else {
        return Some(start + body);
    };
    let after = start + end + END.len();
    let close = text.get(after..)?.windows(5).position(|window| window == b"-----");
    Some(close.map_or(start + body, |close| after + close + 5))
}

/// `123456789:AA...`, the name of a bot and its key.
fn telegram(text: &[u8]) -> Option<usize> {
    // In addresses, `bot` stands before the name.
    let start = if text.starts_with(b"bot") { 3 } else { 0 };
    let colon = start + run(text, start, |byte| byte.is_ascii_digit());
    if !(8..=10).contains(&(colon - start)) || !text.get(colon..)?.starts_with(b":AA") {
        return None;
    }
    let key = run(text, colon + 1, is_word);
    (key == 35).then_some(colon + 1 + key)
}

/// The value after a word that announces one, as `Bearer` does.
fn announced(text: &[u8], word: &[u8]) -> Option<Range<usize>> {
    if !text.get(..word.len())?.eq_ignore_ascii_case(word) {
        return None;
    }
    let space = run(text, word.len(), |byte| byte == b' ' || byte == b'\t');
    let start = word.len() + space;
    let length = run(text, start, is_value);
    let value = text.get(start..start + length)?;
    let is_mixed = value.iter().skip(1).any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (space > 0 && value.len() >= 6 && is_mixed).then_some(start..start + length)
}

/// The value after a name, for instance in `?token=...`, `"api_key": "..."` or `x-api-key: ...`.
fn named(text: &[u8]) -> Option<Range<usize>> {
    let length = run(text.get(..text.len().min(NAME_BYTES_MAX + 1))?, 0, is_word);
    let is_between = |byte: u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b':' | b'=');
    let between = run(text.get(..text.len().min(length + 9))?, length, is_between);
    let signs = text.get(length..length + between)?.iter().filter(|byte| matches!(byte, b':' | b'=')).count();
    if signs != 1 || !is_secret_name(text.get(..length)?) {
        return None;
    }
    let start = length + between;
    let quote = text.get(start - 1).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    if let Some(quote) = quote
        && is_password_name(text.get(..length)?)
    {
        let value = run(text, start, |byte| byte != quote && byte != b'\n');
        return is_password(text.get(start..start + value)?).then_some(start..start + value);
    }
    let value = run(text, start, is_value);
    is_secret(text.get(start..start + value)?).then_some(start..start + value)
}

/// Whether a value under this name may be any words at all.
fn is_password_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    ["password", "passwd", "passphrase"].iter().any(|known| name.ends_with(known.as_bytes()))
}

/// Whether the value of a password is one, and not the name of a variable.
fn is_password(value: &[u8]) -> bool {
    value.first().is_some_and(|byte| !b"$%*{<".contains(byte))
}

fn is_secret_name(name: &[u8]) -> bool {
    if name.len() > NAME_BYTES_MAX {
        return false;
    }
    let plain: Vec<u8> =
        name.iter().map(|byte| if *byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }).collect();
    NAMES.iter().any(|known| {
        let before = plain.strip_suffix(known.as_bytes());
        before.is_some_and(|before| before.is_empty() || before.ends_with(b"_"))
    })
}

/// The password in `scheme://user:password@host`, where `start` is after the slashes.
fn url_password(text: &[u8], start: usize) -> Option<(Range<usize>, &'static str)> {
    let user = run(text, start, |byte| byte.is_ascii_graphic() && !b":/@\"'<>?#\\".contains(&byte));
    let password = start + user + 1;
    if text.get(start + user) != Some(&b':') {
        return None;
    }
    let length = run(text, password, |byte| byte.is_ascii_graphic() && !b"/@\"'<>?#\\".contains(&byte));
    let is_named = text.get(password).is_some_and(|byte| b"$*[{".contains(byte));
    let is_password = length > 0 && !is_named && text.get(password + length) == Some(&b'@');
    is_password.then_some((password..password + length, "password in a URL"))
}

/// Whether a value can be a secret: not an ordinary word, not a number, and not the name of a variable.
fn is_secret(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_variable = value.first().is_some_and(|byte| b"$%*".contains(byte));
    (value.len() >= 20 || (value.len() >= 6 && digits > 0)) && digits < value.len() && !is_variable
}

/// How many bytes from `start` on are `kind`.
fn run(text: &[u8], start: usize, kind: impl Fn(u8) -> bool) -> usize {
    text.get(start..).unwrap_or_default().iter().take_while(|byte| kind(**byte)).count()
}

/// What words are made of: a key does not begin in the middle of one.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_long(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b':')
}

fn is_value(byte: u8) -> bool {
    is_long(byte) || matches!(byte, b'~' | b'%' | b'|' | b'!' | b'@' | b'#' | b'$' | b'^' | b'*')
}

#[cfg(test)]
#[path = "shapes_tests.rs"]
mod tests;
