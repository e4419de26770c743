//! `rheon-fake-model`: runs the fake model server as a program, for use with any client.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{
    FakeReply, FakeServer, RecordedRequest, ReplyBlock, ReplyCondition, ReplyCount, ReplyProgress, Script,
    ServerProtocol,
};
use serde_json::json;

/// A fake model server for tests. Supports Anthropic Messages, Chat Completions, Responses, Gemini and Bedrock
/// Converse on loopback, with scripted answers and failures. Needs no model, network or key.
#[derive(Debug, Parser)]
#[command(
    name = "rheon-fake-model",
    version,
    after_help = "Without a script, every request is answered with \"All done.\".\n\n\
        Examples:\n  \
        rheon-fake-model --port 8787\n  \
        rheon-fake-model --tool-turns 3             three tool calls, then \"All done.\"\n  \
        rheon-fake-model --example > script.toml    a script with every key explained\n  \
        rheon-fake-model --script script.toml --log requests.jsonl"
)]
struct Arguments {
    /// Port on 127.0.0.1 (default: a free port).
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Script to play, a TOML file.
    #[arg(long, value_name = "FILE", conflicts_with = "tool_turns")]
    script: Option<PathBuf>,
    /// Answer the first N requests that offer tools with a tool call.
    #[arg(long, value_name = "N")]
    tool_turns: Option<usize>,
    /// Write every request to this file as JSON lines, with headers, body and keys.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Use TLS and print the certificate at startup.
    #[arg(long)]
    tls: bool,
    /// Stop when standard input is closed.
    #[arg(long)]
    until_stdin_closes: bool,
    /// Print an example script that explains every key, and exit.
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
    let protection = if arguments.tls { ServerProtocol::Tls } else { ServerProtocol::Plain };
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

/// One line with the base URL of each wire and the environment variables that select it.
fn addresses(server: &FakeServer) -> String {
    let wires = WireKind::ALL.map(|wire| format!("{}={}", wire.as_str(), server.base_url(wire))).join(" ");
    format!(
        "{wires} ANTHROPIC_BASE_URL={root} OPENAI_BASE_URL={root}/v1 GEMINI_BASE_URL={root} \
         GOOGLE_GEMINI_BASE_URL={root} AWS_ENDPOINT_URL_BEDROCK_RUNTIME={root}",
        root = server.url()
    )
}

/// Prints one line per request, as soon as its reply is chosen.
async fn report(server: &FakeServer, log: &mut Option<std::fs::File>) -> Result<(), String> {
    let mut number = 1;
    loop {
        let request = server.wait_for_request(number).await;
        let progress = server.wait_for_progress(number, |progress| !progress.chosen.is_empty()).await;
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

/// A closed output pipe is not an error.
fn say(text: &str) -> Result<(), String> {
    let mut output = std::io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(format!("cannot write the output: {error}")),
    }
}

/// Reads on a separate thread, so that the program can stop while the read is blocked.
async fn stdin_closed() {
    let (closed, wait) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        // A read error counts as closed.
        let _bytes = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        drop(closed);
    });
    let _closed = wait.await;
}
