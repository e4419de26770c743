//! Many runs beside each other. So far: git, which gives each run a working tree of its own.

pub mod git;
