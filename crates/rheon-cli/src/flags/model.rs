//! Flags that say which model to ask, how hard it should try, and what it may cost.

use clap::ValueEnum;

/// Which model to ask, how hard it should try, and what it may cost.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Model and limits")]
pub(crate) struct ModelFlags {
    /// The model to ask, as vendor/model; a name that only one vendor has will do
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Ask this one where the model is overloaded
    #[arg(long, value_name = "MODEL")]
    pub(crate) fallback_model: Option<String>,

    /// How hard to try; by default it follows the task
    #[arg(long, value_name = "EFFORT")]
    pub(crate) effort: Option<EffortFlag>,

    /// Stop after this many turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,

    /// Stop before more than this is spent, in US dollars
    #[arg(long, value_name = "USD")]
    pub(crate) max_budget_usd: Option<String>,

    /// Stop before more than this many tokens are spent
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,

    /// Stop after this many minutes
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_minutes: Option<u64>,
}

/// How hard to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortFlag {
    /// Little thinking, short runs
    Low,
    /// The usual
    Medium,
    /// Much thinking, long runs
    High,
    /// All the model has
    #[value(alias = "xhigh")]
    Max,
}

impl EffortFlag {
    /// As the configuration writes it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }
}
