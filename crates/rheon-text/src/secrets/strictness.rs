//! `SecretStrictness`: how readily text is taken for a secret.

/// How much doubt a secret may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretStrictness {
    /// For text with code in it, where a word that is hidden without need is missed.
    Balanced,
    /// For messages of services, which quote keys, whole or shortened: what may be a secret is one.
    Strict,
}
