//! What the model sees: pure functions, messages in, messages and figures out.

mod compact;
mod estimate;
mod pairing;
mod settings;

pub use compact::{CompactionStrategy, Summariser, Tiers, WindowView};
pub(crate) use estimate::{estimate_block, estimate_tokens};
pub(crate) use pairing::mend_calls;
pub use settings::{CheckSettings, Compaction, WindowSettings};
