//! What becomes of the content of a result.

use rheon_types::Content;
use rmcp::model::{CallToolResult, ContentBlock};

use super::{IMAGE_BYTES_MAX, IMAGES_MAX, TEXT_BYTES_MAX, result};

fn texts(blocks: Vec<ContentBlock>) -> Vec<String> {
    let content = result("s", CallToolResult::success(blocks)).unwrap().content;
    let text = |content| match content {
        Content::Text { text } => text,
        other => format!("{} bytes of another kind", other.bytes()),
    };
    content.into_iter().map(text).collect()
}

#[test]
fn text_is_cut_between_characters() {
    let long = "€".repeat(TEXT_BYTES_MAX / 3 + 10);
    let shown = texts(vec![ContentBlock::text(long.clone()), ContentBlock::text("more")]);
    assert_eq!(shown[0].len(), TEXT_BYTES_MAX / 3 * 3);
    assert!(long.starts_with(&shown[0]));
    assert_eq!(shown[1], "m");
    assert_eq!(shown[2], "[33 more bytes are left out; at most 100000 bytes of a result are shown]");
}

#[test]
fn images_are_limited_in_size_number_and_type() {
    let image = |bytes: usize, kind: &str| ContentBlock::image("A".repeat(bytes), kind);
    let mut blocks = vec![image(IMAGE_BYTES_MAX + 1, "image/png"), image(4, "image/tiff\u{202e}")];
    blocks.extend((0..=IMAGES_MAX).map(|_| image(4, "image/png")));
    let shown = texts(blocks);
    assert_eq!(shown[0], "[an image of type image/png is left out: it is too large]");
    assert_eq!(shown[1], "[an image of type image/tiff is left out: its type is not supported]");
    assert_eq!(shown[2], "4 bytes of another kind");
    assert_eq!(shown.last().unwrap(), "[an image of type image/png is left out: there are too many]");
    assert_eq!(texts(Vec::new()), ["(no output)"]);
}
