//! `LoginServer`: an MCP server that wants a login, and its authorization server, in one.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The longest request that is read.
const REQUEST_BYTES_MAX: usize = 1 << 20;

/// How a [`LoginServer`] behaves.
#[derive(Debug, Clone)]
pub struct LoginServerOptions {
    /// How many seconds its tokens last.
    pub token_seconds: u64,
    /// The issuer that its metadata names; its own address if absent.
    pub issuer: Option<String>,
    /// The address that it wants users to open; its own if absent.
    pub authorization_endpoint: Option<String>,
}

impl Default for LoginServerOptions {
    fn default() -> Self {
        Self { token_seconds: 3_600, issuer: None, authorization_endpoint: None }
    }
}

/// A server on loopback. Its tool `write` wants more rights than a login has. It lives as long as its runtime.
#[derive(Clone)]
pub struct LoginServer {
    address: String,
    options: LoginServerOptions,
    seen: Arc<Mutex<Vec<String>>>,
}

impl LoginServer {
    /// Starts a server.
    pub async fn start(options: LoginServerOptions) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let server = Self { address, options, seen: Arc::default() };
        let answering = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answering.clone().serve(stream));
            }
        });
        Ok(server)
    }

    /// The address of the authorization server; the MCP server is at `/mcp` below it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What was registered, exchanged and initialized since the last call of this. The address is `BASE` in it.
    pub fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, text: &str) {
        let text = text.replace(&self.address, "BASE");
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    async fn serve(self, mut stream: TcpStream) {
        let Some(request) = HttpText::read(&mut stream).await else { return };
        let reply = self.reply(&request);
        // The other side may have hung up.
        drop(stream.write_all(reply.as_bytes()).await);
        drop(stream.shutdown().await);
    }

    fn reply(&self, request: &HttpText) -> String {
        let base = &self.address;
        let target = request.target();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match path {
            "/.well-known/oauth-protected-resource/mcp" => {
                json_page(&json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] }))
            }
            "/.well-known/oauth-authorization-server" => json_page(&json!({
                "issuer": self.options.issuer.as_ref().unwrap_or(base),
                "authorization_endpoint":
                    self.options.authorization_endpoint.clone().unwrap_or_else(|| format!("{base}/authorize")),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            })),
            "/register" => {
                self.note("register");
                let asked: Value = serde_json::from_str(&request.body).unwrap_or_default();
                let back = asked.get("redirect_uris");
                json_page(
                    &json!({ "client_id": "me", "client_secret": "client-secret", "redirect_uris": back }),
                )
            }
            "/authorize" => self.authorize(query),
            "/token" => self.token(request),
            "/mcp" => self.mcp(request),
            _ => page("404 Not Found", "x: y", ""),
        }
    }

    /// The user agrees at once.
    fn authorize(&self, query: &str) -> String {
        let state = value(query, "state");
        let back = percent_decoded(&value(query, "redirect_uri"));
        self.note("authorize");
        let location = format!("location: {back}?code=abc&state={state}&iss={}", self.address);
        page("302 Found", &location, "")
    }

    fn token(&self, request: &HttpText) -> String {
        let kind = value(&request.body, "grant_type");
        let resource = percent_decoded(&value(&request.body, "resource"));
        let is_basic = request.head.contains("authorization: Basic ");
        let has_verifier = request.body.contains("code_verifier=");
        self.note(&format!("token {kind} {resource} basic={is_basic} verifier={has_verifier}"));
        json_page(&json!({
            "access_token": format!("token-{kind}"), "token_type": "Bearer", "expires_in": self.options.token_seconds,
            "refresh_token": "again", "scope": "read",
        }))
    }

    fn mcp(&self, request: &HttpText) -> String {
        let Some(token) = request.head.lines().find_map(|line| line.strip_prefix("authorization: Bearer "))
        else {
            let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", self.address);
            let challenge =
                format!("www-authenticate: Bearer scope=\"read\", resource_metadata=\"{metadata}\"");
            return page("401 Unauthorized", &challenge, "");
        };
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let result = match message.get("method").and_then(Value::as_str) {
            Some("initialize") => {
                self.note(&format!("initialize {token}"));
                json!({
                    "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "guarded", "version": "1" },
                })
            }
            Some("tools/list") => {
                json!({ "tools": [{ "name": "write", "inputSchema": { "type": "object" } }] })
            }
            Some("tools/call") => {
                let challenge = "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"write more\"";
                return page("403 Forbidden", challenge, "");
            }
            Some("server/discover") => return page("400 Bad Request", "content-type: text/plain", "what?"),
            Some(_) => return page("202 Accepted", "x: y", ""),
            None => return page("405 Method Not Allowed", "x: y", ""),
        };
        json_page(&json!({ "jsonrpc": "2.0", "id": message.get("id"), "result": result }))
    }
}

/// A request as text.
struct HttpText {
    head: String,
    body: String,
}

impl HttpText {
    async fn read(stream: &mut TcpStream) -> Option<Self> {
        let (mut bytes, mut chunk) = (Vec::new(), vec![0; 4_096]);
        while bytes.len() < REQUEST_BYTES_MAX {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length =
                    head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                if body.len() >= length.unwrap_or(0_usize) {
                    return Some(Self { head: head.to_owned(), body: body.to_owned() });
                }
            }
            let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
            bytes.extend(chunk.iter().take(count));
        }
        None
    }

    fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }
}

/// A value of a form or query, as it is written.
fn value(form: &str, name: &str) -> String {
    let pair = form.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    pair.unwrap_or_default().to_owned()
}

/// Good enough for addresses.
fn percent_decoded(text: &str) -> String {
    text.replace("%3A", ":").replace("%2F", "/")
}

fn json_page(value: &Value) -> String {
    page("200 OK", "content-type: application/json", &value.to_string())
}

fn page(status: &str, header: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}
