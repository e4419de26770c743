//! `Filter`: filters everything an export shows, and keeps the report.

use rheon_text::secrets::{self, SecretStrictness, mark};
use serde_json::Value;

use super::clean::clean;
use super::options::ExportOptions;
use super::report::RedactionReport;

/// Redacts, escapes and shortens texts and values.
#[derive(Debug)]
pub(super) struct Filter<'a> {
    pub(super) report: RedactionReport,
    options: &'a ExportOptions,
    images_bytes: usize,
    /// The number of the current event.
    seq: u64,
}

impl<'a> Filter<'a> {
    pub(super) fn new(options: &'a ExportOptions) -> Self {
        Self { report: RedactionReport::default(), options, images_bytes: 0, seq: 0 }
    }

    /// Sets the number of the current event.
    pub(super) fn at(&mut self, seq: u64) {
        self.seq = seq;
    }

    /// Redacts, escapes and shortens a text.
    pub(super) fn text(&mut self, text: &str) -> String {
        let (text, hidden) = clean(text);
        self.report.hidden_characters += hidden;
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for secret in secrets::find(&text, SecretStrictness::Balanced) {
            out.push_str(text.get(from..secret.range.start).unwrap_or_default());
            self.redact(&mut out, secret.kind);
            from = secret.range.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        self.cut(out)
    }

    /// Filters every text in a value, including keys.
    pub(super) fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => {
                if let Some(image) = self.image_value(fields) {
                    return image;
                }
                let field = |(key, value): (&String, &Value)| {
                    let value = match value {
                        Value::String(text) if secrets::is_secret_value(key, text) => {
                            let mut out = String::new();
                            self.redact(&mut out, "named secret");
                            Value::String(out)
                        }
                        other => self.value(other),
                    };
                    (self.text(key), value)
                };
                Value::Object(fields.iter().map(field).collect())
            }
        }
    }

    /// The data URI of an image, if it may be shown.
    pub(super) fn image(&mut self, mime_type: &str, data: &str) -> Option<String> {
        let bytes = self.images_bytes.saturating_add(data.len());
        let fits = data.len() <= self.options.image_bytes_max && bytes <= self.options.images_bytes_max;
        let uri = if fits { data_uri(mime_type, data) } else { None };
        match &uri {
            Some(_) => self.images_bytes = bytes,
            None => self.report.images_left_out += 1,
        }
        uri
    }

    /// An image in JSON: unchanged if it may be shown, otherwise only mentioned.
    fn image_value(&mut self, fields: &serde_json::Map<String, Value>) -> Option<Value> {
        let field = |name: &str| fields.get(name).and_then(Value::as_str);
        let (Some("image"), Some(data), Some(mime_type)) = (field("type"), field("data"), field("mime_type"))
        else {
            return None;
        };
        if fields.len() != 3 {
            return None;
        }
        if self.image(mime_type, data).is_some() {
            return Some(Value::Object(fields.clone()));
        }
        let named = format!("[image of {} bytes omitted]", data.len());
        Some(serde_json::json!({ "type": "image", "data": named, "mime_type": self.text(mime_type) }))
    }

    fn redact(&mut self, out: &mut String, kind: &'static str) {
        self.report.add_secret(self.seq, kind);
        out.push_str(&mark(kind));
    }

    fn cut(&mut self, mut text: String) -> String {
        let Some((end, _)) = text.char_indices().nth(self.options.text_chars_max) else { return text };
        let left_out = text.get(end..).unwrap_or_default().chars().count();
        text.truncate(end);
        self.report.characters_left_out += left_out as u64;
        text.push_str(&format!("\n[{left_out} characters omitted]"));
        text
    }
}

/// The image types that browsers display without running them.
const KINDS: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

/// The data URI of an image, if its type is safe and its data is pure base64.
fn data_uri(mime_type: &str, data: &str) -> Option<String> {
    let kind = KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(mime_type))?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (!data.is_empty() && data.bytes().all(is_base64)).then(|| format!("data:{kind};base64,{data}"))
}
