//! Integration tests of the tools on a real kernel.

#![cfg(test)]

mod checked_directory;
mod sandbox_escapes;
