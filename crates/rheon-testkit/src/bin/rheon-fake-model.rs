//! `rheon-fake-model`: the fake model server as a program, for pointing any client at it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{
    FakeReply, FakeServer, Protection, RecordedRequest, ReplyBlock, ReplyCondition, ReplyCount,
    ReplyProgress, Script,
};
use serde_json::json;

/// A model server for tests: speaks Anthropic Messages, Chat Completions, Responses, Gemini and Bedrock Converse on
/// loopback, answers by script and fails by script. No model, no network, no key.
#[derive(Debug, Parser)]
#[command(
    name = "rheon-fake-model",
    version,
    after_help = "Without a script every request is answered with \"All done.\".\n\n\
        Examples:\n  \
        rheon-fake-model --port 8787\n  \
        rheon-fake-model --tool-turns 3             three tool calls, then \"All done.\"\n  \
        rheon-fake-model --example > script.toml    a script with every key explained\n  \
        rheon-fake-model --script script.toml --log requests.jsonl"
)]
struct Arguments {
    /// The port on 127.0.0.1; a free one if absent.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// The script, a TOML file.
    #[arg(long, value_name = "FILE", conflicts_with = "tool_turns")]
    script: Option<PathBuf>,
    /// Answer so many requests that offer tools with a call of one of them.
    #[arg(long, value_name = "N")]
    tool_turns: Option<usize>,
    /// Write every request, with headers and body, to this file: one JSON object per line. Holds keys as they were sent.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Speak TLS, with a certificate that is printed at the start.
    #[arg(long)]
    tls: bool,
    /// Stop when standard input is closed.
    #[arg(long)]
    until_stdin_closes: bool,
    /// Print a script with every key explained, and stop.
    #[arg(long)]
    example: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("rheon-fake-model: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    if arguments.example {
        print!("{}", Script::EXAMPLE);
        return Ok(());
    }
    let script = script(&arguments)?;
    let protection = if arguments.tls { Protection::Tls } else { Protection::Plain };
    let mut log = match &arguments.log {
        Some(path) => Some(
            std::fs::File::create(path)
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?,
        ),
        None => None,
    };
    let server = FakeServer::start_at(arguments.port, protection, script).await.map_err(|error| {
        format!("cannot listen on 127.0.0.1:{}: {error}; choose another --port", arguments.port)
    })?;
    say(&addresses(&server))?;
    if let Some(certificate) = server.certificate() {
        say(certificate.trim_end())?;
    }
    tokio::select! {
        result = report(&server, &mut log) => result,
        _ = tokio::signal::ctrl_c() => Ok(()),
        () = stdin_closed(), if arguments.until_stdin_closes => Ok(()),
    }
}

fn script(arguments: &Arguments) -> Result<Script, String> {
    let done = FakeReply::text("All done.");
    if let Some(path) = &arguments.script {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        return Script::from_toml(&name, &text).map_err(|error| error.to_string());
    }
    let turns = arguments.tool_turns.unwrap_or(0);
    let call = FakeReply::empty()
        .and(ReplyBlock::AnyCall)
        .when(ReplyCondition::offers_tools())
        .times(ReplyCount::Exactly(turns));
    Ok(Script::new([call]).otherwise(done))
}

/// One line: the address of each wire, and the variables that point clients at it.
fn addresses(server: &FakeServer) -> String {
    let wires = WireKind::ALL.map(|wire| format!("{}={}", wire.as_str(), server.base_url(wire))).join(" ");
    format!(
        "{wires} ANTHROPIC_BASE_URL={root} OPENAI_BASE_URL={root}/v1 GEMINI_BASE_URL={root} \
         GOOGLE_GEMINI_BASE_URL={root} AWS_ENDPOINT_URL_BEDROCK_RUNTIME={root}",
        root = server.url()
    )
}

/// One line per request, as soon as its answer is chosen.
async fn report(server: &FakeServer, log: &mut Option<std::fs::File>) -> Result<(), String> {
    let mut number = 1;
    loop {
        let request = server.arrived(number).await;
        let progress = server.reached(number, |progress| !progress.chosen.is_empty()).await;
        say(&line(&request, &progress))?;
        if let Some(log) = log {
            let record = record(&request, &progress);
            writeln!(log, "{record}").map_err(|error| format!("cannot write the log: {error}"))?;
        }
        number += 1;
    }
}

fn line(request: &RecordedRequest, progress: &ReplyProgress) -> String {
    format!("{} {} -> {}", request.method, request.path, progress.chosen)
}

fn record(request: &RecordedRequest, progress: &ReplyProgress) -> serde_json::Value {
    let headers: Vec<(String, String)> = request
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    json!({
        "number": request.number,
        "connection": request.connection,
        "version": format!("{:?}", request.version),
        "method": request.method.as_str(),
        "path": request.path,
        "query": request.query,
        "headers": headers,
        "body": request.json,
        "reply": progress.chosen,
    })
}

/// Whoever reads the output may have gone; then nobody misses it.
fn say(text: &str) -> Result<(), String> {
    let mut output = std::io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(format!("cannot write the output: {error}")),
    }
}

/// Reads on a thread of its own, so that the program can stop while the read still waits.
async fn stdin_closed() {
    let (closed, wait) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        // Closed and unreadable are the same to those who wait for the end.
        let _bytes = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        drop(closed);
    });
    let _closed = wait.await;
}
