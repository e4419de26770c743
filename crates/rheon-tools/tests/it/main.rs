//! The tools from outside, on a real kernel.

#![cfg(test)]

mod ways_out;
