//! The file that a user begins with.

/// A file of settings in which everything is explained and nothing is set.
pub fn template() -> &'static str {
    include_str!("template.toml")
}
