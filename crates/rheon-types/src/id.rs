//! Ids and names: one cheap newtype each, so that they cannot be mixed up.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The id as shared text.
            pub fn to_shared(&self) -> Arc<str> {
                Arc::clone(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl Default for $name {
            /// An empty id.
            fn default() -> Self {
                Self::from("")
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        #[cfg(test)]
        impl proptest::arbitrary::Arbitrary for $name {
            type Parameters = ();
            type Strategy = proptest::strategy::BoxedStrategy<Self>;

            fn arbitrary_with((): ()) -> Self::Strategy {
                use proptest::strategy::Strategy;
                ".{0,12}".prop_map(Self::from).boxed()
            }
        }
    };
}

id!(
    /// One agent, stable across its sessions.
    AgentId
);
id!(
    /// One conversation: all its runs share this id and one log.
    SessionId
);
id!(
    /// One run: `{session_id}.{config segment}.{n}`.
    #[doc(alias = "LoopId")]
    RunId
);
id!(
    /// One tool call, as the model named it, made unique within a run.
    ToolCallId
);
id!(
    /// One question to the user.
    ApprovalId
);
id!(
    /// One call of a session to a function of its client.
    ClientCallId
);
id!(
    /// The name by which the model calls a tool.
    ToolName
);

impl RunId {
    /// The id of the `n`th run of a session with one configuration.
    pub fn derive(session_id: &SessionId, config_segment: &str, n: usize) -> Self {
        Self::from(format!("{session_id}.{config_segment}.{n}"))
    }
}

/// A version 7 UUID derived from its inputs, so that a replay produces the same one.
pub(crate) fn uuid_text(at: Timestamp, random: [u64; 2]) -> String {
    let mut bytes = [0u8; 10];
    let [high, low] = random.map(u64::to_le_bytes);
    for (slot, byte) in bytes.iter_mut().zip(high.into_iter().chain(low)) {
        *slot = byte;
    }
    uuid::Builder::from_unix_timestamp_millis(at.as_millis(), &bytes).into_uuid().to_string()
}

impl SessionId {
    /// A fresh session id from a time and two random numbers.
    pub fn generate(at: Timestamp, random: [u64; 2]) -> Self {
        Self::from(uuid_text(at, random))
    }
}

impl AgentId {
    /// A fresh agent id from a time and two random numbers.
    pub fn generate(at: Timestamp, random: [u64; 2]) -> Self {
        Self::from(uuid_text(at, random))
    }
}
