//! What the model sees: pure functions, messages in, messages and figures out.

mod estimate;
mod pairing;

pub(crate) use estimate::estimate_tokens;
pub(crate) use pairing::answer_all_calls;
