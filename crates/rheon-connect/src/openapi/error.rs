//! `OpenApiError`: why a document cannot be used.

use std::io;
use std::path::PathBuf;

/// Why a document cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenApiError {
    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot fetch {url}: {problem}")]
    Fetch { url: String, problem: String },
    #[error("the document has more than {0} MiB")]
    TooLarge(usize),
    #[error("the document is neither JSON nor YAML: {0}")]
    Syntax(String),
    #[error("this is a Swagger {0} document; convert it to OpenAPI 3 first")]
    Swagger(String),
    #[error("not an OpenAPI 3 document: {0}")]
    NotOpenApi(String),
    /// Neither the configuration nor the document has an address.
    #[error("the document names no server; set the base URL")]
    NoServer,
    #[error("invalid base URL {url:?}: {problem}")]
    BaseUrl { url: String, problem: String },
    #[error("invalid header {0:?}")]
    Header(String),
    #[error("cannot set up the HTTP client: {0}")]
    HttpClient(String),
}
