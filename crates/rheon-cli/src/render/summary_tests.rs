//! Tests of `summary`.
