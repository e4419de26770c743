//! `web_fetch`: a page from the web, as text.

mod clean;
mod decode;

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

/// How much of a page is read, and how much of its text is shown at once.
const BODY_BYTES_MAX: usize = 5 * 1024 * 1024;
const TEXT_CHARS_MAX: usize = 50_000;
/// How many redirects are followed.
const REDIRECTS_MAX: usize = 5;
/// How long everything may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Fetches pages from the web.
#[derive(Debug, Clone, Tool)]
#[tool(name = "web_fetch", label = "Fetch page", description = include_str!("web_fetch.md"), arguments = Arguments)]
pub struct WebFetchTool {
    /// Made for the first page: most sessions fetch none, and it takes a while.
    client: OnceLock<Client>,
    rule: AddressRule,
}

/// What the model says.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    /// Characters to leave out.
    #[serde(default)]
    offset: usize,
}

impl WebFetchTool {
    /// Reaches addresses as `rule` says. Uses no proxy and no credentials.
    pub fn new(rule: AddressRule) -> Self {
        Self { client: OnceLock::new(), rule }
    }

    fn client(&self) -> Result<&Client, ToolError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
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

    /// The page at `url`, after redirects, each of which is checked anew. One to another host is not followed: the gate has
    /// judged this host only, so the model has to ask for the other.
    async fn get(&self, url: Url) -> Result<Response, ToolError> {
        let mut url = url;
        for _ in 0..=REDIRECTS_MAX {
            self.check(&url)?;
            let sent = self.client()?.get(url.clone()).send().await;
            let response = sent.map_err(|problem| failed(&url, &problem))?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
            let next = match target.map(|target| url.join(target)) {
                Some(Ok(next)) => next,
                Some(Err(_)) | None => return Ok(response),
            };
            self.check(&next)?;
            // The call was allowed for one host; whether it is for another is not decided here.
            if next.host() != url.host() {
                return Err(ToolError::Failed(format!(
                    "{url} redirects to another host: {next}; fetch that address if you want it"
                )));
            }
            url = next;
        }
        Err(ToolError::Failed(format!("more than {REDIRECTS_MAX} redirects; the last one leads to {url}")))
    }

    fn check(&self, url: &Url) -> Result<(), ToolError> {
        if !["http", "https"].contains(&url.scheme()) {
            return Err(ToolError::InvalidArgs(format!(
                "{url} is no web address; it must begin with https://"
            )));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ToolError::InvalidArgs(
                "the address holds a name or a password; leave it out".into(),
            ));
        }
        let address: Option<IpAddr> = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(_)) => None,
            None => return Err(ToolError::InvalidArgs(format!("{url} names no host"))),
        };
        match address {
            Some(address) if !self.rule.allows(address) => {
                Err(ToolError::Denied(format!("{address} is not on the public internet and is not reached")))
            }
            Some(_) | None => Ok(()),
        }
    }

    async fn fetch(&self, arguments: Arguments) -> Result<ToolResult, ToolError> {
        let url = Url::parse(arguments.url.trim()).map_err(|problem| {
            ToolError::InvalidArgs(format!("{:?} is no address: {problem}", arguments.url))
        })?;
        let response = self.get(url).await?;
        let (status, last) = (response.status(), response.url().clone());
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        if !status.is_success() {
            return Err(ToolError::Failed(format!("{last} answered with status {status}")));
        }
        let (body, is_cut) = read(response).await?;
        let (kind, text) = tokio::task::spawn_blocking(move || as_text(&kind, &body))
            .await
            .map_err(|_| ToolError::Failed(format!("the page at {last} cannot be read")))??;
        let total = text.chars().count();
        let shown: String = text.chars().skip(arguments.offset).take(TEXT_CHARS_MAX).collect();
        let end = arguments.offset + shown.chars().count();
        let mut output = match (shown.is_empty(), total) {
            (false, _) => shown,
            (true, 0) => "(no text)".to_owned(),
            (true, _) => {
                format!("(the page has {total} characters; there is nothing at offset {})", arguments.offset)
            }
        };
        if end < total {
            output.push_str(&format!(
                "\n\n(characters {} to {end} of {total}; go on with offset {end})",
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
            () = context.cancel.cancelled() => Err(ToolError::Cancelled("the page was not fetched".into())),
            () = tokio::time::sleep(TIME_LIMIT) => {
                Err(ToolError::TimedOut(format!("the page did not come within {} s", TIME_LIMIT.as_secs())))
            }
        }
    }
}

/// The body as far as it is read, and whether there is more.
async fn read(mut response: Response) -> Result<(Vec<u8>, bool), ToolError> {
    let mut body = Vec::new();
    let url = response.url().clone();
    while let Some(piece) = response.chunk().await.map_err(|problem| failed(&url, &problem))? {
        let room = BODY_BYTES_MAX - body.len();
        if piece.len() > room {
            body.extend(piece.iter().take(room));
            return Ok((body, true));
        }
        body.extend_from_slice(&piece);
    }
    Ok((body, false))
}

/// The kind of a body without its parameters, and the body as text.
fn as_text(kind: &str, body: &[u8]) -> Result<(String, String), ToolError> {
    let (name, parameters) = kind.split_once(';').unwrap_or((kind, ""));
    let name = name.trim();
    let is_html = matches!(name, "text/html" | "application/xhtml+xml");
    if !is_html && !is_textual(name, body) {
        return Err(ToolError::Failed(format!("the page is {name:?}, not text; it cannot be shown")));
    }
    let text = decode::decode(parameters, body)?;
    if !is_html {
        return Ok((name.to_owned(), text.into_owned()));
    }
    let text = htmd::convert(&clean::clean(&text))
        .map_err(|problem| ToolError::Failed(format!("the page cannot be read: {problem}")))?;
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
        causes.last().cloned().unwrap_or_else(|| "no answer".into())
    ))
}

#[cfg(test)]
mod web_fetch_tests;
