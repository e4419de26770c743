//! The scripted provider from outside: requests in, chunks out.

#![cfg(test)]

mod cancel;
mod choosing;
mod cost;
mod files;
mod steps;
mod support;
