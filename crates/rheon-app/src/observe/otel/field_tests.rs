//! Both encodings of the same message.

use serde_json::json as value;

use super::Datum::{Choice, Double, Doubles, Fixed, Fixeds, Id, Int, Message, Messages, Text};
use super::{field, json, protobuf};

#[test]
fn a_message_has_one_form_for_each_encoding() {
    let message = vec![
        field(1, "id", Id(vec![0xab, 0x01])),
        field(2, "text", Text("ä".into())),
        field(3, "choice", Choice(2)),
        field(4, "int", Int(300)),
        field(5, "fixed", Fixed(1)),
        field(6, "double", Double(0.5)),
        field(7, "fixeds", Fixeds(vec![1, 2])),
        field(8, "doubles", Doubles(vec![1.5])),
        field(9, "message", Message(vec![field(1, "text", Text("x".into()))])),
        field(16, "messages", Messages(vec![vec![], vec![field(1, "int", Int(u64::from(u32::MAX)))]])),
    ];
    assert_eq!(
        json(&message),
        value!({
            "id": "ab01", "text": "ä", "choice": 2, "int": "300", "fixed": "1", "double": 0.5, "fixeds": ["1", "2"], "doubles": [1.5],
            "message": { "text": "x" }, "messages": [{}, { "int": "4294967295" }],
        })
    );
    // By the rules of protobuf: tag (number * 8 + kind), then the value.
    let expected = [
        "0a 02 ab01",
        "12 02 c3a4",
        "18 02",
        "20 ac02",
        "29 0100000000000000",
        "31 000000000000e03f",
        "3a 10 0100000000000000 0200000000000000",
        "42 08 000000000000f83f",
        "4a 03 0a 01 78",
        "8201 00",
        "8201 06 08 ffffffff0f",
    ];
    let hex: String = protobuf(&message).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, expected.concat().replace(' ', ""));
}
