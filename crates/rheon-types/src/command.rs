//! Commands: what a user interface asks of a session.

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::event::{PermissionMode, PermissionResponse};
use crate::id::ApprovalId;
use crate::outcome::ContinuationKind;

/// A request to a session. JSON: tagged by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Command {
    /// Begin a run with this prompt.
    Prompt {
        /// The prompt.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        content: Vec<Content>,
    },
    /// Begin a run without a new prompt.
    Continue {
        /// How it relates to the run before it.
        kind: ContinuationKind,
    },
    /// Say something to the run that is under way, between its tool executions.
    Steer {
        /// What to say.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        content: Vec<Content>,
    },
    /// Say something once the run would otherwise stop.
    FollowUp {
        /// What to say.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        content: Vec<Content>,
    },
    /// Answer an approval request.
    RespondPermission {
        /// Which one.
        request_id: ApprovalId,
        /// The answer.
        response: PermissionResponse,
    },
    /// Stop the run that is under way.
    Cancel,
    /// Change how much the session may do without asking.
    SetMode {
        /// The new mode.
        mode: PermissionMode,
    },
    /// Make the window shorter now.
    Compact {
        /// What to keep in mind while doing so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
    },
}
