//! `Field`: an OTLP message as a tree. A field has a number for protobuf and a name for JSON, so that each
//! message is defined once for both encodings.

use serde_json::{Map, Value};

/// One field of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) content: Datum,
}

/// The content of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Datum {
    /// An id: hexadecimal in JSON, as OTLP requires.
    Id(Vec<u8>),
    Text(String),
    Truth(bool),
    /// An enumeration: a plain number in JSON.
    Choice(u32),
    /// A non-negative `int64`.
    Int(u64),
    /// `fixed64`.
    Fixed(u64),
    Double(f64),
    Fixeds(Vec<u64>),
    Doubles(Vec<f64>),
    Message(Vec<Field>),
    Messages(Vec<Vec<Field>>),
}

/// A field.
pub(super) fn field(number: u32, name: &'static str, content: Datum) -> Field {
    Field { number, name, content }
}

/// A message as JSON, with 64-bit numbers as strings.
pub(super) fn json(message: &[Field]) -> Value {
    let entries = message.iter().map(|field| (field.name.to_owned(), json_content(&field.content)));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn json_content(content: &Datum) -> Value {
    match content {
        Datum::Id(bytes) => Value::String(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        Datum::Text(text) => Value::String(text.clone()),
        Datum::Truth(truth) => (*truth).into(),
        Datum::Choice(number) => (*number).into(),
        Datum::Int(number) | Datum::Fixed(number) => Value::String(number.to_string()),
        Datum::Double(number) => (*number).into(),
        Datum::Fixeds(numbers) => numbers.iter().map(u64::to_string).collect(),
        Datum::Doubles(numbers) => numbers.iter().copied().collect(),
        Datum::Message(message) => json(message),
        Datum::Messages(messages) => messages.iter().map(|message| json(message)).collect(),
    }
}

/// The wire types of protobuf.
const VARINT: u32 = 0;
const EIGHT_BYTES: u32 = 1;
const LENGTH: u32 = 2;

/// A message as protobuf.
pub(super) fn protobuf(message: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in message {
        write(&mut bytes, field);
    }
    bytes
}

fn write(bytes: &mut Vec<u8>, field: &Field) {
    match &field.content {
        Datum::Id(id) => write_bytes(bytes, field.number, id),
        Datum::Text(text) => write_bytes(bytes, field.number, text.as_bytes()),
        Datum::Truth(truth) => write_varint(bytes, field.number, (*truth).into()),
        Datum::Choice(number) => write_varint(bytes, field.number, (*number).into()),
        Datum::Int(number) => write_varint(bytes, field.number, *number),
        Datum::Fixed(number) => write_eight(bytes, field.number, number.to_le_bytes()),
        Datum::Double(number) => write_eight(bytes, field.number, number.to_le_bytes()),
        Datum::Fixeds(numbers) => {
            let packed: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            write_bytes(bytes, field.number, &packed);
        }
        Datum::Doubles(numbers) => {
            let packed: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            write_bytes(bytes, field.number, &packed);
        }
        Datum::Message(message) => write_bytes(bytes, field.number, &protobuf(message)),
        Datum::Messages(messages) => {
            for message in messages {
                write_bytes(bytes, field.number, &protobuf(message));
            }
        }
    }
}

fn write_varint(bytes: &mut Vec<u8>, number: u32, value: u64) {
    varint(bytes, tag(number, VARINT));
    varint(bytes, value);
}

fn write_eight(bytes: &mut Vec<u8>, number: u32, value: [u8; 8]) {
    varint(bytes, tag(number, EIGHT_BYTES));
    bytes.extend_from_slice(&value);
}

fn write_bytes(bytes: &mut Vec<u8>, number: u32, value: &[u8]) {
    varint(bytes, tag(number, LENGTH));
    varint(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

fn tag(number: u32, kind: u32) -> u64 {
    u64::from(number << 3 | kind)
}

/// Seven bits per byte, lowest first; the eighth bit means that more follow.
fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
#[path = "field_tests.rs"]
mod tests;
