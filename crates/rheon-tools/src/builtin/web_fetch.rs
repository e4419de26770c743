//! `web_fetch`: fetches a web page as text.

mod clean;
mod decode;
mod session_server;

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use rheon_macros::Tool;
use rheon_types::{ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::{Host, Url};

use super::address::{AddressRule, FilteringResolver};
use rheon_policy::shell::is_loopback_host;
use rheon_sandbox::Sandbox;

/// The most bytes of a page that are read, and the most characters returned at once.
const BODY_BYTES_MAX: usize = 5 * 1024 * 1024;
const TEXT_CHARS_MAX: usize = 50_000;
const REDIRECTS_MAX: usize = 5;
const TIME_LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Tool)]
#[tool(name = "web_fetch", label = "Fetch page", description = include_str!("web_fetch.md"), arguments = Arguments)]
pub struct WebFetchTool {
    /// Created for the first page: most sessions fetch none, and it takes a while.
    client: OnceLock<Client>,
    rule: AddressRule,
    /// The session whose commands start servers.
    session: Option<Sandbox>,
}

/// A response, and where it came from after redirects.
struct Page {
    url: Url,
    response: Response,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    /// Characters to skip.
    #[serde(default)]
    offset: usize,
}

impl WebFetchTool {
    /// Only connects to addresses that `rule` allows. Uses no proxy and no credentials.
    pub fn new(rule: AddressRule) -> Self {
        Self { client: OnceLock::new(), rule, session: None }
    }

    /// Reaches the servers that commands of this session started, at `localhost`. Without it, that is this machine.
    pub fn with_session_servers(mut self, session: Sandbox) -> Self {
        self.session = Some(session);
        self
    }

    fn client(&self) -> Result<&Client, ToolError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // The process may have a TLS library already.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .tls_backend_rustls()
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .user_agent(concat!("rheon/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(FilteringResolver(self.rule)))
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|problem| ToolError::Failed(format!("cannot set up the HTTP client: {problem}")))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Fetches `url` and follows redirects, each of which is checked. A redirect to another host is not followed,
    /// because the gate has only approved this host.
    async fn get(&self, url: Url) -> Result<Page, ToolError> {
        let mut url = url;
        for _ in 0..=REDIRECTS_MAX {
            self.check(&url)?;
            let response = match self.session_of(&url) {
                Some(session) => session_server::get(session, &url).await?,
                None => {
                    let sent = self.client()?.get(url.clone()).send().await;
                    sent.map_err(|problem| failed(&url, &problem))?
                }
            };
            if !response.status().is_redirection() {
                return Ok(Page { url, response });
            }
            let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
            let next = match target.map(|target| url.join(target)) {
                Some(Ok(next)) => next,
                Some(Err(_)) | None => return Ok(Page { url, response }),
            };
            self.check(&next)?;
            // The gate approved one host; another host needs another call.
            if next.host() != url.host() {
                return Err(ToolError::Failed(format!(
                    "{url} redirects to another host; fetch {next} instead if you want it"
                )));
            }
            url = next;
        }
        Err(ToolError::Failed(format!("more than {REDIRECTS_MAX} redirects; the last one is {url}")))
    }

    fn check(&self, url: &Url) -> Result<(), ToolError> {
        if !["http", "https"].contains(&url.scheme()) {
            return Err(ToolError::InvalidArgs(format!(
                "{url} is not a web address; it must start with https://"
            )));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ToolError::InvalidArgs("the address contains credentials; remove them".into()));
        }
        let address: Option<IpAddr> = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(_)) => None,
            None => return Err(ToolError::InvalidArgs(format!("{url} has no host"))),
        };
        match address {
            Some(address) if !self.rule.allows(address) && self.session_of(url).is_none() => {
                Err(ToolError::Denied(format!("{address} is not a public address")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The session, if the address is one of its servers.
    fn session_of(&self, url: &Url) -> Option<&Sandbox> {
        self.session.as_ref().filter(|_| url.host_str().is_some_and(is_loopback_host))
    }

    async fn fetch(&self, arguments: Arguments) -> Result<ToolResult, ToolError> {
        let url = Url::parse(arguments.url.trim()).map_err(|problem| {
            ToolError::InvalidArgs(format!("invalid address {:?}: {problem}", arguments.url))
        })?;
        let Page { url: last, response } = self.get(url).await?;
        let status = response.status();
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        if !status.is_success() {
            return Err(ToolError::Failed(format!("{last} returned status {status}")));
        }
        let (body, is_cut) = read(response, &last).await?;
        let (kind, text) = tokio::task::spawn_blocking(move || as_text(&kind, &body))
            .await
            .map_err(|_| ToolError::Failed(format!("cannot read the page at {last}")))??;
        let total = text.chars().count();
        let shown: String = text.chars().skip(arguments.offset).take(TEXT_CHARS_MAX).collect();
        let end = arguments.offset + shown.chars().count();
        let mut output = match (shown.is_empty(), total) {
            (false, _) => shown,
            (true, 0) => "(no text)".to_owned(),
            (true, _) => {
                format!("(the page has {total} characters; offset {} is past the end)", arguments.offset)
            }
        };
        if end < total {
            output.push_str(&format!(
                "\n\n(characters {} to {end} of {total}; continue with offset {end})",
                arguments.offset
            ));
        } else if is_cut {
            output.push_str(&format!(
                "\n\n(the page is larger than {BODY_BYTES_MAX} bytes; the rest was not read)"
            ));
        }
        let details =
            json!({ "url": last.as_str(), "status": status.as_u16(), "type": kind, "characters": total });
        Ok(ToolResult::text(output).with_details(details))
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        tokio::select! {
            result = self.fetch(arguments) => result,
            () = context.cancel.cancelled() => Err(ToolError::Cancelled("cancelled while fetching the page".into())),
            () = tokio::time::sleep(TIME_LIMIT) => {
                Err(ToolError::TimedOut(format!("no response within {} s", TIME_LIMIT.as_secs())))
            }
        }
    }
}

/// Reads the body up to the limit, and says whether there is more.
async fn read(mut response: Response, url: &Url) -> Result<(Vec<u8>, bool), ToolError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|problem| failed(url, &problem))? {
        let room = BODY_BYTES_MAX - body.len();
        if piece.len() > room {
            body.extend(piece.iter().take(room));
            return Ok((body, true));
        }
        body.extend_from_slice(&piece);
    }
    Ok((body, false))
}

/// The content type without parameters, and the body as text.
fn as_text(kind: &str, body: &[u8]) -> Result<(String, String), ToolError> {
    let (name, parameters) = kind.split_once(';').unwrap_or((kind, ""));
    let name = name.trim();
    let is_html = matches!(name, "text/html" | "application/xhtml+xml");
    if !is_html && !is_textual(name, body) {
        return Err(ToolError::Failed(format!("the page is {name:?}, not text")));
    }
    let text = decode::decode(parameters, body)?;
    if !is_html {
        return Ok((name.to_owned(), text.into_owned()));
    }
    let text = htmd::convert(&clean::clean(&text))
        .map_err(|problem| ToolError::Failed(format!("cannot parse the page: {problem}")))?;
    Ok((name.to_owned(), text))
}

fn is_textual(kind: &str, body: &[u8]) -> bool {
    let named = kind.starts_with("text/")
        || ["json", "xml", "yaml", "toml", "javascript"].iter().any(|word| kind.ends_with(word));
    named || (kind.is_empty() && !body.contains(&0))
}

fn failed(url: &Url, problem: &reqwest::Error) -> ToolError {
    let mut causes = Vec::new();
    let mut next: Option<&dyn std::error::Error> = std::error::Error::source(problem);
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    let host = url.host_str().unwrap_or_default();
    ToolError::Failed(format!(
        "cannot fetch from {host}: {}",
        causes.last().cloned().unwrap_or_else(|| "no response".into())
    ))
}

#[cfg(test)]
mod web_fetch_tests;
