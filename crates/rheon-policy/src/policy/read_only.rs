//! `ReadOnly`: a gate that lets tools look and nothing else.

use rheon_types::{Answer, Effect, Gate, GateRequest, Judgement, Verdict};

/// Tools that only look may run; all others may not, and nobody is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOnly;

impl Gate for ReadOnly {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, Judgement> {
        let verdict = match request.effect {
            Effect::Pure => Verdict::Allow,
            Effect::Idempotent | Effect::Unsafe => Verdict::Deny {
                reason: format!(
                    "{} changes something, and this session may only look; use tools that read",
                    request.call.name
                ),
            },
        };
        Answer::Now(verdict.into())
    }
}
