//! Vendors: services as data. One TOML file each; users add their own without code.

mod address;
mod error;
mod set;
mod spec;
mod unknown;

pub use error::VendorError;
pub use set::Vendors;
pub use spec::{AuthScheme, AuthSpec, LocalServer, ProbeMethod, UrlVariable, Vendor, VendorPaths};
pub(crate) use unknown::unknown_model;

#[cfg(test)]
mod address_tests;
#[cfg(test)]
mod set_tests;
