//! `Incoming`: a request to validate.

use http::HeaderMap;
use serde_json::Value;

use super::issued::IssuedBlocks;
use super::rules::RequestRules;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'a> {
    /// The path; names in it are percent-decoded.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Value,
    pub(crate) rules: RequestRules,
    /// The blocks that the server has sent so far.
    pub(crate) issued: &'a IssuedBlocks,
}
