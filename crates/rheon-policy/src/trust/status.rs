//! `TrustStatus`: what the user has said about a project, compared with what it holds now.

use std::collections::BTreeMap;
use std::fmt;

use rheon_text::visible;

use crate::trust::content::{ProjectContent, TrustItem};

/// What the user has said about a project, compared with what it holds now. As text: what the user is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustStatus {
    /// There is nothing to agree to.
    Nothing,
    /// The user has agreed to exactly this.
    Trusted,
    /// The user has never been asked.
    Unknown {
        /// What there is to agree to.
        items: Vec<TrustItem>,
    },
    /// The user has agreed to something else.
    Changed {
        /// What is new.
        added: Vec<TrustItem>,
        /// What is gone.
        removed: Vec<String>,
        /// What holds something else now.
        changed: Vec<TrustItem>,
    },
}

impl TrustStatus {
    /// Compares `content` with the hashes that the user has agreed to.
    pub(crate) fn of(content: &ProjectContent, agreed: Option<&BTreeMap<String, String>>) -> Self {
        if content.items.is_empty() {
            return Self::Nothing;
        }
        let Some(agreed) = agreed else { return Self::Unknown { items: content.items().cloned().collect() } };
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        for item in content.items() {
            match agreed.get(&item.path) {
                Some(hash) if *hash == item.hash.to_hex().as_str() => {}
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

    /// Whether what the project brings along may be used.
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
            Self::Nothing => f.write_str("This project brings along nothing that would be run or obeyed."),
            Self::Trusted => f.write_str("You trust what this project brings along."),
            Self::Unknown { items } => {
                writeln!(f, "This project brings along files that would be run or obeyed:")?;
                list(f, "", items)?;
                f.write_str("Do you trust them?")
            }
            Self::Changed { added, removed, changed } => {
                writeln!(f, "What this project brings along has changed since you trusted it:")?;
                list(f, "changed ", changed)?;
                list(f, "new     ", added)?;
                removed.iter().try_for_each(|path| writeln!(f, "  gone    {}", visible(path)))?;
                f.write_str("Do you trust it as it is now?")
            }
        }
    }
}
