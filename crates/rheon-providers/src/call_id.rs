//! Tool call ids as each service accepts them. Pure and stateless: the same id is always replaced by the same one.

use std::borrow::Cow;

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Which tool call ids a service accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallIdRule {
    /// Any of 1 to 64 bytes.
    #[default]
    Any,
    /// Letters, digits, `_` and `-`, at most 64 (Anthropic, Bedrock).
    Word64,
    /// Letters, digits, `_` and `-`, at most 40 (OpenAI's chat).
    Word40,
    /// Exactly nine letters and digits (Mistral).
    Alnum9,
}

impl CallIdRule {
    /// `id` if the rule allows it, otherwise a replacement derived from it. Two ids collide with a probability of 1 in
    /// 10^16.
    pub(crate) fn apply<'a>(self, id: &'a str) -> Cow<'a, str> {
        if self.allows(id) { Cow::Borrowed(id) } else { Cow::Owned(self.substitute(id)) }
    }

    fn allows(self, id: &str) -> bool {
        let word = |max: usize| {
            (1..=max).contains(&id.len())
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        };
        match self {
            Self::Any => (1..=64).contains(&id.len()) && !id.chars().any(char::is_control),
            Self::Word64 => word(64),
            Self::Word40 => word(40),
            Self::Alnum9 => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }

    fn substitute(self, id: &str) -> String {
        let (prefix, length) = match self {
            Self::Any | Self::Word64 | Self::Word40 => ("call_", 24),
            Self::Alnum9 => ("", 9),
        };
        prefix.chars().chain(digest_letters(id).take(length)).collect()
    }
}

/// 32 letters and digits derived from a hash of `text`.
pub(crate) fn digest_letters(text: &str) -> impl Iterator<Item = char> + use<> {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let digest = Sha256::digest(text.as_bytes());
    digest
        .into_iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte) % 62))
        .map(|letter| char::from(*letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_id_is_kept_and_others_are_replaced_deterministically() {
        assert_eq!(CallIdRule::Word64.apply("toolu_01A-b"), "toolu_01A-b");
        assert_eq!(CallIdRule::Alnum9.apply("abcDEF123"), "abcDEF123");
        let unusual = CallIdRule::Word64.apply("call|1.x/ü").into_owned();
        assert_eq!(unusual, CallIdRule::Word64.apply("call|1.x/ü"));
        for rule in [CallIdRule::Any, CallIdRule::Word64, CallIdRule::Word40, CallIdRule::Alnum9] {
            for id in ["", "a\u{1}b", "call|1.x/ü", &"x".repeat(65)] {
                assert!(rule.allows(&rule.apply(id)), "{rule:?} {id:?}");
            }
        }
    }

    #[test]
    fn different_ids_stay_different() {
        let ids: std::collections::HashSet<String> =
            (0..10_000).map(|n| CallIdRule::Alnum9.apply(&format!("call_{n}")).into_owned()).collect();
        assert_eq!(ids.len(), 10_000);
    }
}
