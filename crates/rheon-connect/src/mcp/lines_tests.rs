//! Lines of a server, however long and however cut.

use rmcp::model::RequestId;

use super::{Line, LineReader};

/// Every line, with what is known about those that are too long.
async fn lines(text: &[u8], bytes_max: usize) -> Vec<String> {
    let mut reader = LineReader::new(text, bytes_max);
    let mut found = Vec::new();
    while let Some(line) = reader.next().await.unwrap() {
        found.push(match line {
            Line::Whole(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Line::TooLong(long) => format!("too long, answers {:?}", long.answers()),
        });
    }
    found
}

#[tokio::test]
async fn lines_end_at_line_breaks_and_the_rest_is_no_message() {
    assert_eq!(lines(b"one\r\ntwo\n\nthree", 5).await, ["one", "two", ""]);
    assert_eq!(lines(b"12345\n123456\n", 5).await, ["12345", "too long, answers None"]);
}

#[tokio::test]
async fn an_endless_line_costs_no_memory_and_names_its_request() {
    let body = "x".repeat(3 << 20);
    for text in [
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"{body}\"}}\nnext\n"),
        format!("{{\"jsonrpc\": \"2.0\", \"id\": 7, \"result\":\"{body}\"}}\nnext\n"),
        format!("{{\"id\":7,\"jsonrpc\":\"2.0\",\"result\":\"{body}\"}}\nnext\n"),
        format!("{{\"result\":\"{body}\",\"jsonrpc\":\"2.0\",\"id\":7}}\nnext\n"),
        format!("{{\"result\":\"{body}\",\"id\":7,\"jsonrpc\":\"2.0\"}}\nnext\n"),
    ] {
        let expected = format!("too long, answers {:?}", Some(RequestId::Number(7)));
        assert_eq!(lines(text.as_bytes(), 1 << 20).await, [expected.as_str(), "next"]);
    }
    let odd = format!("{body}\"id\":\"7\"\n\u{e9}{body}\n");
    assert_eq!(lines(odd.as_bytes(), 10).await, ["too long, answers None", "too long, answers None"]);
    let endless = tokio::io::AsyncReadExt::take(tokio::io::repeat(b'x'), 64 << 20);
    let mut reader = LineReader::new(endless, 1 << 20);
    assert_eq!(reader.next().await.unwrap(), None);
    assert!(reader.buffer.capacity() < 4 << 20);
}
