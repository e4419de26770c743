//! Our client and our server for the official conformance suite; `cargo xtask e2e-mcp` calls it.
//!
//! - `client <address>` plays the scenario of the variable `MCP_CONFORMANCE_SCENARIO` against a server of the suite;
//! - `server <port file>` serves what the suite's scenarios call, and writes its address to the file.

mod client;
mod fixture;
mod input;
mod server;

use std::error::Error;
use std::process::ExitCode;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["client", address] => client::play(address).await,
        ["server", file] => server::serve(file).await,
        _ => Err("usage: conformance client ADDRESS | conformance server FILE".into()),
    }
}
