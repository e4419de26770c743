//! Flags for the model, its effort and the limits of a run.

use clap::ValueEnum;

#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Model and limits")]
pub(crate) struct ModelFlags {
    /// Use this model, as vendor/model or any unambiguous name
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Use this model while the first one is overloaded
    #[arg(long, value_name = "MODEL")]
    pub(crate) fallback_model: Option<String>,

    /// Set the effort [default: medium]
    #[arg(long, value_name = "EFFORT")]
    pub(crate) effort: Option<EffortFlag>,

    /// Stop after this many turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,

    /// Stop before spending more than this, in US dollars
    #[arg(long, value_name = "USD")]
    pub(crate) max_budget_usd: Option<String>,

    /// Stop before using more than this many tokens
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,

    /// Stop after this many minutes
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_minutes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortFlag {
    /// Little thinking
    Low,
    /// Normal thinking
    Medium,
    /// More thinking
    High,
    /// The most the model offers
    #[value(alias = "xhigh")]
    Max,
}

impl EffortFlag {
    /// The value in the configuration.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }
}
