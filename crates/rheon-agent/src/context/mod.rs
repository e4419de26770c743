//! What the model sees: pure functions, messages in, messages and figures out.

mod compact;
mod complete;
mod estimate;
mod pairing;
mod recite;
mod settings;
mod structured;

pub use compact::{CompactionStrategy, Summariser, SummaryBy, Tiers, WindowView};
pub(crate) use compact::{SUMMARY_PROMPT, transcript};
pub(crate) use complete::{Shortfall, shortfall};
pub(crate) use estimate::{estimate_block, estimate_tokens};
pub(crate) use pairing::mend_calls;
pub use recite::Recitation;
pub use settings::{CheckSettings, Compaction, WindowSettings};
pub(crate) use structured::structured;
