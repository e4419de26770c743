//! Tests of `spinner`.
