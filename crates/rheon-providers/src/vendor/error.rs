//! `VendorError`: why a vendor cannot be used, and what to do about it. Never shows the value of a variable.

use crate::toml_text::TomlError;

/// A vendor that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VendorError {
    /// Its text is wrong.
    #[error(transparent)]
    Text(#[from] TomlError),
    /// A variable is not set that its address needs.
    #[error("{vendor} needs {help}; set {}", names.join(" or "))]
    MissingVariable {
        /// The vendor.
        vendor: String,
        /// The environment variables of which one must be set.
        names: Vec<String>,
        /// What the value is.
        help: String,
    },
    /// Its address is no address.
    #[error("the address of {vendor} (from {origin}) {problem}")]
    Address {
        /// The vendor.
        vendor: String,
        /// Where it comes from: an environment variable or the vendor's file.
        origin: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// A header is none.
    #[error(
        "the header {header:?} of {vendor} is not a header that can be sent; correct it in the vendor's file"
    )]
    Header {
        /// The vendor.
        vendor: String,
        /// Its name.
        header: String,
    },
}
