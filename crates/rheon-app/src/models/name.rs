//! Names of models: what people write becomes `vendor/model`.

use rheon_providers::{Catalogue, Registry};
use rheon_tools::policy::nearest;

use super::error::ModelChoiceError;

/// Vendors in the order in which they are looked through, each with the model that is asked where nobody says which.
pub const PREFERRED: [(&str, &str); 15] = [
    ("anthropic", "claude-sonnet-5-5"),
    ("openai", "gpt-6.1-sol"),
    ("google", "gemini-pro-latest"),
    ("openrouter", "anthropic/claude-sonnet-5.5"),
    ("xai", "grok-4.7"),
    ("deepseek", "deepseek-v4-pro"),
    ("mistral", "devstral-latest"),
    ("moonshot", "kimi-k3"),
    ("zai", "glm-5.3"),
    ("qwen", "qwen3.8-max"),
    ("minimax", "MiniMax-M3"),
    ("groq", "openai/gpt-oss-120b"),
    ("cerebras", "gpt-oss-120b"),
    ("together", "zai-org/GLM-5.3"),
    ("fireworks", "accounts/fireworks/models/glm-5p3"),
];

/// Short names that users of Claude Code know.
const SHORT: [(&str, &str); 4] = [
    ("sonnet", "anthropic/claude-sonnet-5-5"),
    ("opus", "anthropic/claude-opus-5-5"),
    ("haiku", "anthropic/claude-haiku-5-5"),
    ("default", "anthropic/claude-sonnet-5-5"),
];

/// The whole name of the model that `typed` means: a name with its vendor, a short one, or one that vendors have. Of several vendors
/// the one with a key counts, then the order of [`PREFERRED`].
pub fn full_name(typed: &str, registry: &Registry) -> Result<String, ModelChoiceError> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err(ModelChoiceError::Empty);
    }
    if let Some((_, whole)) = SHORT.iter().find(|(short, _)| *short == typed) {
        return Ok((*whole).to_owned());
    }
    let has_vendor =
        typed.split_once('/').is_some_and(|(vendor, _)| registry.vendors().get(vendor).is_some());
    if has_vendor {
        return Ok(typed.to_owned());
    }
    let mut candidates = registry.candidates(typed);
    candidates.sort_by_key(|whole| {
        let vendor = whole.split('/').next().unwrap_or_default();
        let rank = PREFERRED.iter().position(|(preferred, _)| *preferred == vendor);
        (!registry.has_key(vendor).unwrap_or(false), rank.unwrap_or(PREFERRED.len()))
    });
    match candidates.into_iter().next() {
        Some(whole) => Ok(whole),
        // Models come faster than lists of them.
        None => guess(typed).ok_or_else(|| unknown(typed, registry)),
    }
}

fn unknown(name: &str, registry: &Registry) -> ModelChoiceError {
    let vendors: Vec<&str> = registry.vendors().ids().take(4).collect();
    let (name, nearest) = (name.to_owned(), nearest_name(name, registry));
    ModelChoiceError::Unknown { name, nearest, vendors: vendors.join(", ") }
}

/// The name that `typed` looks like: a short one, or one that a vendor has, with or without the vendor.
fn nearest_name(typed: &str, registry: &Registry) -> Option<String> {
    let catalogue = Catalogue::builtin();
    let whole =
        |vendor: &str| -> Vec<String> { catalogue.ids(vendor).map(|id| format!("{vendor}/{id}")).collect() };
    let known: Vec<String> = registry.vendors().ids().flat_map(whole).collect();
    let plain = known.iter().filter_map(|whole| whole.split_once('/')).map(|(_, id)| id);
    let short = SHORT.iter().map(|(short, _)| *short);
    nearest(typed, short.chain(plain).chain(known.iter().map(String::as_str))).map(str::to_owned)
}

/// The vendor whose models have names like this.
fn guess(typed: &str) -> Option<String> {
    const BEGINNINGS: [(&str, &str); 6] = [
        ("claude-", "anthropic"),
        ("gpt-", "openai"),
        ("gemini-", "google"),
        ("grok-", "xai"),
        ("deepseek-", "deepseek"),
        ("kimi-", "moonshot"),
    ];
    let (_, vendor) = BEGINNINGS.iter().find(|(beginning, _)| typed.starts_with(beginning))?;
    Some(format!("{vendor}/{typed}"))
}
