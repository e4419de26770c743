//! The prompt of a headless run: what was typed, and what standard input holds.

use std::io::{self, IsTerminal as _, Read};

use crate::failure::Failure;

/// The most bytes of standard input that become part of a prompt.
const STDIN_BYTES_MAX: u64 = 10 << 20;

/// The prompt of a headless run: the typed text, with piped text below it. One of the two is needed.
pub(crate) fn whole(typed: Option<String>) -> Result<String, Failure> {
    let stdin = io::stdin();
    let piped = if stdin.is_terminal() { String::new() } else { read(stdin.lock())? };
    join(typed.as_deref(), &piped).ok_or_else(|| {
        Failure::usage("there is no prompt: write one, as in rheon -p \"explain this\", or pipe one in")
    })
}

fn join(typed: Option<&str>, piped: &str) -> Option<String> {
    let typed = typed.map(str::trim_end).filter(|text| !text.trim().is_empty());
    let piped = Some(piped).filter(|text| !text.trim().is_empty());
    match (typed, piped) {
        (Some(typed), Some(piped)) => Some(format!("{typed}\n\n{piped}")),
        (Some(text), None) | (None, Some(text)) => Some(text.to_owned()),
        (None, None) => None,
    }
}

fn read(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = input.take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::error(format_args!("cannot read standard input: {error}")))?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        return Err(Failure::usage(format_args!(
            "standard input has more than {} MiB; write it to a file and name that in the prompt",
            STDIN_BYTES_MAX >> 20
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Failure::usage(format_args!(
            "standard input is no UTF-8 text (at byte {place}); write it to a file and name that in the prompt"
        ))
    })
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
