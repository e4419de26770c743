//! `Filter`: everything that an export shows goes through it, and it keeps the report.

use rheon_text::secrets::{self, SecretStrictness, mark};
use serde_json::Value;

use super::clean::clean;
use super::options::ExportOptions;
use super::report::RedactionReport;

/// Makes texts and values fit to be shown.
#[derive(Debug)]
pub(super) struct Filter<'a> {
    pub(super) report: RedactionReport,
    options: &'a ExportOptions,
    images_bytes: usize,
    /// The number of the event that is being shown.
    seq: u64,
}

impl<'a> Filter<'a> {
    pub(super) fn new(options: &'a ExportOptions) -> Self {
        Self { report: RedactionReport::default(), options, images_bytes: 0, seq: 0 }
    }

    /// What comes next is of the event with this number.
    pub(super) fn at(&mut self, seq: u64) {
        self.seq = seq;
    }

    /// The text without secrets, without characters that are not shown, and not too long.
    pub(super) fn text(&mut self, text: &str) -> String {
        let (text, hidden) = clean(text);
        self.report.hidden_characters += hidden;
        let mut shown = String::with_capacity(text.len());
        let mut from = 0;
        for found in secrets::find(&text, SecretStrictness::Balanced) {
            shown.push_str(text.get(from..found.range.start).unwrap_or_default());
            self.redact(&mut shown, found.kind);
            from = found.range.end;
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        self.cut(shown)
    }

    /// The value with every text in it, keys included, made fit to be shown.
    pub(super) fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => {
                if let Some(picture) = self.picture_value(fields) {
                    return picture;
                }
                let field = |(key, value): (&String, &Value)| {
                    let value = match value {
                        Value::String(text) if secrets::is_secret_value(key, text) => {
                            let mut shown = String::new();
                            self.redact(&mut shown, "named secret");
                            Value::String(shown)
                        }
                        other => self.value(other),
                    };
                    (self.text(key), value)
                };
                Value::Object(fields.iter().map(field).collect())
            }
        }
    }

    /// The address of a picture as data, if it may be shown.
    pub(super) fn picture(&mut self, mime_type: &str, data: &str) -> Option<String> {
        let bytes = self.images_bytes.saturating_add(data.len());
        let fits = data.len() <= self.options.image_bytes_max && bytes <= self.options.images_bytes_max;
        let uri = if fits { data_uri(mime_type, data) } else { None };
        match &uri {
            Some(_) => self.images_bytes = bytes,
            None => self.report.images_left_out += 1,
        }
        uri
    }

    /// A picture in JSON: kept whole if it may be shown, as it is no text; otherwise named.
    fn picture_value(&mut self, fields: &serde_json::Map<String, Value>) -> Option<Value> {
        let field = |name: &str| fields.get(name).and_then(Value::as_str);
        let (Some("image"), Some(data), Some(mime_type)) = (field("type"), field("data"), field("mime_type"))
        else {
            return None;
        };
        if fields.len() != 3 {
            return None;
        }
        if self.picture(mime_type, data).is_some() {
            return Some(Value::Object(fields.clone()));
        }
        let named = format!("[picture of {} bytes left out]", data.len());
        Some(serde_json::json!({ "type": "image", "data": named, "mime_type": self.text(mime_type) }))
    }

    fn redact(&mut self, shown: &mut String, kind: &'static str) {
        self.report.add_secret(self.seq, kind);
        shown.push_str(&mark(kind));
    }

    fn cut(&mut self, mut text: String) -> String {
        let Some((end, _)) = text.char_indices().nth(self.options.text_chars_max) else { return text };
        let left_out = text.get(end..).unwrap_or_default().chars().count();
        text.truncate(end);
        self.report.characters_left_out += left_out as u64;
        text.push_str(&format!("\n[{left_out} characters left out]"));
        text
    }
}

/// The kinds that a browser shows and does not run.
const KINDS: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

/// The address of a picture as data, if its kind is safe and it is base64 and nothing else.
fn data_uri(mime_type: &str, data: &str) -> Option<String> {
    let kind = KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(mime_type))?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (!data.is_empty() && data.bytes().all(is_base64)).then(|| format!("data:{kind};base64,{data}"))
}
