//! Models without a catalog entry: thinking follows the defaults of their wire. Pure.

use std::sync::Arc;

use rheon_types::{ModelInfo, ThinkingLevel};

use super::spec::Vendor;
use crate::catalog::{Catalog, Model, ThinkingStyle};
use crate::wire::WireKind;

impl Vendor {
    /// The catalog entry of the vendor's model `id`, or defaults.
    pub fn model(&self, catalog: &Catalog, id: &str) -> Arc<Model> {
        catalog.model_or(&self.id, id, || unknown_model(self.wire, id))
    }
}

/// Defaults for a model of which only the wire is known.
pub(crate) fn unknown_model(wire: WireKind, id: &str) -> Model {
    use ThinkingLevel::{High, Low, Max, Medium};
    // Below the assumed output limit, because the budget is part of the output.
    let budget =
        |min| ThinkingStyle::Budget { min, max: ModelInfo::OUTPUT_TOKENS_UNKNOWN / 2, can_disable: true };
    // "Off" is not among the levels: not every service accepts it, and omitting it is always valid.
    let thinking = match wire {
        WireKind::Anthropic | WireKind::Bedrock if id.contains("claude-") => match claude_version(id) {
            Some((0..=2, _) | (3, 0..=6)) => ThinkingStyle::None,
            Some((3, _) | (4, 0..=5)) => budget(1024),
            // Newer models only accept levels.
            Some(_) | None => ThinkingStyle::Levels(vec![Low, Medium, High, Max]),
        },
        WireKind::Anthropic => budget(1024),
        WireKind::Gemini if id.contains("gemini-2") => budget(512),
        WireKind::Gemini if id.contains("gemini-") => ThinkingStyle::Levels(vec![Low, Medium, High]),
        WireKind::Chat | WireKind::Responses => ThinkingStyle::Levels(vec![Low, Medium, High]),
        // The other models there have no common setting.
        WireKind::Gemini | WireKind::Bedrock => ThinkingStyle::None,
    };
    Model { thinking, ..Model::unknown(id) }
}

/// The version in the name of a Claude model, for instance (3, 5) of `claude-3-5-sonnet-20240620` or (4, 0) of
/// `claude-opus-4-20250514`.
fn claude_version(id: &str) -> Option<(u32, u32)> {
    let (_, name) = id.split_once("claude-")?;
    let number = |part: &str| {
        let digits = part.trim_start_matches('v');
        digits.parse::<u32>().ok().filter(|_| digits.len() <= 2)
    };
    let mut parts = name.split(['-', '.', '@', ':']).skip_while(|part| number(part).is_none());
    let major = parts.next().and_then(number)?;
    Some((major, parts.next().and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::vendor::Vendors;

    #[test]
    fn unknown_model_uses_the_defaults_of_its_wire() {
        let style = |(wire, id): (WireKind, &str)| {
            let model = unknown_model(wire, id);
            assert_eq!(*model.info, ModelInfo::unknown(id));
            format!("{} {id}: {:?}", wire.as_str(), model.thinking)
        };
        let styles = [
            (WireKind::Anthropic, "m"),
            (WireKind::Anthropic, "claude-next-9"),
            (WireKind::Anthropic, "claude-2.1"),
            (WireKind::Anthropic, "claude-3-5-sonnet-20240620"),
            (WireKind::Anthropic, "claude-3-7-sonnet-latest"),
            (WireKind::Anthropic, "claude-opus-4-20250514"),
            (WireKind::Anthropic, "claude-opus-4-9"),
            (WireKind::Chat, "m"),
            (WireKind::Responses, "m"),
            (WireKind::Gemini, "m"),
            (WireKind::Gemini, "gemini-2.9"),
            (WireKind::Gemini, "gemini-9"),
            (WireKind::Bedrock, "m"),
            (WireKind::Bedrock, "us.anthropic.claude-next-9"),
            (WireKind::Bedrock, "anthropic.claude-v2:1"),
            (WireKind::Bedrock, "anthropic.claude-3-haiku-20240307-v1:0"),
        ];
        expect![[r#"
            anthropic m: Budget { min: 1024, max: 4096, can_disable: true }
            anthropic claude-next-9: Levels([Low, Medium, High, Max])
            anthropic claude-2.1: None
            anthropic claude-3-5-sonnet-20240620: None
            anthropic claude-3-7-sonnet-latest: Budget { min: 1024, max: 4096, can_disable: true }
            anthropic claude-opus-4-20250514: Budget { min: 1024, max: 4096, can_disable: true }
            anthropic claude-opus-4-9: Levels([Low, Medium, High, Max])
            chat m: Levels([Low, Medium, High])
            responses m: Levels([Low, Medium, High])
            gemini m: None
            gemini gemini-2.9: Budget { min: 512, max: 4096, can_disable: true }
            gemini gemini-9: Levels([Low, Medium, High])
            bedrock m: None
            bedrock us.anthropic.claude-next-9: Levels([Low, Medium, High, Max])
            bedrock anthropic.claude-v2:1: None
            bedrock anthropic.claude-3-haiku-20240307-v1:0: None"#]]
        .assert_eq(&styles.map(style).join("\n"));
    }

    #[test]
    fn vendor_knows_its_models_and_uses_defaults_for_others() {
        let (groq, catalog) = (Vendors::builtin().get("groq").unwrap(), Catalog::builtin());
        assert!(groq.model(&catalog, "openai/gpt-oss-120b").info.prices.is_some());
        assert_eq!(*groq.model(&catalog, "m"), unknown_model(WireKind::Chat, "m"));
    }

    #[test]
    fn every_vendors_wire_supports_the_thinking_of_its_models() {
        for vendor in Vendors::builtin().iter() {
            for id in Catalog::builtin().ids(&vendor.id) {
                let model = vendor.model(&Catalog::builtin(), id);
                let is_budget = matches!(model.thinking, ThinkingStyle::Budget { .. });
                assert!(!is_budget || vendor.wire != WireKind::Responses, "{}/{id}", vendor.id);
                assert!(model.info.known, "{}/{id}", vendor.id);
            }
        }
    }
}
