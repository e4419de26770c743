//! What a call returned, as a tool result.

use rheon_types::{Content, ToolError, ToolResult};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use super::clean::short_line;

/// The most text of one result: about 25,000 tokens.
const TEXT_BYTES_MAX: usize = 100_000;

/// The most images of one result, and the largest image in base64.
const IMAGES_MAX: usize = 10;
const IMAGE_BYTES_MAX: usize = 5 << 20;

/// The image types that models accept.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The result for the model, bounded. A result that says it is an error becomes one.
pub(super) fn result(server: &str, answer: CallToolResult) -> Result<ToolResult, ToolError> {
    let is_error = answer.is_error.unwrap_or(false);
    let mut bounded = BoundedContent::default();
    for block in answer.content {
        bounded.add(block);
    }
    if !bounded.has_text
        && let Some(structured) = &answer.structured_content
    {
        bounded.text(&structured.to_string());
    }
    let mut content = bounded.finish();
    if is_error {
        let text = ToolResult { content, ..ToolResult::default() }.as_text();
        let text = if text.is_empty() { "the tool failed without a message".to_owned() } else { text };
        return Err(ToolError::Failed(text));
    }
    if content.is_empty() {
        content.push(Content::text("(no output)"));
    }
    let mut details = json!({ "mcpServer": server });
    if let (Some(structured), Some(details)) = (answer.structured_content, details.as_object_mut())
        && structured.to_string().len() <= TEXT_BYTES_MAX
    {
        details.insert("structuredContent".to_owned(), structured);
    }
    Ok(ToolResult { content, details, child_run_id: None })
}

/// The text and images of a prompt or a resource, bounded.
pub(super) fn bounded(blocks: impl IntoIterator<Item = ContentBlock>) -> Vec<Content> {
    let mut bounded = BoundedContent::default();
    blocks.into_iter().for_each(|block| bounded.add(block));
    bounded.finish()
}

#[derive(Default)]
struct BoundedContent {
    content: Vec<Content>,
    text_bytes: usize,
    images: usize,
    has_text: bool,
    /// How many bytes of text are missing.
    cut_bytes: usize,
}

impl BoundedContent {
    fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => {
                self.has_text = true;
                self.text(&text.text);
            }
            ContentBlock::Image(image) => self.image(image.data, &image.mime_type),
            ContentBlock::Audio(audio) => {
                let kind = short_line(&audio.mime_type);
                self.text(&format!("[audio of type {kind}, which is not supported]"));
            }
            ContentBlock::Resource(embedded) => self.resource(embedded.resource),
            ContentBlock::ResourceLink(link) => {
                let (name, uri) = (short_line(&link.name), short_line(&link.uri));
                self.text(&format!("[resource {name}: {uri}]"));
            }
            _ => self.text("[content of an unknown type]"),
        }
    }

    fn resource(&mut self, resource: ResourceContents) {
        match resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.has_text = true;
                self.text(&format!("[resource {}]\n{text}", short_line(&uri)));
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.unwrap_or_default();
                if IMAGE_TYPES.contains(&kind.as_str()) {
                    self.image(blob, &kind);
                } else {
                    let (uri, bytes) = (short_line(&uri), blob.len() / 4 * 3);
                    self.text(&format!("[resource {uri}: {bytes} bytes of type {}]", short_line(&kind)));
                }
            }
            _ => self.text("[a resource of an unknown type]"),
        }
    }

    fn text(&mut self, text: &str) {
        let free = TEXT_BYTES_MAX.saturating_sub(self.text_bytes);
        let end = text.floor_char_boundary(free);
        let (kept, cut) = text.split_at_checked(end).unwrap_or((text, ""));
        self.text_bytes += kept.len();
        self.cut_bytes += cut.len();
        if !kept.is_empty() {
            self.content.push(Content::text(kept));
        }
    }

    fn image(&mut self, data: String, mime_type: &str) {
        let mime_type = mime_type.to_ascii_lowercase();
        let problem = if !IMAGE_TYPES.contains(&mime_type.as_str()) {
            Some("its type is not supported")
        } else if data.len() > IMAGE_BYTES_MAX {
            Some("it is too large")
        } else if self.images >= IMAGES_MAX {
            Some("there are too many")
        } else {
            None
        };
        match problem {
            Some(problem) => {
                self.text(&format!("[an image of type {} is left out: {problem}]", short_line(&mime_type)));
            }
            None => {
                self.images += 1;
                self.content.push(Content::Image { data, mime_type });
            }
        }
    }

    fn finish(mut self) -> Vec<Content> {
        if self.cut_bytes > 0 {
            let note = format!(
                "[{} more bytes are left out; at most {TEXT_BYTES_MAX} bytes of a result are shown]",
                self.cut_bytes
            );
            self.content.push(Content::text(note));
        }
        self.content
    }
}

/// Arguments as the protocol wants them.
pub(super) fn arguments(value: &Value) -> serde_json::Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
