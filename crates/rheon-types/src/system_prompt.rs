//! `SystemPrompt`: the system prompt, in sections.

use std::borrow::Cow;
use std::sync::Arc;

/// The system prompt. Sections that do not change between requests come first, so that services can cache them. Cheap
/// to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    sections: Arc<[SystemSection]>,
}

/// One section of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemSection {
    /// The text of the section.
    pub text: Arc<str>,
    /// Whether the prompt up to the end of this section is the same in the next request.
    pub stable: bool,
}

impl SystemPrompt {
    /// The non-empty sections, in order.
    pub fn sections(&self) -> impl DoubleEndedIterator<Item = &SystemSection> {
        self.sections.iter().filter(|section| !section.text.is_empty())
    }

    /// Adds a section at the end. A stable section goes before the trailing unstable ones.
    pub fn with_section(&self, section: SystemSection) -> Self {
        let stable = self.sections.iter().rposition(|other| other.stable).map_or(0, |last| last + 1);
        let place = if section.stable { stable } else { self.sections.len() };
        let before = self.sections.iter().take(place);
        let behind = self.sections.iter().skip(place);
        before.chain([&section]).chain(behind).cloned().collect()
    }

    /// Whether all sections are empty.
    pub fn is_empty(&self) -> bool {
        self.sections().next().is_none()
    }

    /// All sections as one text, with an empty line between them.
    pub fn text(&self) -> Cow<'_, str> {
        let mut sections = self.sections();
        match (sections.next(), sections.next()) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(&only.text),
            (Some(_), Some(_)) => {
                let texts: Vec<&str> = self.sections().map(|section| &*section.text).collect();
                Cow::Owned(texts.join("\n\n"))
            }
        }
    }
}

impl FromIterator<SystemSection> for SystemPrompt {
    fn from_iter<I: IntoIterator<Item = SystemSection>>(sections: I) -> Self {
        Self { sections: sections.into_iter().collect() }
    }
}

impl From<Arc<str>> for SystemPrompt {
    /// One stable section.
    fn from(text: Arc<str>) -> Self {
        Self { sections: Arc::from([SystemSection { text, stable: true }]) }
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Arc::<str>::from(text).into()
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Arc::<str>::from(text).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_added_stable_section_goes_before_unstable_ones() {
        let section = |text: &str, stable| SystemSection { text: text.into(), stable };
        let prompt: SystemPrompt = [section("a", true), section("z", false)].into_iter().collect();
        let prompt = prompt.with_section(section("b", true)).with_section(section("y", false));
        assert_eq!(prompt.with_section(section("c", true)).text(), "a\n\nb\n\nc\n\nz\n\ny");
        assert_eq!(SystemPrompt::default().with_section(section("a", true)).text(), "a");
        let changes: SystemPrompt = [section("z", false)].into_iter().collect();
        assert_eq!(changes.with_section(section("a", true)).text(), "a\n\nz");
    }
}
