//! `Origin`: whose files a folder holds.

/// Whose files a folder holds. Those of a project override those of the user that have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The user's own.
    User,
    /// They came with the project, so somebody else may have written them.
    Project,
}
