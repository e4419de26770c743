//! The options of an export.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// The heading of the export.
    pub title: String,
    /// Whether to include the model's reasoning.
    pub include_thinking: bool,
    /// Whether Markdown headings include the number of their event.
    pub event_numbers: bool,
    /// The size limit of an image in base64. Larger ones are only mentioned.
    pub image_bytes_max: usize,
    /// The size limit of all images together.
    pub images_bytes_max: usize,
    /// How many characters of one text are included. The rest is counted.
    pub text_chars_max: usize,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            title: "Session".to_owned(),
            include_thinking: true,
            event_numbers: false,
            image_bytes_max: 4 << 20,
            images_bytes_max: 64 << 20,
            text_chars_max: 1_000_000,
        }
    }
}
