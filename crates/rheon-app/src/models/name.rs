//! Names of models: what people write becomes `vendor/model`.

use rheon_providers::{Catalog, Registry};
use rheon_text::nearest;

use super::error::ModelChoiceError;

/// Vendors in the order of preference, each with its default model.
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
        None => guess(typed).ok_or_else(|| ModelChoiceError::Unknown {
            name: typed.to_owned(),
            advice: advice(typed, registry),
        }),
    }
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

/// A suggestion for an unknown name: the similar model with its full name, or the form of a valid name.
fn advice(typed: &str, registry: &Registry) -> String {
    match looks_like(typed, registry) {
        Some(whole) => format!("did you mean {whole}?"),
        None => {
            let vendors: Vec<&str> = registry.vendors().ids().take(4).collect();
            format!("write vendor/model ({} ...);", vendors.join(", "))
        }
    }
}

/// The model whose short name, own name or whole name is nearly this.
fn looks_like(typed: &str, registry: &Registry) -> Option<String> {
    if let Some(short) = nearest(typed, SHORT.iter().map(|(short, _)| *short)) {
        return SHORT.iter().find(|(name, _)| *name == short).map(|(_, whole)| (*whole).to_owned());
    }
    let (vendors, catalog) = (registry.vendors(), Catalog::builtin());
    if let Some((vendor, model)) = typed.split_once('/') {
        let vendor = nearest(vendor, vendors.ids()).filter(|_| !model.is_empty())?;
        let model = nearest(model, catalog.ids(vendor)).unwrap_or(model);
        return Some(format!("{vendor}/{model}"));
    }
    // Vendors with a key first, then as they are preferred: many have the same models.
    let mut ids: Vec<&str> = vendors.ids().collect();
    ids.sort_by_key(|id| {
        let rank = PREFERRED.iter().position(|(preferred, _)| preferred == id);
        (!registry.has_key(id).unwrap_or(false), rank.unwrap_or(PREFERRED.len()))
    });
    let models = ids.iter().flat_map(|vendor| catalog.ids(vendor).map(move |model| (*vendor, model)));
    let known: Vec<(&str, &str)> = models.collect();
    let model = nearest(typed, known.iter().map(|(_, model)| *model))?;
    known.iter().find(|(_, known)| *known == model).map(|(vendor, model)| format!("{vendor}/{model}"))
}
