//! Tests of `announce`.
