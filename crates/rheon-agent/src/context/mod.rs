//! What the model sees: pure functions, messages in, messages and figures out.

mod estimate;
mod pairing;
mod told;

pub(crate) use estimate::{estimate_block, estimate_tokens};
pub(crate) use pairing::mend_calls;
pub(crate) use told::{Told, go_back};
