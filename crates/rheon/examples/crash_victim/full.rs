//! A disk that is full, and then is not.

use std::sync::Arc;

use rheon::prelude::*;

use crate::acks::Acks;
use crate::stage::{Outcome, Stage, ensure};
use crate::verify::{After, verify};
use crate::work::{agent, stand};

/// How much goes away: more than a prompt needs.
const BALLAST_BYTES: usize = 128 * 1024;

/// How many prompts fit on no disk that this is run on.
const PROMPTS_MAX: usize = 10_000;

/// Works until the disk is full; then a file goes away, and the same agent works on.
pub(crate) async fn full(stage: &Stage) -> Outcome {
    let ballast = stage.store("ballast");
    std::fs::write(&ballast, vec![7; BALLAST_BYTES])?;
    let acks = Arc::new(Acks::open(&stage.acks())?);
    let journals = Arc::new(stage.journals());
    let standing = stand(stage, &journals, &acks).await?;
    let agent = agent(stage, &journals, &acks, standing)?;
    let mut said = None;
    for _ in 0..PROMPTS_MAX {
        said = refusal(agent.run("Take the next steps.").await);
        if said.is_some() {
            break;
        }
    }
    let said = said.ok_or("the disk was never full")?;
    println!("full: {said}");
    ensure(said.contains("No space left") && said.contains("store/"), || format!("unclear: {said}"))?;
    verify(stage, After::Kill)?;
    std::fs::remove_file(&ballast)?;
    match refusal(agent.run("Take the next steps.").await) {
        None => {}
        Some(said) => return Err(format!("there is room again, but: {said}").into()),
    }
    println!("room: {}", verify(stage, After::Kill)?);
    Ok(())
}

/// Why a run came to no good end.
fn refusal(ran: rheon::Result<Arc<AgentOutput>>) -> Option<String> {
    match ran {
        Ok(output) if output.end == RunEnd::Completed => None,
        Ok(output) => Some(format!("{:?}", output.end)),
        Err(error) => Some(error.message().to_owned()),
    }
}
