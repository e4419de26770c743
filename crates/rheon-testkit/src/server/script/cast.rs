//! `Cast`: a script at work.

use super::replies::Script;
use crate::server::asked::Asked;
use crate::server::issued::Issued;
use crate::server::reply::{FakeReply, ReplyCount};

/// A script at work: which replies have been used how often.
#[derive(Debug)]
pub(crate) struct Cast {
    script: Script,
    used: Vec<usize>,
    asked: usize,
    /// What it has said so far.
    pub(crate) issued: Issued,
}

impl Cast {
    pub(crate) fn new(script: Script) -> Self {
        Self { used: vec![0; script.replies.len()], script, asked: 0, issued: Issued::default() }
    }

    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    /// The reply to a request and its name for people. Uses it up.
    pub(crate) fn choose(&mut self, asked: &Asked, body: &[u8]) -> (FakeReply, String) {
        self.asked += 1;
        for (place, (reply, used)) in self.script.replies.iter().zip(&mut self.used).enumerate() {
            let left = match reply.times {
                ReplyCount::Once => *used < 1,
                ReplyCount::Exactly(times) => *used < times,
                ReplyCount::Always => true,
            };
            if left && reply.when.fits(asked, body, self.asked) {
                *used += 1;
                return (reply.clone(), format!("reply {}", place + 1));
            }
        }
        (self.script.default.clone(), "default".to_owned())
    }
}
