//! `VendorError`: why a vendor cannot be used, and how to fix it. Never shows the value of a variable.

use crate::toml_text::TomlError;

/// A vendor that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VendorError {
    /// Invalid TOML.
    #[error(transparent)]
    Text(#[from] TomlError),
    /// A required variable is not set.
    #[error("{vendor} needs {help}; set {}", names.join(" or "))]
    MissingVariable {
        /// The vendor id.
        vendor: String,
        /// The environment variables, one of which must be set.
        names: Vec<String>,
        /// What the value is.
        help: String,
    },
    /// Invalid base URL.
    #[error("the base URL of {vendor} (from {origin}) {problem}")]
    Address {
        /// The vendor id.
        vendor: String,
        /// Where it comes from: an environment variable or the vendor file.
        origin: String,
        /// What is wrong, and how to fix it.
        problem: String,
    },
    /// Invalid header.
    #[error("invalid header {header:?} of {vendor}; fix it in the vendor file")]
    Header {
        /// The vendor id.
        vendor: String,
        /// The header name.
        header: String,
    },
}
