//! Whether the network is tried.

/// Whether the network is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// It is not.
    Untouched,
    /// The service of the chosen model is called up, without asking it anything.
    Tried,
}
