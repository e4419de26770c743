//! Which row of weights counts for which model: data, found by a part of the model's name.

use super::weights::{CL100K, DEEPSEEK3, GLM5, KIMI2, LLAMA3, MINIMAX2, MISTRAL3, O200K, QWEN2, Weights};

/// How one family of models counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// Its name, for people.
    pub(crate) name: &'static str,
    /// What its pieces cost.
    pub(crate) weights: &'static Weights,
    /// What its texts cost of that, in percent: more than 100 where only a relative of its vocabulary is public.
    pub(crate) percent: u64,
    /// What a picture costs, whatever its bytes: services count its area, which is bounded.
    pub(crate) image_tokens: u64,
    /// What stands before the first tool as soon as there is one.
    pub(crate) tools_tokens: u64,
}

/// Counts for models that no row names: the most common vocabulary, rather too many than too few.
pub(crate) const GENERAL: Family = family("general", &O200K, 110, 1_500, 100);

/// A part of the model's name in lower case, and how such models count. The first that fits holds.
///
/// The vocabularies of Claude and Gemini are not public: their percentages are cautious guesses, which reported usage
/// corrects within a few calls.
const FAMILIES: &[(&str, Family)] = &[
    ("claude", family("claude", &O200K, 125, 1_600, 350)),
    ("gemini", family("gemini", &O200K, 105, 1_100, 50)),
    ("gemma", family("gemini", &O200K, 105, 300, 50)),
    ("deepseek", family("deepseek", &DEEPSEEK3, 100, 1_500, 100)),
    ("qwen", family("qwen", &QWEN2, 100, 1_300, 100)),
    ("qwq", family("qwen", &QWEN2, 100, 1_300, 100)),
    ("mistral", family("mistral", &MISTRAL3, 100, 1_500, 50)),
    ("mixtral", family("mistral", &MISTRAL3, 100, 1_500, 50)),
    ("ministral", family("mistral", &MISTRAL3, 100, 1_500, 50)),
    ("magistral", family("mistral", &MISTRAL3, 100, 1_500, 50)),
    ("codestral", family("mistral", &MISTRAL3, 100, 1_500, 50)),
    ("devstral", family("mistral", &MISTRAL3, 100, 1_500, 50)),
    ("pixtral", family("mistral", &MISTRAL3, 100, 1_500, 50)),
    ("kimi", family("kimi", &KIMI2, 100, 1_500, 50)),
    ("moonshot", family("kimi", &KIMI2, 100, 1_500, 50)),
    ("minimax", family("minimax", &MINIMAX2, 100, 1_500, 50)),
    ("glm", family("glm", &GLM5, 100, 1_500, 100)),
    ("llama", family("llama", &LLAMA3, 100, 1_600, 100)),
    ("gpt-4o", family("o200k", &O200K, 100, 800, 20)),
    ("gpt-4.", family("o200k", &O200K, 100, 800, 20)),
    ("gpt-4", family("cl100k", &CL100K, 100, 800, 20)),
    ("gpt-3", family("cl100k", &CL100K, 100, 800, 20)),
    ("gpt", family("o200k", &O200K, 100, 800, 20)),
    ("codex", family("o200k", &O200K, 100, 800, 20)),
];

const fn family(
    name: &'static str,
    weights: &'static Weights,
    percent: u64,
    image_tokens: u64,
    tools_tokens: u64,
) -> Family {
    Family { name, weights, percent, image_tokens, tools_tokens }
}

/// How `model` counts; [`GENERAL`] where its name says nothing.
pub(crate) fn family_of(model: &str) -> &'static Family {
    let model = model.to_ascii_lowercase();
    FAMILIES.iter().find(|(part, _)| model.contains(part)).map_or(&GENERAL, |(_, family)| family)
}
