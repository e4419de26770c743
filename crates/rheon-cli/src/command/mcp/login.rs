//! `rheon mcp login` and `rheon mcp logout`.

use std::io::{self, BufRead as _, stdin};
use std::net::Ipv4Addr;

use rheon_app::mcp::{LoginAttempt, LoginRequest};
use rheon_app::session::{forget_mcp_login, start_mcp_login};
use rheon_text::visible;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

use super::super::setup::{config, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::{block_on, start_thread, thread_failure};

/// The longest request of a browser that is read.
const REQUEST_BYTES_MAX: u64 = 64 * 1024;

const PATH: &str = "/callback";

const PAGE: &str =
    "<!doctype html><title>Rheon</title><p>You can close this page and go back to the terminal.</p>";

/// Log in at an MCP server: shows an address to open in your browser
///
/// On another machine, open the address there and paste the address of the last page here; it need not load.
#[derive(Debug, clap::Args)]
pub(crate) struct Login {
    /// The name of the server
    name: String,

    /// Ask for this right, besides those that the server names
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,

    /// The client that you registered with the authorization server; otherwise Rheon registers itself
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// The environment variable with the secret of this client
    #[arg(long, value_name = "VARIABLE", requires = "client_id")]
    client_secret_env: Option<String>,

    /// The address of a document that describes the client
    #[arg(long, value_name = "URL")]
    client_metadata_url: Option<String>,

    /// The port to come back to, if the client is registered for one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// Forget the login at an MCP server
#[derive(Debug, clap::Args)]
pub(crate) struct Logout {
    /// The name of the server
    name: String,
}

impl Login {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        let secret = match &self.client_secret_env {
            Some(variable) => Some(system.environment.text(variable).ok_or_else(|| {
                Failure::usage(format_args!("the environment variable {variable} is not set"))
            })?),
            None => None,
        };
        block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await;
            let listener = listener.map_err(|error| {
                Failure::error(format_args!("cannot listen on port {}: {error}", self.port))
            })?;
            let port = listener.local_addr().map_err(Failure::error)?.port();
            let request = LoginRequest {
                redirect: format!("http://127.0.0.1:{port}{PATH}"),
                scopes: self.scopes,
                client_id: self.client_id,
                client_secret: secret.map(Into::into),
                client_metadata_url: self.client_metadata_url,
                challenge: None,
            };
            let attempt = start_mcp_login(&system, &config, &self.name, request).await;
            let attempt = attempt.map_err(Failure::error)?;
            finish(attempt, &listener, port).await?;
            print(&format!("Logged in at {}.\n", self.name))
        })
    }
}

impl Logout {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let forgotten = forget_mcp_login(&system(None)?, &self.name);
        match forgotten {
            Ok(true) => print(&format!("Logged out of {}.\n", self.name)),
            Ok(false) => Err(Failure::usage(format_args!("there is no login at {:?}", self.name))),
            Err(error) => Err(Failure::error(format_args!("cannot forget the login: {error}"))),
        }
    }
}

/// Waits until the browser comes back, or until its address is pasted.
async fn finish(attempt: LoginAttempt, listener: &TcpListener, port: u16) -> Result<(), Failure> {
    print(&format!("Open this address in your browser:\n\n{}\n\n", visible(attempt.address())))?;
    let (sender, mut targets) = mpsc::channel(1);
    let mut pasted = pasted().map_err(thread_failure)?;
    let redirect = loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted.map_err(Failure::error)?;
                let sender = sender.clone();
                // Browsers also ask for an icon, and open connections that they do not use.
                tokio::spawn(async move {
                    if let Some(target) = returned(stream).await {
                        drop(sender.send(target).await);
                    }
                });
            }
            Some(target) = targets.recv() => break format!("http://127.0.0.1:{port}{target}"),
            Ok(line) = &mut pasted => break line,
        }
    };
    attempt.finish(redirect.trim()).await.map_err(Failure::error)
}

/// The first line of standard input that is an address.
fn pasted() -> io::Result<oneshot::Receiver<String>> {
    let (sender, receiver) = oneshot::channel();
    start_thread("rheon-input", move || {
        let line = stdin().lock().lines().map_while(Result::ok).find(|line| line.contains("://"));
        if let Some(line) = line {
            // The browser may have come back first.
            drop(sender.send(line));
        }
    })?;
    Ok(receiver)
}

/// Answers a browser. What it was sent to us with, if this is the page that it was to come back to.
async fn returned(stream: TcpStream) -> Option<String> {
    let mut stream = BufReader::new(stream.take(REQUEST_BYTES_MAX));
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    // The rest of the request is of no interest, but a browser wants it to be read.
    loop {
        let mut header = String::new();
        if stream.read_line(&mut header).await.ok()? == 0 || header.trim().is_empty() {
            break;
        }
    }
    let is_back = target.strip_prefix(PATH).is_some_and(|rest| rest.starts_with('?'));
    let (status, page) = if is_back { ("200 OK", PAGE) } else { ("404 Not Found", "") };
    let length = page.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{page}"
    );
    let mut stream = stream.into_inner().into_inner();
    drop(stream.write_all(answer.as_bytes()).await);
    drop(stream.shutdown().await);
    is_back.then_some(target)
}
