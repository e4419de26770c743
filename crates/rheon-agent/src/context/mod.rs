//! What the model sees: pure functions, messages in, messages and figures out.

mod estimate;
mod pairing;

pub(crate) use estimate::{estimate_block, estimate_tokens};
pub(crate) use pairing::mend_calls;
