//! The cost of each kind of piece, in hundredths of a token: one row per vocabulary, selected by a part of the model's
//! name.
//!
//! Fitted by least squares of relative errors against the vocabularies, over code, prose, data and translations in 24
//! languages that are not part of the corpus the error is measured on. Bounds keep each weight plausible (a word costs
//! about a token or more). Where the texts have no data, a cautious minimum is used. Vietnamese is overestimated by up
//! to half.

use super::scan::PIECES;

/// How one family of models counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// Its name, for people.
    pub(crate) name: &'static str,
    /// What its pieces cost.
    pub(crate) weights: &'static Weights,
    /// A correction in percent: more than 100 if only a related vocabulary is public.
    pub(crate) percent: u64,
    /// The tokens of an image. Services count its area, which is bounded.
    pub(crate) image_tokens: u64,
    /// Overhead as soon as there is a tool.
    pub(crate) tools_tokens: u64,
}

/// For models without a row: the most common vocabulary, rather too many tokens than too few.
pub(crate) const GENERAL: Family = family("general", &O200K, 110, 1_500, 100);

/// A part of the model's name in lower case, and the family of such models. The first match counts.
///
/// The vocabularies of Claude and Gemini are not public: their percentages are cautious guesses, corrected by reported
/// usage within a few calls.
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

/// The family of `model`; [`GENERAL`] if its name is unknown.
pub(crate) fn family_of(model: &str) -> &'static Family {
    let model = model.to_ascii_lowercase();
    FAMILIES.iter().find(|(part, _)| model.contains(part)).map_or(&GENERAL, |(_, family)| family)
}

/// The prices of pieces, in the order of [`super::scan::Piece`].
type Weights = [u16; PIECES];

/// `o200k_base`: OpenAI since GPT-4o.
const O200K: Weights = [
    95, 100, 105, 104, 211, 60, 40, 180, 89, 98, 99, 10, 94, 127, 0, 83, 58, 83, 18, 9, 20, 125, 106, 120, 9,
    41, 40, 35, 38, 42, 76, 76, 77, 158, 93, 10, 300, 189,
];

/// `cl100k_base`: GPT-4 and GPT-3.5.
const CL100K: Weights = [
    95, 100, 103, 133, 300, 60, 44, 180, 88, 80, 100, 10, 179, 130, 0, 93, 50, 76, 24, 7, 30, 108, 101, 120,
    35, 104, 94, 120, 148, 98, 97, 117, 131, 232, 80, 10, 300, 290,
];

/// Llama 3 and later.
const LLAMA3: Weights = [
    95, 100, 100, 161, 300, 60, 53, 180, 60, 80, 103, 10, 84, 128, 0, 79, 44, 82, 22, 4, 30, 102, 95, 84, 18,
    43, 53, 63, 147, 47, 61, 82, 79, 88, 121, 10, 300, 283,
];

/// Qwen 2 and later.
const QWEN2: Weights = [
    95, 100, 107, 150, 300, 60, 72, 180, 79, 80, 70, 17, 124, 136, 37, 96, 47, 70, 27, 5, 37, 125, 99, 120,
    19, 100, 44, 113, 122, 56, 63, 57, 83, 172, 80, 10, 300, 125,
];

/// DeepSeek V3 and R1.
const DEEPSEEK3: Weights = [
    95, 100, 102, 107, 300, 60, 40, 180, 95, 103, 120, 16, 138, 123, 0, 66, 81, 94, 14, 16, 17, 125, 91, 120,
    14, 52, 47, 65, 52, 36, 61, 50, 86, 168, 84, 10, 300, 197,
];

/// Mistral.
const MISTRAL3: Weights = [
    95, 100, 100, 103, 265, 60, 60, 180, 88, 126, 115, 26, 105, 108, 53, 40, 62, 96, 15, 18, 5, 125, 108,
    120, 12, 44, 39, 41, 45, 52, 60, 89, 69, 122, 105, 10, 300, 418,
];

/// Kimi K2.
const KIMI2: Weights = [
    95, 100, 100, 151, 300, 60, 40, 180, 81, 80, 96, 10, 201, 124, 0, 104, 45, 77, 25, 5, 26, 125, 103, 120,
    24, 68, 61, 65, 76, 78, 80, 49, 105, 189, 80, 10, 300, 250,
];

/// GLM 5.
const GLM5: Weights = [
    95, 100, 103, 125, 300, 60, 86, 180, 77, 80, 93, 10, 112, 134, 0, 47, 50, 82, 20, 5, 28, 125, 99, 120,
    11, 46, 56, 109, 130, 93, 67, 53, 103, 205, 80, 10, 300, 153,
];

/// MiniMax M2.
const MINIMAX2: Weights = [
    95, 100, 100, 103, 238, 60, 40, 180, 85, 123, 90, 16, 153, 127, 0, 70, 65, 84, 19, 13, 0, 125, 120, 120,
    15, 80, 43, 67, 82, 105, 32, 54, 67, 92, 80, 10, 300, 189,
];
