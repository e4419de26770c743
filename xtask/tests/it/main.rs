//! The integration tests of xtask: the rules on this repository, and each rule on small examples.

mod repository;

mod cycles;
mod docs;
mod edges;
mod exceptions;
mod header;
mod it_files;
mod named_tests;
mod sizes;
mod small_files;
mod syntax;
mod system_access;
mod tuples;
mod unique_types;
mod words;

mod support;
