//! `CallGrant`: what a call may reach beyond what the sandbox gives to every call.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a call may reach beyond what the sandbox gives to every call. It comes from a rule or from the user's answer,
/// and the call runs with exactly this.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub struct CallGrant {
    /// The network it may use.
    #[serde(default, skip_serializing_if = "NetworkGrant::is_none")]
    pub network: NetworkGrant,
    /// Paths outside the workspace that it may read.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PathBuf>,
    /// Paths outside the workspace that it may write. They need not exist.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<PathBuf>,
    /// Whether it runs outside the sandbox.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsandboxed: bool,
}

/// The network a call may use beyond the session's setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum NetworkGrant {
    /// None beyond the session's setting.
    #[default]
    None,
    /// These hosts, each a name or `*.` and a domain.
    Hosts(#[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))] Vec<String>),
    /// Every host.
    All,
}

impl NetworkGrant {
    /// Whether it adds nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// Both together.
    #[must_use]
    pub fn joined(self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::None, other) => other.clone(),
            (own, Self::None) => own,
            (Self::Hosts(mut hosts), Self::Hosts(others)) => {
                add_missing(&mut hosts, others);
                Self::Hosts(hosts)
            }
        }
    }
}

fn add_missing<T: Clone + PartialEq>(list: &mut Vec<T>, others: &[T]) {
    for other in others {
        if !list.contains(other) {
            list.push(other.clone());
        }
    }
}

impl CallGrant {
    /// Both together.
    #[must_use]
    pub fn joined(mut self, other: &Self) -> Self {
        self.network = self.network.joined(&other.network);
        add_missing(&mut self.read, &other.read);
        add_missing(&mut self.write, &other.write);
        self.unsandboxed |= other.unsandboxed;
        self
    }

    /// Whether it adds nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
