//! Tests of what is left of a repository by programs that mean harm.
