//! `TrustStatus`: what the user approved in a project, compared with its current content.

use std::collections::BTreeMap;
use std::fmt;

use rheon_text::visible;

use crate::trust::content::{ProjectContent, TrustItem};

/// What the user approved in a project, compared with its current content. Its text is the trust prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustStatus {
    /// The project contains nothing that needs trust.
    Nothing,
    /// The user approved exactly this content.
    Trusted,
    /// The user has not been asked yet.
    Unknown { items: Vec<TrustItem> },
    /// The content changed since the user approved it.
    Changed { added: Vec<TrustItem>, removed: Vec<String>, changed: Vec<TrustItem> },
}

/// The hashes of what the user approved in a project, by path.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Approved<'a> {
    /// What the user was shown and agreed to.
    pub(crate) content: Option<&'a BTreeMap<String, String>>,
    /// Files that the user's own answers wrote.
    pub(crate) answers: Option<&'a BTreeMap<String, String>>,
}

impl Approved<'_> {
    /// Whether the user's own answers wrote exactly this file.
    pub(crate) fn holds_answers(&self, item: &TrustItem) -> bool {
        self.answers.and_then(|answers| answers.get(&item.path)).is_some_and(|hash| item.has_hash(hash))
    }

    /// Whether the user approved this file, in one way or the other.
    pub(crate) fn covers(&self, item: &TrustItem) -> bool {
        let agreed = self.content.and_then(|content| content.get(&item.path));
        agreed.is_some_and(|hash| item.has_hash(hash)) || self.holds_answers(item)
    }
}

impl TrustStatus {
    /// Compares `content` with the hashes that the user approved.
    pub(crate) fn of(content: &ProjectContent, approved: Approved<'_>) -> Self {
        if content.items.is_empty() {
            return Self::Nothing;
        }
        let open: Vec<&TrustItem> = content.items().filter(|item| !approved.holds_answers(item)).collect();
        let Some(agreed) = approved.content else {
            return match open.is_empty() {
                true => Self::Trusted,
                false => Self::Unknown { items: open.into_iter().cloned().collect() },
            };
        };
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        for item in open {
            match agreed.get(&item.path) {
                Some(hash) if item.has_hash(hash) => {}
                Some(_) => changed.push(item.clone()),
                None => added.push(item.clone()),
            }
        }
        let removed: Vec<String> =
            agreed.keys().filter(|path| !content.items.contains_key(*path)).cloned().collect();
        if added.is_empty() && changed.is_empty() && removed.is_empty() {
            return Self::Trusted;
        }
        Self::Changed { added, removed, changed }
    }

    /// Whether the project's content may be used.
    pub fn is_trusted(&self) -> bool {
        match self {
            Self::Trusted => true,
            Self::Nothing | Self::Unknown { .. } | Self::Changed { .. } => false,
        }
    }
}

impl fmt::Display for TrustStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, word: &str, items: &[TrustItem]| {
            items.iter().try_for_each(|item| writeln!(f, "  {word}{item}"))
        };
        match self {
            Self::Nothing => f.write_str("This project contains nothing that needs trust."),
            Self::Trusted => f.write_str("You trust this project."),
            Self::Unknown { items } => {
                writeln!(f, "This project contains files that can run commands or instruct the agent:")?;
                list(f, "", items)?;
                f.write_str("Do you trust them?")
            }
            Self::Changed { added, removed, changed } => {
                writeln!(f, "This project has changed since you trusted it:")?;
                list(f, "changed ", changed)?;
                list(f, "new     ", added)?;
                removed.iter().try_for_each(|path| writeln!(f, "  gone    {}", visible(path)))?;
                f.write_str("Do you trust these changes?")
            }
        }
    }
}
