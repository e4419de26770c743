//! Rewinding.
