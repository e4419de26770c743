//! `OpenApiAdapter`: makes tools from a document.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use rheon_types::Tool;
use url::Url;

use super::auth::TokenCache;
use super::config::{OpenApiConfig, OperationFilter};
use super::document::{DOCUMENT_BYTES_MAX, Document};
use super::error::OpenApiError;
use super::operation::operations;
use super::tool::{OpenApiTool, Service};

/// The longest name of a tool.
const NAME_CHARS_MAX: usize = 128;

/// The tools of a document.
pub struct OpenApiTools {
    pub tools: Vec<Arc<dyn Tool>>,
    /// Operations that were left out, and why.
    pub warnings: Vec<String>,
}

/// Makes one tool per operation of a document.
pub struct OpenApiAdapter;

impl OpenApiAdapter {
    /// Reads a file: JSON or YAML.
    pub async fn from_file(
        path: impl AsRef<Path>,
        config: OpenApiConfig,
        filter: OperationFilter,
    ) -> Result<OpenApiTools, OpenApiError> {
        let path = path.as_ref().to_owned();
        let read = tokio::task::spawn_blocking(move || {
            let failed = |source| OpenApiError::Read { path: path.clone(), source };
            let file = std::fs::File::open(&path).map_err(failed)?;
            let mut text = String::new();
            let limit = DOCUMENT_BYTES_MAX as u64 + 1;
            file.take(limit).read_to_string(&mut text).map_err(failed)?;
            Self::from_text(&text, None, config, &filter)
        });
        read.await.unwrap_or_else(|error| Err(OpenApiError::Syntax(error.to_string())))
    }

    /// Fetches a document. A relative address of a server in it is relative to `url`.
    pub async fn from_url(
        url: &str,
        config: OpenApiConfig,
        filter: OperationFilter,
    ) -> Result<OpenApiTools, OpenApiError> {
        let failed = |problem: String| OpenApiError::Fetch { url: url.to_owned(), problem };
        let address = crate::mcp::http_address(url).map_err(|error| failed(error.to_string()))?;
        let client = crate::mcp::http_client_for(&address).map_err(|error| failed(error.to_string()))?;
        let request = client.get(address.clone()).timeout(config.timeout);
        let mut response = request.send().await.map_err(|error| failed(crate::mcp::error_causes(&error)))?;
        if !response.status().is_success() {
            return Err(failed(format!("HTTP {}", response.status())));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(error.to_string()))? {
            body.extend_from_slice(&chunk);
            if body.len() > DOCUMENT_BYTES_MAX {
                return Err(OpenApiError::TooLarge(DOCUMENT_BYTES_MAX >> 20));
            }
        }
        let text = String::from_utf8(body).map_err(|error| OpenApiError::Syntax(error.to_string()))?;
        Self::from_text(&text, Some(&address), config, &filter)
    }

    /// Reads a document in memory: JSON or YAML.
    pub fn from_str(
        text: &str,
        config: OpenApiConfig,
        filter: OperationFilter,
    ) -> Result<OpenApiTools, OpenApiError> {
        Self::from_text(text, None, config, &filter)
    }

    fn from_text(
        text: &str,
        origin: Option<&Url>,
        config: OpenApiConfig,
        filter: &OperationFilter,
    ) -> Result<OpenApiTools, OpenApiError> {
        let document = Document::parse(text)?;
        let (operations, warnings) = operations(&document);
        let base = base_url(&document, origin, config.base_url.as_deref())?;
        let client = crate::mcp::http_client_for(&base)
            .map_err(|error| OpenApiError::HttpClient(error.to_string()))?;
        let service = Arc::new(Service {
            document,
            base,
            client,
            headers: headers(&config)?,
            auth: config.auth,
            tokens: TokenCache::default(),
            response_bytes_max: config.max_response_bytes,
            timeout: config.timeout,
        });
        let accepted = operations
            .into_iter()
            .filter(|operation| filter.accepts(&operation.id, &operation.tags, &operation.path));
        let tool = |operation: super::operation::Operation| {
            let id = word(&operation.id);
            let name =
                config.name_prefix.as_ref().map_or_else(|| id.clone(), |prefix| format!("{prefix}__{id}"));
            let call = format!("{} {}", operation.method, crate::mcp::clean_text(&operation.path, 300));
            let description = format!("{}\n{call}", operation.description).trim_start().to_owned();
            let service = Arc::clone(&service);
            Arc::new(OpenApiTool { name, description, operation, service }) as Arc<dyn Tool>
        };
        Ok(OpenApiTools { tools: accepted.map(tool).collect(), warnings })
    }
}

/// The configured address, else the document's first server. Without trailing slashes.
fn base_url(document: &Document, origin: Option<&Url>, given: Option<&str>) -> Result<Url, OpenApiError> {
    let text = given.map(str::to_owned).or_else(|| document.server()).ok_or(OpenApiError::NoServer)?;
    let wrong = |problem: String| OpenApiError::BaseUrl { url: text.clone(), problem };
    let absolute = match (Url::parse(&text), origin) {
        (Ok(url), _) => url,
        (Err(url::ParseError::RelativeUrlWithoutBase), Some(origin)) => {
            origin.join(&text).map_err(|error| wrong(error.to_string()))?
        }
        (Err(url::ParseError::RelativeUrlWithoutBase), None) => return Err(OpenApiError::NoServer),
        (Err(error), _) => return Err(wrong(error.to_string())),
    };
    crate::mcp::http_address(absolute.as_str()).map_err(|error| wrong(error.to_string()))
}

fn headers(config: &OpenApiConfig) -> Result<HeaderMap, OpenApiError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.custom_headers {
        let wrong = || OpenApiError::Header(name.clone());
        let parsed: HeaderName = name.parse().map_err(|_| wrong())?;
        headers.insert(parsed, HeaderValue::from_str(value).map_err(|_| wrong())?);
    }
    Ok(headers)
}

/// A name that services accept.
fn word(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars().take(NAME_CHARS_MAX).map(|c| if fits(c) { c } else { '_' }).collect()
}
