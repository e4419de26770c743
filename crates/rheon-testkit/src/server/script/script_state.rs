//! `ScriptState`: the state of a script.

use super::replies::Script;
use crate::server::issued::IssuedBlocks;
use crate::server::reply::{FakeReply, ReplyCount};
use crate::server::request_info::RequestInfo;

/// The state of a script: how often each reply was used.
#[derive(Debug)]
pub(crate) struct ScriptState {
    script: Script,
    used: Vec<usize>,
    requests: usize,
    /// What was sent so far.
    pub(crate) issued: IssuedBlocks,
}

impl ScriptState {
    pub(crate) fn new(script: Script) -> Self {
        Self { used: vec![0; script.replies.len()], script, requests: 0, issued: IssuedBlocks::default() }
    }

    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    /// Chooses and uses up the reply to a request; also returns its description.
    pub(crate) fn choose(&mut self, request_info: &RequestInfo, body: &[u8]) -> (FakeReply, String) {
        self.requests += 1;
        for (index, (reply, used)) in self.script.replies.iter().zip(&mut self.used).enumerate() {
            let left = match reply.times {
                ReplyCount::Once => *used < 1,
                ReplyCount::Exactly(times) => *used < times,
                ReplyCount::Always => true,
            };
            if left && reply.when.matches(request_info, body, self.requests) {
                *used += 1;
                return (reply.clone(), format!("reply {}", index + 1));
            }
        }
        (self.script.default.clone(), "default".to_owned())
    }
}
