//! Whether the network is tried.

/// Whether the network is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// It is not.
    Untouched,
    /// Every service for which there is a key is called up with it, without asking a model anything.
    Tried,
}
