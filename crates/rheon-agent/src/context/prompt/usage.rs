//! `ContextUsage`: how the context window is used.

use std::fmt;
use std::sync::Arc;

use super::section::{Band, PromptSection};

/// How the context window is used, in tokens. Displayed as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextUsage {
    /// The sections of the system prompt, in its order.
    pub sections: Vec<SectionUsage>,
    /// The definitions of the tools.
    pub tools: u64,
    /// The conversation.
    pub messages: u64,
    /// The size of the window.
    pub window: u64,
}

/// One section in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionUsage {
    /// Its name.
    pub name: Arc<str>,
    /// Its band.
    pub band: Band,
    /// Its tokens.
    pub tokens: u64,
}

impl ContextUsage {
    /// The usage of these sections, tools and messages in a window of this size.
    pub fn new(sections: &[PromptSection], tools: u64, messages: u64, window: u64) -> Self {
        let used = |one: &PromptSection| SectionUsage {
            name: Arc::clone(&one.name),
            band: one.band,
            tokens: one.tokens,
        };
        Self { sections: sections.iter().map(used).collect(), tools, messages, window }
    }

    /// The tokens of one band.
    pub fn band(&self, band: Band) -> u64 {
        self.sections.iter().filter(|one| one.band == band).map(|one| one.tokens).sum()
    }

    /// The tokens of the system prompt.
    pub fn system(&self) -> u64 {
        self.sections.iter().map(|one| one.tokens).sum()
    }

    /// All tokens in the window.
    pub fn used(&self) -> u64 {
        self.system().saturating_add(self.tools).saturating_add(self.messages)
    }

    /// What is left of the window.
    pub fn free(&self) -> u64 {
        self.window.saturating_sub(self.used())
    }

    fn row(&self, f: &mut fmt::Formatter<'_>, name: &str, tokens: u64) -> fmt::Result {
        self.row_of(f, name, tokens, self.tenths(tokens))
    }

    /// The share of the window in tenths of a percent, rounded.
    fn tenths(&self, tokens: u64) -> u128 {
        let window = u128::from(self.window.max(1));
        (u128::from(tokens) * 1_000 + window / 2) / window
    }

    fn row_of(&self, f: &mut fmt::Formatter<'_>, name: &str, tokens: u64, tenths: u128) -> fmt::Result {
        let name: String = name.chars().take(28).collect();
        writeln!(f, "{name:<28} {:>10}  {:>3}.{} %", grouped(tokens), tenths / 10, tenths % 10)
    }
}

impl fmt::Display for ContextUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<28} {:>10}  {:>7}", "context", "tokens", "window")?;
        for band in Band::ALL {
            let mut sections = self.sections.iter().filter(|one| one.band == band).peekable();
            if sections.peek().is_some() {
                self.row(f, &format!("system prompt, {}", band.as_str()), self.band(band))?;
            }
            for one in sections {
                self.row(f, &format!("  {}", one.name), one.tokens)?;
            }
        }
        self.row(f, "tools", self.tools)?;
        self.row(f, "messages", self.messages)?;
        self.row(f, "used", self.used())?;
        // The shares of used and free must add up to the window, even when rounded.
        self.row_of(
            f,
            "free",
            self.free(),
            self.tenths(self.window).saturating_sub(self.tenths(self.used())),
        )?;
        self.row(f, "window", self.window)
    }
}

/// `12345` as `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
