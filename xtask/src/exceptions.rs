//! The exceptions from the rules: each with its reason, each needed.

/// A place that may break a rule.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    /// The name of the rule, as in [`crate::rules::RULES`].
    pub rule: &'static str,
    /// The file, from the root of the repository.
    pub path: &'static str,
    /// The one item of the file that is excepted; none for the whole file.
    pub item: Option<&'static str>,
    /// Why the rule does not fit here.
    pub reason: &'static str,
    /// Where this row stands, for the message that it is not needed any more.
    pub line: u32,
}

/// The file of this table.
pub const PATH: &str = "xtask/src/exceptions.rs";

/// Every exception.
pub const EXCEPTIONS: &[Exception] = &[
    Exception {
        rule: "system access",
        path: "crates/rheon-agent/src/system.rs",
        item: None,
        reason: "the default clock and randomness of an agent built without them; the loop only sees the seams",
        line: line!(),
    },
    Exception {
        rule: "system access",
        path: "crates/rheon/src/environment.rs",
        item: None,
        reason: "an agent of the SDK takes its keys from the environment of the process, as a session does",
        line: line!(),
    },
    Exception {
        rule: "sizes",
        path: "crates/rheon-store/src/tree/loop_record.rs",
        item: Some("LoopRecord"),
        reason: "a stored record: its fields are the keys of a file whose flat shape others read",
        line: line!(),
    },
];
