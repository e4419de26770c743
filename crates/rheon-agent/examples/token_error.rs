//! Prints how far token estimates are off, text by text, vocabulary by vocabulary.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement for people, whose code is a test"
)]

#[path = "../tests/it/token_error.rs"]
mod token_error;

fn main() {
    print!("{}", token_error::table(&token_error::rows()));
}
