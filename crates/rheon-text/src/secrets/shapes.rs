//! The table of keys with a known prefix.

use super::bytes::{is_key, is_long, is_word, run};
use super::strictness::SecretStrictness;

/// A key with a known prefix.
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) prefix: &'static str,
    pub(super) rest: Rest,
}

/// What follows the prefix.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rest {
    /// At least this many letters and digits, including a digit.
    Plain(usize),
    /// The same, plus `-` and `_`.
    Word(usize),
    /// The same, plus `.`, `+`, `/`, `=`, `:`.
    Long(usize),
    /// Exactly this many hexadecimal digits.
    Hex(usize),
    /// Exactly this many capital letters and digits.
    Capitals(usize),
}

const fn shape(kind: &'static str, prefix: &'static str, rest: Rest) -> Shape {
    Shape { kind, prefix, rest }
}

/// A longer prefix comes before any prefix of it.
pub(super) const SHAPES: &[Shape] = &[
    shape("Anthropic key", "sk-ant-", Rest::Word(16)),
    shape("OpenRouter key", "sk-or-", Rest::Word(16)),
    shape("OpenAI key", "sk-proj-", Rest::Word(16)),
    shape("OpenAI key", "sk-svcacct-", Rest::Word(16)),
    shape("OpenAI key", "sk-", Rest::Word(20)),
    shape("Stripe key", "sk_live_", Rest::Word(16)),
    shape("Stripe key", "sk_test_", Rest::Word(16)),
    shape("secret key", "sk_", Rest::Plain(24)),
    shape("Stripe key", "rk_live_", Rest::Word(16)),
    shape("Stripe key", "rk_test_", Rest::Word(16)),
    shape("webhook secret", "whsec_", Rest::Long(16)),
    shape("Google API key", "AIza", Rest::Word(24)),
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

/// Prefixes, beside those in the table, that make any value a secret.
const BEGINNINGS: &[&str] = &["pk_", "rk_", "xox", "AKIA", "ASIA", "AIza", "eyJ", "-----BEGIN "];

/// No key in the table is shorter.
const SHAPE_BYTES_MIN: usize = 15;

/// How much of a key must be present in strict mode.
const STRICT_BYTES_MIN: usize = 16;

/// The length and kind of the key at the start of `text`.
pub(super) fn shaped(text: &[u8], strictness: SecretStrictness) -> Option<(usize, &'static str)> {
    // Most words are short and need no table lookup.
    let is_any = |byte| is_key(byte) || byte == b':';
    if run(text.get(..text.len().min(SHAPE_BYTES_MIN))?, 0, is_any) < SHAPE_BYTES_MIN {
        return None;
    }
    let fits = |shape: &&Shape| text.starts_with(shape.prefix.as_bytes());
    // Two shapes may have the same prefix: the first complete match wins.
    SHAPES.iter().filter(fits).find_map(|shape| {
        let strictly = || match strictness {
            SecretStrictness::Balanced => None,
            SecretStrictness::Strict => shape.strict_length(text),
        };
        // A match in either mode counts; the longer one hides more.
        let length = shape.length(text).max(strictly())?;
        Some((length, shape.kind))
    })
}

/// Whether a value has a prefix that only secrets have, regardless of its length.
pub(super) fn begins_like_secret(value: &str) -> bool {
    SHAPES.iter().any(|shape| shape.is_distinct() && value.starts_with(shape.prefix))
        || BEGINNINGS.iter().any(|beginning| value.starts_with(beginning))
}

impl Shape {
    /// The length of the key at the start of `text`, if it is one.
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

    /// Like `length`, but also accepts words without a digit and keys shortened with `*`.
    fn strict_length(&self, text: &[u8]) -> Option<usize> {
        let start = self.prefix.len();
        let least = match self.rest {
            Rest::Plain(least) | Rest::Word(least) | Rest::Long(least) if self.is_distinct() => {
                least.min(STRICT_BYTES_MIN)
            }
            Rest::Plain(least) | Rest::Word(least) | Rest::Long(least) => least,
            Rest::Hex(_) | Rest::Capitals(_) => return None,
        };
        let length = run(text, start, is_key);
        (length >= least).then_some(start + length)
    }

    /// Whether the prefix ends with a punctuation character, so that few words start with it.
    fn is_distinct(&self) -> bool {
        self.prefix.ends_with(['-', '_', '.', '/'])
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

/// One secret of every format that needs no name, and what it is. Made, not written, so that no scanner takes this file for
/// a leak.
pub fn canaries() -> Vec<(&'static str, String)> {
    let mut canaries: Vec<(&'static str, String)> =
        SHAPES.iter().map(|shape| (shape.kind, example(shape))).collect();
    let token = ["eyJhbGciOiJSUzI1NiJ9", "eyJpc3MiOiJhIn0", "c2lnbmF0dXJl"].join(".");
    canaries.push(("JSON web token", token));
    canaries.push(("Telegram token", format!("123456789:AA{}", "x".repeat(33))));
    for kind in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        canaries.push((
            "private key",
            format!("-----BEGIN {kind}-----\nMIIEpAIBAAKCAQEA+/=\nabc\n-----END {kind}-----"),
        ));
    }
    canaries
}

/// The shortest key of the shape.
pub(super) fn example(shape: &Shape) -> String {
    let (alphabet, length) = match shape.rest {
        Rest::Plain(least) | Rest::Word(least) | Rest::Long(least) => ("a1B2", least),
        Rest::Hex(exact) => ("c0ffee12", exact),
        Rest::Capitals(exact) => ("Q7", exact),
    };
    shape.prefix.chars().chain(alphabet.chars().cycle().take(length)).collect()
}
