//! `Incoming`: a request as validation sees it.

use http::HeaderMap;
use serde_json::Value;

use super::issued::Issued;
use super::rules::RequestRules;

/// A request as validation sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'a> {
    /// Its path, percent-decoded where names stand in it.
    pub(crate) path: &'a str,
    /// Its query.
    pub(crate) query: &'a str,
    /// Its headers.
    pub(crate) headers: &'a HeaderMap,
    /// Its body.
    pub(crate) body: &'a Value,
    /// The rules it is held to.
    pub(crate) rules: RequestRules,
    /// What the server has said so far.
    pub(crate) issued: &'a Issued,
}
