//! What an export shows.

/// What an export shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// What stands on top.
    pub title: String,
    /// Whether the model's reasoning is shown.
    pub include_thinking: bool,
    /// Whether markdown has the number of its event beside each heading, for whoever wants to go back to it.
    pub event_numbers: bool,
    /// How many bytes (of base64) one picture may have; a larger one is named and not shown.
    pub image_bytes_max: usize,
    /// How many bytes all pictures may have together.
    pub images_bytes_max: usize,
    /// How many characters of one text are shown; what is more is counted.
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
