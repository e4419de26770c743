//! The table of characters that are unsafe to show: terminals interpret them, readers do not see them, or they reorder
//! text.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hazard {
    /// Line feed and tab: fine in multi-line text, not in a single line.
    Layout,
    /// A 7- or 8-bit control character, which terminals interpret.
    Control,
    /// Changes the text direction.
    Direction,
    /// A line or paragraph break for some readers only.
    LineBreak,
    /// Has no width, or looks like a space.
    Invisible,
    /// Invisible, but emoji and some scripts need it: joiners and variation selectors.
    Shaping,
}

/// First and last character of each range, sorted.
const TABLE: &[(char, char, Hazard)] = &[
    ('\0', '\u{8}', Hazard::Control),
    ('\t', '\n', Hazard::Layout),
    ('\u{b}', '\u{1f}', Hazard::Control),
    ('\u{7f}', '\u{9f}', Hazard::Control),
    ('\u{ad}', '\u{ad}', Hazard::Invisible),     // soft hyphen
    ('\u{34f}', '\u{34f}', Hazard::Invisible),   // grapheme joiner
    ('\u{61c}', '\u{61c}', Hazard::Direction),   // Arabic letter mark
    ('\u{115f}', '\u{1160}', Hazard::Invisible), // Hangul fillers
    ('\u{17b4}', '\u{17b5}', Hazard::Invisible), // Khmer inherent vowels
    ('\u{180b}', '\u{180d}', Hazard::Shaping),   // Mongolian variation selectors
    ('\u{180e}', '\u{180e}', Hazard::Invisible), // Mongolian vowel separator
    ('\u{180f}', '\u{180f}', Hazard::Shaping),   // Mongolian variation selector
    ('\u{200b}', '\u{200b}', Hazard::Invisible), // zero width space
    ('\u{200c}', '\u{200d}', Hazard::Shaping),   // zero width joiners
    ('\u{200e}', '\u{200f}', Hazard::Direction), // left-to-right and right-to-left marks
    ('\u{2028}', '\u{2029}', Hazard::LineBreak),
    ('\u{202a}', '\u{202e}', Hazard::Direction), // embeddings and overrides
    ('\u{2060}', '\u{2065}', Hazard::Invisible), // word joiner, invisible operators
    ('\u{2066}', '\u{2069}', Hazard::Direction), // isolates
    ('\u{206a}', '\u{206f}', Hazard::Invisible), // deprecated format characters
    ('\u{3164}', '\u{3164}', Hazard::Invisible), // Hangul filler
    ('\u{fe00}', '\u{fe0f}', Hazard::Shaping),   // variation selectors
    ('\u{feff}', '\u{feff}', Hazard::Invisible), // byte order mark
    ('\u{ffa0}', '\u{ffa0}', Hazard::Invisible), // Hangul filler, half width
    ('\u{fff0}', '\u{fffb}', Hazard::Invisible), // reserved, annotations
    ('\u{1bca0}', '\u{1bca3}', Hazard::Invisible), // shorthand format controls
    ('\u{1d173}', '\u{1d17a}', Hazard::Invisible), // musical format controls
    ('\u{e0000}', '\u{e0fff}', Hazard::Invisible), // tags, further variation selectors
];

/// Why `character` is unsafe to show; `None` if it is safe.
pub fn hazard(character: char) -> Option<Hazard> {
    // Nearly all text is plain ASCII.
    if matches!(character, ' '..='~') {
        return None;
    }
    let next = TABLE.partition_point(|(_, last, _)| *last < character);
    TABLE.get(next).filter(|(first, _, _)| *first <= character).map(|(_, _, hazard)| *hazard)
}

/// Where text is shown, which decides what is unsafe in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextContext {
    /// Multi-line text for reading: answers, output, exports.
    Prose,
    /// Like `Prose`, on one line: titles, first lines.
    Title,
    /// Multi-line text that a user approves, so nothing may be hidden: commands, diffs.
    Block,
    /// Like `Block`, on one line: names, paths, rules, reasons.
    Line,
}

impl TextContext {
    pub fn forbids(self, character: char) -> bool {
        match hazard(character) {
            None => false,
            Some(Hazard::Layout) => matches!(self, Self::Title | Self::Line),
            Some(Hazard::Shaping) => matches!(self, Self::Block | Self::Line),
            Some(Hazard::Control | Hazard::Direction | Hazard::LineBreak | Hazard::Invisible) => true,
        }
    }
}

#[cfg(test)]
#[path = "characters_tests.rs"]
mod tests;
