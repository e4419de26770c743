//! `SecretStrictness`: how readily text is treated as a secret.

/// How readily text is treated as a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretStrictness {
    /// For text with code in it, where needless redaction hurts.
    Balanced,
    /// For service messages, which quote keys in full or shortened: anything that may be a secret is one.
    Strict,
}
