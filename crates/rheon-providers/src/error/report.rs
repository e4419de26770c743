//! `Report`: a service's error report, extracted from the many shapes of error bodies.

use http::HeaderMap;
use rheon_text::TextContext;
use serde_json::Value;

/// The maximum number of codes to consider.
const CODES_MAX: usize = 8;
/// The maximum length of a code.
const CODE_BYTES_MAX: usize = 200;
/// How deeply errors of upstream services may be nested.
const QUOTES_MAX: usize = 3;

/// A service's error report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The HTTP status, unless it claims success.
    pub(super) status: Option<u16>,
    /// The service's error codes, most specific first.
    pub(super) codes: Vec<String>,
    /// The message, on one line.
    pub(super) message: String,
    /// A delay in the body, as the service writes it.
    pub(super) retry_delay: Option<String>,
    /// The reset time that a gateway quotes in the body from upstream headers.
    pub(super) reset: Option<String>,
}

impl Report {
    /// Reads the error from headers and body.
    pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Self {
        let mut report = Self::default();
        if let Some(kind) = headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok()) {
            report.add_code(kind.split(':').next().unwrap_or_default());
        }
        match serde_json::from_slice::<Value>(body) {
            Ok(json) => report.read_json(&json, 0),
            Err(_) => report.read_text(&String::from_utf8_lossy(body)),
        }
        report.message = one_line(&report.message);
        report
    }

    /// Reads the error from an event inside a stream. The message may itself be JSON.
    pub(super) fn in_stream(code: &str, message: &str) -> Self {
        let mut report = Self::default();
        report.add_code(code);
        report.read_quoted(message, 0);
        report.message = one_line(&report.message);
        report
    }

    /// The HTTP status among the codes, as some gateways send it.
    pub(super) fn status_code(&self) -> Option<u16> {
        self.codes.iter().filter_map(|code| code.parse().ok()).find(|status| (400..600).contains(status))
    }

    /// Whether a code or the message contains this lower-case word.
    pub(super) fn mentions(&self, word: &str) -> bool {
        let has = |text: &String| text.to_lowercase().contains(word);
        self.codes.iter().any(has) || has(&self.message)
    }

    fn add_code(&mut self, code: &str) {
        let code = code.trim();
        let fits = !code.is_empty() && code.len() <= CODE_BYTES_MAX && self.codes.len() < CODES_MAX;
        if fits && !self.codes.iter().any(|known| known == code) {
            self.codes.push(code.to_owned());
        }
    }

    fn read_json(&mut self, json: &Value, depth: usize) {
        match json {
            Value::Array(items) => {
                if let Some(first) = items.first() {
                    self.read_json(first, depth);
                }
            }
            Value::String(text) => self.read_quoted(text, depth),
            Value::Object(_) => self.read_object(json, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.set_message(&json.to_string()),
        }
    }

    fn read_object(&mut self, json: &Value, depth: usize) {
        if let Some(base) = json.get("base_resp") {
            // Prefixed, because other services use the same numbers with other meanings.
            if let Some(code) = base.get("status_code") {
                self.add_code(&format!("base_resp {code}"));
            }
            self.read_message(base, "status_msg", depth);
        }
        match json.get("error") {
            Some(Value::Null) | None => {}
            Some(Value::String(text)) => {
                self.add_codes(json, &["code", "error_type", "type"]);
                // A short word next to a message is a code.
                match json.get("message").or_else(|| json.get("error_description")) {
                    Some(Value::String(message)) if !message.is_empty() => {
                        self.add_code(text);
                        self.set_message(message);
                    }
                    Some(_) | None => self.read_quoted(text, depth),
                }
                return;
            }
            Some(error) => {
                self.read_json(error, depth);
                self.add_codes(json, &["code"]);
                return;
            }
        }
        self.add_codes(json, &["code", "type", "status", "__type", "error_type", "title"]);
        self.read_details(json);
        for field in ["message", "Message", "detail", "errors", "msg", "error_msg", "reason"] {
            self.read_message(json, field, depth);
        }
        if let Some(raw) = json.pointer("/metadata/raw") {
            self.read_upstream(raw, depth);
        }
        if let Some(Value::String(reset)) = json.pointer("/metadata/headers/X-RateLimit-Reset") {
            self.reset = Some(reset.clone());
        }
        if let Some(inner) = json.get("innererror") {
            self.add_codes(inner, &["code"]);
        }
    }

    fn read_message(&mut self, json: &Value, field: &str, depth: usize) {
        let Some(value) = json.get(field).filter(|_| self.message.is_empty() && depth < QUOTES_MAX) else {
            return;
        };
        match value {
            // FastAPI lists the problems, each with its location.
            Value::Array(items) if field == "detail" => {
                let problems: Vec<String> = items.iter().take(5).map(problem).collect();
                self.set_message(&problems.join("; "));
            }
            Value::Array(_) | Value::Object(_) | Value::String(_) => self.read_json(value, depth + 1),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A gateway quotes the upstream service.
    fn read_upstream(&mut self, raw: &Value, depth: usize) {
        if depth >= QUOTES_MAX {
            return;
        }
        let mut upstream = Self::default();
        upstream.read_json(raw, depth + 1);
        upstream.codes.iter().for_each(|code| self.add_code(code));
        if !upstream.message.is_empty() {
            self.message = format!("{}: {}", self.message, upstream.message);
        }
        self.retry_delay = self.retry_delay.take().or(upstream.retry_delay);
    }

    fn read_details(&mut self, json: &Value) {
        let Some(Value::Array(details)) = json.get("details") else { return };
        for detail in details.iter().take(CODES_MAX) {
            if let Some(Value::String(delay)) = detail.get("retryDelay") {
                self.retry_delay = Some(delay.clone());
            }
            self.add_codes(detail, &["reason"]);
            let violations = detail.get("violations").and_then(Value::as_array);
            let quotas =
                violations.into_iter().flatten().filter_map(|violation| violation.get("quotaId")?.as_str());
            if quotas.into_iter().any(|quota| quota.contains("PerDay")) {
                self.add_code("quota_of_the_day");
            }
        }
    }

    fn add_codes(&mut self, json: &Value, fields: &[&str]) {
        for field in fields {
            match json.get(field) {
                Some(Value::String(code)) if code != "error" => self.add_code(code),
                Some(Value::Number(code)) => self.add_code(&code.to_string()),
                Some(_) | None => {}
            }
        }
    }

    /// Text that may itself be JSON.
    fn read_quoted(&mut self, text: &str, depth: usize) {
        let may_be_json = text.trim_start().starts_with('{') && depth < QUOTES_MAX;
        let json = may_be_json.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        if let Some(json) = json {
            self.read_json(&json, depth + 1);
        }
        self.set_message(text);
    }

    /// For HTML and XML, extracts the title, or code and message.
    fn read_text(&mut self, text: &str) {
        let trimmed = text.trim();
        if !trimmed.starts_with('<') {
            return self.set_message(trimmed);
        }
        if let Some(code) = element(trimmed, "code") {
            self.add_code(code);
        }
        match element(trimmed, "message").or_else(|| element(trimmed, "title")) {
            Some(format_message) => self.set_message(format_message),
            None => self.set_message("an HTML or XML response without a title"),
        }
    }

    fn set_message(&mut self, text: &str) {
        if self.message.is_empty() {
            text.trim().clone_into(&mut self.message);
        }
    }
}

/// Whether a JSON body with a success status is an error.
pub(crate) fn is_error_body(json: &Value) -> bool {
    let json = match json {
        Value::Array(items) => items.first().unwrap_or(json),
        Value::Object(_) | Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => json,
    };
    let says = |field: &str, value: &str| json.get(field).and_then(Value::as_str) == Some(value);
    let refused =
        json.pointer("/base_resp/status_code").and_then(Value::as_i64).is_some_and(|code| code != 0);
    let has_content =
        ["choices", "candidates", "content", "output"].iter().any(|field| json.get(field).is_some());
    let has_message = ["detail", "message", "errors"].iter().any(|field| json.get(field).is_some());
    json.get("error").is_some_and(|error| !is_blank(error))
        || says("type", "error")
        || says("object", "error")
        || refused
        || (has_message && !has_content)
}

/// Whether the value of an `error` field says that there is none.
fn is_blank(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Number(code) => code.as_u64() == Some(0),
        Value::Bool(true) => false,
    }
}

fn problem(item: &Value) -> String {
    let detail = item.get("msg").and_then(Value::as_str);
    let Some(detail) = detail else { return item.as_str().map_or_else(|| item.to_string(), str::to_owned) };
    let location: Vec<String> = match item.get("loc") {
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned)).collect()
        }
        Some(_) | None => Vec::new(),
    };
    if location.is_empty() { detail.to_owned() } else { format!("{}: {detail}", location.join(".")) }
}

/// The text of the first element `name`, ignoring case.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let lower = text.to_ascii_lowercase();
    let open = lower.match_indices(&format!("<{name}")).find_map(|(at, tag)| {
        let after = at + tag.len();
        lower.get(after..)?.starts_with(['>', ' ']).then_some(after)
    })?;
    let start = open + lower.get(open..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</")?;
    text.get(start..end).map(str::trim).filter(|format_message| !format_message.is_empty())
}

/// The text on one line, without characters that are unsafe to display.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(4_096));
    for word in text.split(|letter: char| letter.is_whitespace() || TextContext::Title.forbids(letter)) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
