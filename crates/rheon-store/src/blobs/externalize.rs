//! Moves long strings of an event to blobs, and back.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::store::{BlobId, Blobs};

/// Smaller events are stored unchanged.
const EVENT_BYTES_MAX: usize = 32 * 1024;
/// Smaller strings are stored in place.
const STRING_BYTES_MAX: usize = 8 * 1024;

/// The keys of the object that replaces a string: its blob and its length. Objects that already have such a key are
/// wrapped.
const BLOB: &str = "$blob";
const BYTES: &str = "bytes";
const LITERAL: &str = "$literal";

/// Moves the long strings of an event to blobs. Returns the event and the number of moved strings. Strings that
/// exceed the size limit of the blobs stay in place.
pub(crate) fn externalize<'a>(
    json: &'a RawValue,
    blobs: &Blobs,
) -> std::io::Result<(Cow<'a, RawValue>, u32)> {
    if json.get().len() <= EVENT_BYTES_MAX {
        return Ok((Cow::Borrowed(json), 0));
    }
    let mut value: Value = serde_json::from_str(json.get())?;
    let mut count = 0;
    out(&mut value, blobs, &mut count)?;
    if count == 0 {
        return Ok((Cow::Borrowed(json), 0));
    }
    Ok((Cow::Owned(serde_json::value::to_raw_value(&value)?), count))
}

/// Restores the strings of an event. A note replaces a string whose blob is missing.
pub(crate) fn internalize(json: &str, blobs: &Blobs) -> serde_json::Result<Value> {
    let mut value: Value = serde_json::from_str(json)?;
    back(&mut value, blobs);
    Ok(value)
}

/// The note for a text whose blob is missing.
pub(crate) fn lost(bytes: u64) -> String {
    format!("[missing: a text of {bytes} bytes]")
}

/// The blobs an event refers to, with their lengths.
pub(crate) fn used(json: &str) -> Vec<(BlobId, u64)> {
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(json) {
        collect(&value, &mut found);
    }
    found
}

fn out(value: &mut Value, blobs: &Blobs, count: &mut u32) -> std::io::Result<()> {
    match value {
        Value::String(text) if text.len() > STRING_BYTES_MAX => {
            if let Some(id) = blobs.put(text.as_bytes())? {
                *count += 1;
                let mut reference = Map::new();
                reference.insert(BLOB.into(), id.to_string().into());
                reference.insert(BYTES.into(), text.len().into());
                *value = Value::Object(reference);
            }
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| out(item, blobs, count))?,
        Value::Object(fields) => {
            fields.values_mut().try_for_each(|field| out(field, blobs, count))?;
            if fields.contains_key(BLOB) || fields.contains_key(LITERAL) {
                let own = std::mem::take(fields);
                fields.insert(LITERAL.into(), Value::Object(own));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

fn back(value: &mut Value, blobs: &Blobs) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| back(item, blobs)),
        Value::Object(fields) => {
            if let Some(Value::Object(own)) = fields.get_mut(LITERAL) {
                let mut own = std::mem::take(own);
                own.values_mut().for_each(|field| back(field, blobs));
                *fields = own;
            } else if let Some(id) = blob(fields) {
                let text = blobs.get(id).ok().and_then(|content| String::from_utf8(content).ok());
                let bytes = length(fields);
                *value = Value::String(text.unwrap_or_else(|| lost(bytes)));
            } else {
                fields.values_mut().for_each(|field| back(field, blobs));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn collect(value: &Value, found: &mut Vec<(BlobId, u64)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => match (fields.get(LITERAL), blob(fields)) {
            (Some(Value::Object(own)), _) => own.values().for_each(|field| collect(field, found)),
            (_, Some(id)) => found.push((id, length(fields))),
            (_, None) => fields.values().for_each(|field| collect(field, found)),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The blob an object stands for.
fn blob(fields: &Map<String, Value>) -> Option<BlobId> {
    BlobId::parse(fields.get(BLOB)?.as_str()?)
}

/// The length of the string an object stands for.
fn length(fields: &Map<String, Value>) -> u64 {
    fields.get(BYTES).and_then(Value::as_u64).unwrap_or_default()
}
