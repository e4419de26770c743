//! Whether the doctor connects to services.

/// Whether the doctor connects to services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkChecks {
    Off,
    /// Connect to every service that has a key, without calling a model.
    On,
}
