//! Providers from the outside: requests in, chunks out.

#![cfg(test)]

mod adversarial_wires;
mod cancel;
mod choosing;
mod conformance;
mod files;
mod network;
mod steps;
mod support;
