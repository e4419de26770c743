//! The JSON code of the large types, compiled here once. A crate above that reads or writes the same type in one of these
//! ways links this code instead of compiling its own copy, which is half of the build time of `rheon-store`.

use serde_json::{Result, Value};

use crate::{AgentMessage, AgentOutput, Command, Event, Query, Reply, protocol};

/// Every way in which a type is read and written.
macro_rules! compile {
    ($($name:ident: $type:ty;)*) => {$(
        /// Not for use: calling it is what compiles the code.
        pub fn $name(value: &$type, bytes: &[u8], text: &str) -> Result<[$type; 3]> {
            let mut written = Vec::new();
            serde_json::to_writer(&mut written, value)?;
            let tree: Value = serde_json::to_value(value)?;
            Ok([serde_json::from_slice(bytes)?, serde_json::from_str(text)?, serde_json::from_value(tree)?])
        }
    )*};
}

compile! {
    event: Event;
    message: AgentMessage;
    output: AgentOutput;
    command: Command;
    query: Query;
    reply: Reply;
    host_query: protocol::HostQuery;
    host_command: protocol::HostCommand;
    host_reply: protocol::HostReply;
}
