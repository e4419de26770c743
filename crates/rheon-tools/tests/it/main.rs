//! Integration tests of the tools on a real kernel.

#![cfg(test)]

mod checked_directory;
#[cfg(target_os = "linux")]
mod escape_list;
mod read_race;
mod sandbox_escapes;
