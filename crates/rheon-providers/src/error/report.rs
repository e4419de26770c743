//! `Report`: what a service says of a failure, taken out of the shapes in which services say it.

use http::HeaderMap;
use rheon_text::TextContext;
use serde_json::Value;

/// The most codes that are looked at.
const CODES_MAX: usize = 8;
/// The most bytes of one code.
const CODE_BYTES_MAX: usize = 200;
/// How deep an error may quote the error of a service behind it.
const QUOTES_MAX: usize = 3;

/// What a service says of a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The HTTP status, unless it claims success.
    pub(super) status: Option<u16>,
    /// The service's names for it, the most telling first.
    pub(super) codes: Vec<String>,
    /// Its words, on one line.
    pub(super) message: String,
    /// A delay in the body, as the service writes it.
    pub(super) retry_delay: Option<String>,
    /// When a limit is lifted, as the headers say that a gateway quotes in the body.
    pub(super) reset: Option<String>,
}

impl Report {
    /// What headers and body say.
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

    /// What an event inside a stream says. The message may itself be the JSON of an error.
    pub(super) fn in_stream(code: &str, message: &str) -> Self {
        let mut report = Self::default();
        report.add_code(code);
        report.read_quoted(message, 0);
        report.message = one_line(&report.message);
        report
    }

    /// The status that stands among the codes, as some gateways have it.
    pub(super) fn status_code(&self) -> Option<u16> {
        self.codes.iter().filter_map(|code| code.parse().ok()).find(|status| (400..600).contains(status))
    }

    /// Whether a code or the message has this word, given in lower case.
    pub(super) fn speaks_of(&self, word: &str) -> bool {
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
            Value::Null | Value::Bool(_) | Value::Number(_) => self.say(&json.to_string()),
        }
    }

    fn read_object(&mut self, json: &Value, depth: usize) {
        if let Some(base) = json.get("base_resp") {
            // Marked as MiniMax's own: other services have other meanings for the same numbers.
            if let Some(code) = base.get("status_code") {
                self.add_code(&format!("base_resp {code}"));
            }
            self.say_field(base, "status_msg", depth);
        }
        match json.get("error") {
            Some(Value::Null) | None => {}
            Some(Value::String(text)) => {
                self.add_codes(json, &["code", "error_type", "type"]);
                // A short word beside a message is a code.
                match json.get("message").or_else(|| json.get("error_description")) {
                    Some(Value::String(message)) if !message.is_empty() => {
                        self.add_code(text);
                        self.say(message);
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
            self.say_field(json, field, depth);
        }
        if let Some(raw) = json.pointer("/metadata/raw") {
            self.read_behind(raw, depth);
        }
        if let Some(Value::String(reset)) = json.pointer("/metadata/headers/X-RateLimit-Reset") {
            self.reset = Some(reset.clone());
        }
        if let Some(inner) = json.get("innererror") {
            self.add_codes(inner, &["code"]);
        }
    }

    fn say_field(&mut self, json: &Value, field: &str, depth: usize) {
        let Some(value) = json.get(field).filter(|_| self.message.is_empty() && depth < QUOTES_MAX) else {
            return;
        };
        match value {
            // FastAPI lists what is wrong, each with its place.
            Value::Array(items) if field == "detail" => {
                let problems: Vec<String> = items.iter().take(5).map(problem).collect();
                self.say(&problems.join("; "));
            }
            Value::Array(_) | Value::Object(_) | Value::String(_) => self.read_json(value, depth + 1),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A gateway quotes the service behind it.
    fn read_behind(&mut self, raw: &Value, depth: usize) {
        if depth >= QUOTES_MAX {
            return;
        }
        let mut behind = Self::default();
        behind.read_json(raw, depth + 1);
        behind.codes.iter().for_each(|code| self.add_code(code));
        if !behind.message.is_empty() {
            self.message = format!("{}: {}", self.message, behind.message);
        }
        self.retry_delay = self.retry_delay.take().or(behind.retry_delay);
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

    /// Text that may be JSON itself.
    fn read_quoted(&mut self, text: &str, depth: usize) {
        let may_be_json = text.trim_start().starts_with('{') && depth < QUOTES_MAX;
        let json = may_be_json.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        if let Some(json) = json {
            self.read_json(&json, depth + 1);
        }
        self.say(text);
    }

    /// HTML and XML say little in many words: the title, or code and message.
    fn read_text(&mut self, text: &str) {
        let trimmed = text.trim();
        if !trimmed.starts_with('<') {
            return self.say(trimmed);
        }
        if let Some(code) = element(trimmed, "code") {
            self.add_code(code);
        }
        match element(trimmed, "message").or_else(|| element(trimmed, "title")) {
            Some(words) => self.say(words),
            None => self.say("an answer in HTML or XML without a title"),
        }
    }

    fn say(&mut self, text: &str) {
        if self.message.is_empty() {
            text.trim().clone_into(&mut self.message);
        }
    }
}

/// Whether JSON that came with a status of success says that it is an error.
pub(crate) fn is_error_body(json: &Value) -> bool {
    let json = match json {
        Value::Array(items) => items.first().unwrap_or(json),
        Value::Object(_) | Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => json,
    };
    let says = |field: &str, value: &str| json.get(field).and_then(Value::as_str) == Some(value);
    let refused =
        json.pointer("/base_resp/status_code").and_then(Value::as_i64).is_some_and(|code| code != 0);
    let answers =
        ["choices", "candidates", "content", "output"].iter().any(|field| json.get(field).is_some());
    let complains = ["detail", "message", "errors"].iter().any(|field| json.get(field).is_some());
    json.get("error").is_some_and(|error| !error.is_null())
        || says("type", "error")
        || says("object", "error")
        || refused
        || (complains && !answers)
}

fn problem(item: &Value) -> String {
    let said = item.get("msg").and_then(Value::as_str);
    let Some(said) = said else { return item.as_str().map_or_else(|| item.to_string(), str::to_owned) };
    let place: Vec<String> = match item.get("loc") {
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned)).collect()
        }
        Some(_) | None => Vec::new(),
    };
    if place.is_empty() { said.to_owned() } else { format!("{}: {said}", place.join(".")) }
}

/// The text of the first element `name`, whatever its case.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let lower = text.to_ascii_lowercase();
    let open = lower.match_indices(&format!("<{name}")).find_map(|(at, tag)| {
        let after = at + tag.len();
        lower.get(after..)?.starts_with(['>', ' ']).then_some(after)
    })?;
    let start = open + lower.get(open..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</")?;
    text.get(start..end).map(str::trim).filter(|words| !words.is_empty())
}

/// Words on one line, without characters that are unsafe to show.
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
