//! Builds a vendor's URLs: fills in variables, applies overrides and checks the result. Pure.

use http::{HeaderMap, HeaderName, HeaderValue};
use url::{Host, Url};

use super::error::VendorError;
use super::spec::{UrlVariable, Vendor};
use crate::env::ProviderEnv;

/// The placeholder for the model in a path, filled in per request.
const MODEL: &str = "model";
/// Headers that the HTTP client controls; a vendor file cannot set them.
const FRAMING: [&str; 6] = ["host", "connection", "content-length", "transfer-encoding", "te", "upgrade"];
/// How deeply variables may be nested in the defaults of variables.
const DEPTH_MAX: usize = 4;

impl Vendor {
    /// The base URL without a trailing slash: from the first environment variable of
    /// [`base_url_env`](Self::base_url_env) that is set, otherwise from the vendor file.
    ///
    /// An override may omit parts that the vendor file has: the scheme, the host, and without a scheme the port. A
    /// trailing version such as `/v1` is not repeated if the path starts with it.
    pub fn base_url(&self, env: &ProviderEnv) -> Result<Url, VendorError> {
        match env.first(self.base_url_env.iter().map(String::as_str)) {
            Some((variable, address)) => self.checked(&self.complete_address(address.trim()), variable),
            None => self.checked(&self.fill(&self.base_url, env)?, "its vendor file"),
        }
    }

    /// The request URL; `{model}` is not filled in.
    pub fn url(&self, env: &ProviderEnv) -> Result<String, VendorError> {
        self.url_of(self.path(), env)
    }

    /// The URL for token counts; `{model}` is not filled in.
    pub fn count_url(&self, env: &ProviderEnv) -> Result<Option<String>, VendorError> {
        self.paths.count.as_deref().map(|path| self.url_of(path, env)).transpose()
    }

    /// A URL that checks a key without cost, or `None` if the vendor has none.
    pub fn check_url(&self, env: &ProviderEnv) -> Result<Option<String>, VendorError> {
        let own = self.paths.check.as_deref().filter(|path| !path.is_empty()).map(str::to_owned);
        own.or_else(|| model_list_path(self.path())).map(|path| self.url_of(&path, env)).transpose()
    }

    fn url_of(&self, path: &str, env: &ProviderEnv) -> Result<String, VendorError> {
        let base = self.base_url(env)?;
        let url = format!("{}{}", base.as_str().trim_end_matches('/'), self.fill(path, env)?);
        match Url::parse(&url.replace("{model}", MODEL)) {
            Ok(_) => Ok(url),
            Err(error) => {
                Err(self.address_error("its vendor file", format!("and its path do not form a URL: {error}")))
            }
        }
    }

    /// The headers of every request, besides those of the wire and the auth scheme. Headers with variables may hold
    /// secrets.
    pub fn headers(&self, env: &ProviderEnv) -> Result<HeaderMap, VendorError> {
        let header = |(name, value): (&String, &String)| {
            let filled = self.fill(value, env)?;
            let pair = (HeaderName::try_from(name), HeaderValue::try_from(filled));
            let refused = || VendorError::Header { vendor: self.id.clone(), header: name.clone() };
            let (Ok(key), Ok(mut content)) = pair else { return Err(refused()) };
            if FRAMING.contains(&key.as_str()) {
                return Err(refused());
            }
            content.set_sensitive(names_in(value).next().is_some());
            Ok((key, content))
        };
        self.headers.iter().map(header).collect()
    }

    /// Variables that the vendor file uses but does not define.
    pub(super) fn undefined_variables(&self) -> Vec<String> {
        let defaults = self.variables.values().filter_map(|variable| variable.default.as_ref());
        let texts = [&self.base_url].into_iter().chain(self.headers.values()).chain(defaults);
        let used = texts.flat_map(|text| names_in(text));
        let paths = [Some(self.path()), self.paths.count.as_deref(), self.paths.check.as_deref()];
        let paths = paths.into_iter().flatten();
        let in_path = paths.flat_map(names_in).filter(|name| *name != MODEL);
        used.chain(in_path).filter(|name| !self.variables.contains_key(*name)).map(str::to_owned).collect()
    }

    /// `template` with all variables except `{model}` filled in.
    fn fill(&self, template: &str, env: &ProviderEnv) -> Result<String, VendorError> {
        self.fill_to(template, env, DEPTH_MAX)
    }

    fn fill_to(&self, template: &str, env: &ProviderEnv, depth: usize) -> Result<String, VendorError> {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, name, after)) = next_name(rest) {
            filled.push_str(before);
            match self.variables.get(name) {
                Some(variable) => filled.push_str(&self.value(variable, env, depth)?),
                None => filled.extend(["{", name, "}"]),
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&self, variable: &UrlVariable, env: &ProviderEnv, depth: usize) -> Result<String, VendorError> {
        let found = env.first(variable.env.iter().map(String::as_str));
        let value = match (found, &variable.default) {
            (Some((name, value)), _) => self.checked_value(name, value.trim().trim_end_matches('/'))?,
            (None, Some(default)) if depth > 0 => {
                self.fill_to(default, env, depth - 1).map_err(|error| with_alternatives(error, variable))?
            }
            (None, Some(_)) => {
                return Err(self.address_error("its vendor file", "has variables that refer to each other"));
            }
            (None, None) => {
                let (vendor, names, help) = (self.id.clone(), variable.env.clone(), variable.help.clone());
                return Err(VendorError::MissingVariable { vendor, names, help });
            }
        };
        Ok(variable.replace.get(&value).cloned().unwrap_or(value))
    }

    /// `value`, if it can be part of a URL without changing its structure.
    fn checked_value(&self, name: &str, value: &str) -> Result<String, VendorError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._~:/%[]+,".contains(c);
        if value.chars().all(fits) {
            return Ok(value.to_owned());
        }
        Err(self.address_error(name, "has characters that are not allowed in a URL"))
    }

    /// `address` completed with parts from the vendor file.
    fn complete_address(&self, address: &str) -> String {
        if address.contains("://") {
            return address.to_owned();
        }
        let (authority, path) = address.split_once('/').unwrap_or((address, ""));
        let is_local = ["localhost", "127.", "[::1]"].iter().any(|host| authority.starts_with(host));
        let scheme = if is_local || self.base_url.starts_with("http://") { "http" } else { "https" };
        let own = Url::parse(&self.base_url).ok();
        let host = match (authority.starts_with(':'), own.as_ref().and_then(Url::host_str)) {
            (true, Some(host)) => format!("{host}{authority}"),
            (true, None) | (false, _) => authority.to_owned(),
        };
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
        let port = own.as_ref().and_then(Url::port).filter(|_| !has_port);
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{scheme}://{host}{port}/{path}")
    }

    fn checked(&self, address: &str, origin: &str) -> Result<Url, VendorError> {
        let refuse = |problem: &str| Err(self.address_error(origin, problem));
        let mut url = match Url::parse(address) {
            Ok(url) => url,
            Err(error) => return refuse(&format!("is not a URL: {error}")),
        };
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("must start with https:// or http://");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse(
                "must not contain a user name or password; set the key in its own environment variable",
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return refuse("must not contain ? or #");
        }
        let loopback = match url.host() {
            // The address servers listen on; clients cannot connect to it.
            Some(Host::Ipv4(ip)) if ip.is_unspecified() => Some("127.0.0.1"),
            Some(Host::Ipv6(ip)) if ip.is_unspecified() => Some("[::1]"),
            Some(_) | None => None,
        };
        if let Some(loopback) = loopback {
            // Cannot fail: the host is an IP address and the scheme supports hosts.
            url.set_host(Some(loopback)).ok();
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let first = self.path().trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
        let twice =
            path.strip_suffix(first).filter(|_| is_version(first)).and_then(|path| path.strip_suffix('/'));
        url.set_path(twice.unwrap_or(&path));
        Ok(url)
    }

    fn address_error(&self, origin: &str, problem: impl Into<String>) -> VendorError {
        VendorError::Address { vendor: self.id.clone(), origin: origin.to_owned(), problem: problem.into() }
    }
}

/// Whether a path segment is a version, for instance `v1` or `v1beta`.
fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// Adds the environment variables of `variable` to the error.
fn with_alternatives(error: VendorError, variable: &UrlVariable) -> VendorError {
    match error {
        VendorError::MissingVariable { vendor, names, help } => {
            let names = variable.env.iter().cloned().chain(names).collect();
            VendorError::MissingVariable { vendor, names, help }
        }
        VendorError::Text(_) | VendorError::Address { .. } | VendorError::Header { .. } => error,
    }
}

/// The first `{name}` in a text, with the text before and after it.
fn next_name(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// All `{names}` in a text.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, after) = next_name(rest)?;
        rest = after;
        Some(name)
    })
}

/// The path of the model list next to the request path. Keeps a query that selects the API version, but not one that
/// selects streaming.
fn model_list_path(path: &str) -> Option<String> {
    let (target, query) = path.split_once('?').unwrap_or((path, ""));
    if let Some((before, _)) = target.split_once("/models/{model}") {
        return Some(format!("{before}/models"));
    }
    let before =
        ["/chat/completions", "/responses", "/messages"].iter().find_map(|end| target.strip_suffix(end))?;
    let mark = if query.is_empty() { "" } else { "?" };
    Some(format!("{before}/models{mark}{query}"))
}
