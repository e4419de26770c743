//! Lines in pieces, at the limit and beyond it.

use futures::FutureExt as _;
use tokio::io::AsyncWriteExt as _;

use super::{BUFFER_BYTES_MAX, HEAD_BYTES, Line, Lines};

async fn all(text: &[u8], bytes_max: usize) -> Vec<Result<String, String>> {
    let mut lines = Lines::new(text, bytes_max);
    let mut all = Vec::new();
    while let Some(line) = lines.next().await.unwrap() {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        all.push(match line {
            Line::Whole(line) => Ok(text(line)),
            Line::TooLong(head) => Err(text(head)),
        });
    }
    all
}

#[tokio::test]
async fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let ok = |text: &str| Ok(text.to_owned());
    assert_eq!(
        all(b"abc\n\nabcd\nabcde\nx\nno end", 4).await,
        [ok("abc"), ok(""), ok("abcd"), Err("abcde".to_owned()), ok("x")]
    );
}

#[tokio::test]
async fn of_a_line_that_is_too_long_only_the_beginning_is_held() {
    let mut text = vec![b'x'; 40 * BUFFER_BYTES_MAX];
    text.extend_from_slice(b"\ny\n");
    let mut lines = Lines::new(&text[..], 4 * BUFFER_BYTES_MAX);
    assert_eq!(lines.next().await.unwrap(), Some(Line::TooLong(&[b'x'; HEAD_BYTES])));
    assert!(lines.line.capacity() <= BUFFER_BYTES_MAX, "{}", lines.line.capacity());
    assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"y")));
    assert_eq!(lines.next().await.unwrap(), None);
}

#[tokio::test]
async fn a_reader_that_is_interrupted_loses_nothing() {
    let (mut writer, reader) = tokio::io::duplex(1024);
    let mut lines = Lines::new(reader, 100);
    for piece in ["ab", "c", "d\nef"] {
        assert!(lines.next().now_or_never().is_none());
        writer.write_all(piece.as_bytes()).await.unwrap();
    }
    assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"abcd")));
    assert!(lines.next().now_or_never().is_none());
    writer.write_all(b"\n").await.unwrap();
    assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"ef")));
}
