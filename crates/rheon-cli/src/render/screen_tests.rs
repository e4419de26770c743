//! Tests of `screen`.
