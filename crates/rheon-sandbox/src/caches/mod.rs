//! Package caches: commands see the user's caches and registry settings, and their changes go to a layer of their
//! own, kept per project.

mod layers;
mod quota;
mod registry;
mod watch;

pub(crate) use layers::CacheLayer;
pub use layers::{CacheMode, CacheSettings, Caches};
pub use quota::{CacheUsage, CleanReport, clean_caches, list_caches};
pub use watch::CacheReports;
