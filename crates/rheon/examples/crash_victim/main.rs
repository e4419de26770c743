//! The program that `cargo xtask crash` kills: it keeps sessions with the real store, says outside what was acknowledged,
//! and checks afterwards that all of it is there.
//!
//! | call | does |
//! |---|---|
//! | `work <stage> <prompts>` | starts or resumes the session and works; without end if `prompts` is 0 |
//! | `act <path> <stage>` | walks one write path |
//! | `full <stage>` | works until the disk is full, then makes room and goes on |
//! | `damage <stage> <places>` | cuts and flips at up to so many bytes of each file that is kept |
//! | `serve` | checks what each line of the input names: `kill <stage>`, `power <stage>`, `path <path> <stage>` |

mod acked_store;
mod acks;
mod damage;
mod full;
mod paths;
mod stage;
mod verify;
mod work;

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use crate::stage::{Outcome, Stage};
use crate::verify::After;
use crate::work::Extent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match act().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn act() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["work", stage, "0"] => work::work(&Stage::new(stage), Extent::Endless).await,
        ["work", stage, prompts] => work::work(&Stage::new(stage), Extent::Prompts(prompts.parse()?)).await,
        ["act", path, stage] => paths::act(path, &Stage::new(stage)).await,
        ["full", stage] => full::full(&Stage::new(stage)).await,
        ["damage", stage, places] => damage::damage(&Stage::new(stage), places.parse()?).await,
        ["serve"] => serve().await,
        _ => Err("call it as the first lines of its source say".into()),
    }
}

/// Answers each line with `ok` and what was found, or `bad` and what is wrong.
async fn serve() -> Outcome {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let checked = match words.as_slice() {
            ["kill", stage] => verify::verify(&Stage::new(stage), After::Kill),
            ["power", stage] => verify::verify(&Stage::new(stage), After::PowerCut),
            ["path", path, stage] => paths::check(path, &Stage::new(stage)).await,
            _ => Err("unknown order".into()),
        };
        let answer = match checked {
            Ok(found) => format!("ok {found}"),
            Err(error) => format!("bad {}", error.to_string().replace('\n', " ")),
        };
        let mut output = std::io::stdout().lock();
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}
