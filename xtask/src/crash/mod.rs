//! `cargo xtask crash`: real programs are killed, real disks fill up, power cuts are simulated; nothing acknowledged is lost.

mod chance;
mod disk;
mod effort;
mod faults;
mod operation;
mod parts;
mod power;
mod random;
mod strace;
mod syscalls;
mod victim;

pub(crate) use parts::{Arguments, run};
