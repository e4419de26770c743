//! `rheon mcp serve`: other programs run agents through the Model Context Protocol.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::Ipv4Addr;
use std::sync::Arc;

use rheon_app::mcp::{HttpService, serve_http, serve_lines};
use rheon_app::session::{HostExtensions, HostParts};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::super::setup::{config, system};
use super::agent_service::AgentService;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::host;
use crate::output::print_note;
use crate::runtime::{block_on, start_thread, thread_failure};

/// The environment variable with the token of `--port`.
const TOKEN_VARIABLE: &str = "RHEON_MCP_TOKEN";

/// The longest message.
const MESSAGE_BYTES_MAX: u64 = 16 << 20;

/// Let other programs run agents: an MCP server on standard input and output
///
/// The tool `run_agent` answers a prompt in this directory, with your settings and rules. Calls that need approval are
/// asked of the other program's user if it supports that, and denied otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The model, as vendor/model
    #[arg(long)]
    model: Option<String>,

    /// Serve HTTP on this port of this machine instead (0: any); programs must send the token in RHEON_MCP_TOKEN
    #[arg(long)]
    port: Option<u16>,
}

impl Serve {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        let token = system.environment.text(TOKEN_VARIABLE).map(str::to_owned);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let parts = HostParts { system, config, extras: HostExtensions::default(), trace: None, version };
        block_on(async {
            let service = Arc::new(AgentService { host: host(parts), model: self.model });
            match self.port {
                Some(port) => over_http(service, port, token).await,
                None => over_lines(service).await,
            }
        })
    }
}

async fn over_http(service: Arc<AgentService>, port: u16, token: Option<String>) -> Result<Exit, Failure> {
    let Some(token) = token.filter(|token| !token.is_empty()) else {
        let text =
            "set RHEON_MCP_TOKEN to a secret of your choice; programs that call this server must send it";
        return Err(Failure::usage(text));
    };
    let failed = |error: io::Error| Failure::error(format_args!("cannot listen on port {port}: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    print_note(&format!("serving at http://{address}/mcp"));
    let http = HttpService { listener, token: Some(token.into()), stop: CancellationToken::new() };
    serve_http(service, http).await.map_err(Failure::error)?;
    Ok(Exit::Done)
}

async fn over_lines(service: Arc<AgentService>) -> Result<Exit, Failure> {
    let (output, mut written) = mpsc::unbounded_channel::<String>();
    let serving = serve_lines(service, input().map_err(thread_failure)?, output);
    tokio::pin!(serving);
    loop {
        tokio::select! {
            biased;
            Some(line) = written.recv() => write(&line)?,
            () = &mut serving => break,
        }
    }
    while let Ok(line) = written.try_recv() {
        write(&line)?;
    }
    Ok(Exit::Done)
}

fn write(line: &str) -> Result<(), Failure> {
    let failed = |error| Failure::error(format_args!("cannot write to standard output: {error}"));
    let mut output = io::stdout().lock();
    writeln!(output, "{line}").and_then(|()| output.flush()).map_err(failed)
}

/// The lines of standard input. One that is too long ends the connection.
fn input() -> io::Result<mpsc::Receiver<String>> {
    let (sender, receiver) = mpsc::channel(16);
    start_thread("rheon-input", move || {
        let mut stdin = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = (&mut stdin).take(MESSAGE_BYTES_MAX).read_until(b'\n', &mut line);
            let is_whole = line.last() == Some(&b'\n');
            if !matches!(read, Ok(1..)) || (!is_whole && line.len() as u64 >= MESSAGE_BYTES_MAX) {
                return;
            }
            let line = String::from_utf8_lossy(&line).into_owned();
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}
