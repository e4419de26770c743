//! A call as an HTTP request. Pure.

use http::{HeaderName, HeaderValue, Method};
use serde_json::{Map, Value};
use url::Url;

use super::auth::form_text;
use super::operation::{Body, BodyFormat, Operation};
use super::parameter::{Parameter, ParameterPlace, plain};

/// A request that is ready to be sent.
#[derive(Debug)]
pub(super) struct PreparedRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// The content type and the bytes.
    pub(super) body: Option<(String, Vec<u8>)>,
}

/// Headers that requests set by themselves.
const RESERVED: [&str; 4] = ["accept", "content-type", "authorization", "host"];

/// The request of a call. The error says which argument is wrong.
pub(super) fn prepare(
    base: &Url,
    operation: &Operation,
    arguments: &Map<String, Value>,
    boundary: &str,
) -> Result<PreparedRequest, String> {
    let mut path = operation.path.clone();
    let (mut query, mut headers, mut cookies) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in &operation.parameters {
        let Some(value) = arguments.get(&parameter.argument).filter(|value| !value.is_null()) else {
            if parameter.is_required {
                return Err(format!("`{}` is missing", parameter.argument));
            }
            continue;
        };
        match parameter.place {
            ParameterPlace::Path => path = substituted(&path, parameter, value)?,
            ParameterPlace::Query => query.extend(parameter.query(value)),
            ParameterPlace::Header => headers.extend(header(parameter, value)?),
            ParameterPlace::Cookie => {
                let value = percent(&parameter.simple(value));
                cookies.push(format!("{}={value}", parameter.name));
            }
        }
    }
    if !cookies.is_empty() {
        let value = HeaderValue::from_str(&cookies.join("; ")).map_err(|_| "a cookie is not valid")?;
        headers.push((http::header::COOKIE, value));
    }
    let text = format!("{}{path}", base.as_str().trim_end_matches('/'));
    let mut url = Url::parse(&text).map_err(|error| format!("the address is not valid: {error}"))?;
    if url.origin() != base.origin() {
        return Err("the address leads to another server".to_owned());
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    let body = match &operation.body {
        Some(body) => body_of(body, arguments, boundary)?,
        None => None,
    };
    Ok(PreparedRequest { method: operation.method.clone(), url, headers, body })
}

fn substituted(path: &str, parameter: &Parameter, value: &Value) -> Result<String, String> {
    let text = parameter.simple(value);
    // Such a value would change the path itself.
    if text.is_empty() || text == "." || text == ".." {
        return Err(format!("`{}` must not be {text:?}", parameter.argument));
    }
    Ok(path.replace(&format!("{{{}}}", parameter.name), &percent(&text)))
}

fn header(parameter: &Parameter, value: &Value) -> Result<Option<(HeaderName, HeaderValue)>, String> {
    if RESERVED.iter().any(|name| parameter.name.eq_ignore_ascii_case(name)) {
        return Ok(None);
    }
    let wrong = || format!("`{}` is not a valid header", parameter.argument);
    let name: HeaderName = parameter.name.parse().map_err(|_| wrong())?;
    let value = HeaderValue::from_str(&parameter.simple(value)).map_err(|_| wrong())?;
    Ok(Some((name, value)))
}

/// Everything but letters, digits, `-`, `.`, `_` and `~` as `%XX`.
fn percent(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn body_of(
    body: &Body,
    arguments: &Map<String, Value>,
    boundary: &str,
) -> Result<Option<(String, Vec<u8>)>, String> {
    let Some(value) = arguments.get(body.argument) else {
        return if body.is_required { Err(format!("`{}` is missing", body.argument)) } else { Ok(None) };
    };
    if body.format == BodyFormat::Json {
        return Ok(Some(("application/json".to_owned(), value.to_string().into_bytes())));
    }
    let fields = value.as_object().ok_or_else(|| format!("`{}` must be an object", body.argument))?;
    let pairs: Vec<(&str, String)> = fields
        .iter()
        .flat_map(|(name, value)| match value {
            Value::Array(items) => items.iter().map(|item| (name.as_str(), plain(item))).collect(),
            Value::Null => Vec::new(),
            other => vec![(name.as_str(), plain(other))],
        })
        .collect();
    if body.format == BodyFormat::Form {
        let text = form_text(pairs.iter().map(|(name, value)| (*name, value.as_str())));
        return Ok(Some(("application/x-www-form-urlencoded".to_owned(), text.into_bytes())));
    }
    let mut text = String::new();
    for (name, value) in &pairs {
        if value.contains(boundary) {
            return Err(format!("`{}` contains the boundary of its parts", body.argument));
        }
        let name = name.replace(['"', '\r', '\n'], "_");
        text.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        ));
    }
    text.push_str(&format!("--{boundary}--\r\n"));
    Ok(Some((format!("multipart/form-data; boundary={boundary}"), text.into_bytes())))
}
