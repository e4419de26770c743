//! A review bot: reads a diff from standard input, prints findings, and fails if one of them is severe.
//!
//! `git diff main | ANTHROPIC_API_KEY=... cargo run -p rheon --example review_bot`

use std::io::Read as _;
use std::process::ExitCode;

use rheon::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// What is wrong with the change; empty if nothing is.
    findings: Vec<Finding>,
}

#[derive(Deserialize, JsonSchema)]
struct Finding {
    file: String,
    line: u32,
    severity: Severity,
    /// What is wrong, and how to fix it.
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Note,
    Bug,
}

#[tokio::main]
async fn main() -> rheon::Result<ExitCode> {
    let mut diff = String::new();
    std::io::stdin().read_to_string(&mut diff)?;

    // It may read the project to understand the change, and nothing else.
    let session = Session::builder(".")
        .model("anthropic/claude-sonnet-4-5")
        .only_tools(["Read", "Grep", "Glob"])
        .append_system_prompt("You review changes. Report only what you are sure of.")
        .max_turns(20)
        .unsaved()
        .open()
        .await?;
    let review: Review = session.run_as(format!("Review this change:\n\n{diff}")).await?;

    for Finding { file, line, severity, text } in &review.findings {
        println!("{file}:{line}: {severity:?}: {text}");
    }
    let is_severe = review.findings.iter().any(|finding| finding.severity == Severity::Bug);
    Ok(if is_severe { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
