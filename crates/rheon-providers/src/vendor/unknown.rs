//! Models that the catalog does not have: their thinking is set as most models of their wire have it. Pure.

use std::sync::Arc;

use rheon_types::{ModelInfo, ThinkingLevel};

use super::spec::Vendor;
use crate::catalog::{Catalog, Model, ThinkingStyle};
use crate::wire::WireKind;

impl Vendor {
    /// What is known of the vendor's model `id`, or what is assumed of it.
    pub fn model(&self, catalog: &Catalog, id: &str) -> Arc<Model> {
        catalog.model_or(&self.id, id, || unknown_model(self.wire, id))
    }
}

/// A model that nothing is known of but what its service speaks.
pub(crate) fn unknown_model(wire: WireKind, id: &str) -> Model {
    use ThinkingLevel::{High, Low, Max, Medium};
    // Below the longest answer that is assumed, because the budget is part of the answer.
    let budget =
        |min| ThinkingStyle::Budget { min, max: ModelInfo::OUTPUT_TOKENS_UNKNOWN / 2, can_disable: true };
    // "Off" is not among the levels: not every service takes it, and saying nothing is always right.
    let thinking = match wire {
        // A Claude that is not in the catalog is newer than it, and the newer ones take levels only.
        WireKind::Anthropic | WireKind::Bedrock if id.contains("claude-") => {
            ThinkingStyle::Levels(vec![Low, Medium, High, Max])
        }
        WireKind::Anthropic => budget(1024),
        WireKind::Gemini if id.contains("gemini-2") => budget(512),
        WireKind::Gemini if id.contains("gemini-") => ThinkingStyle::Levels(vec![Low, Medium, High]),
        WireKind::Chat | WireKind::Responses => ThinkingStyle::Levels(vec![Low, Medium, High]),
        // The other models there have no setting in common.
        WireKind::Gemini | WireKind::Bedrock => ThinkingStyle::None,
    };
    Model { thinking, ..Model::unknown(id) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::vendor::Vendors;

    #[test]
    fn an_unknown_model_works_with_the_fallbacks_of_its_wire() {
        let style = |(wire, id): (WireKind, &str)| {
            let model = unknown_model(wire, id);
            assert_eq!(*model.info, ModelInfo::unknown(id));
            format!("{} {id}: {:?}", wire.as_str(), model.thinking)
        };
        let styles = [
            (WireKind::Anthropic, "m"),
            (WireKind::Anthropic, "claude-next-9"),
            (WireKind::Chat, "m"),
            (WireKind::Responses, "m"),
            (WireKind::Gemini, "m"),
            (WireKind::Gemini, "gemini-2.9"),
            (WireKind::Gemini, "gemini-9"),
            (WireKind::Bedrock, "m"),
            (WireKind::Bedrock, "us.anthropic.claude-next-9"),
        ];
        expect![[r#"
            anthropic m: Budget { min: 1024, max: 4096, can_disable: true }
            anthropic claude-next-9: Levels([Low, Medium, High, Max])
            chat m: Levels([Low, Medium, High])
            responses m: Levels([Low, Medium, High])
            gemini m: None
            gemini gemini-2.9: Budget { min: 512, max: 4096, can_disable: true }
            gemini gemini-9: Levels([Low, Medium, High])
            bedrock m: None
            bedrock us.anthropic.claude-next-9: Levels([Low, Medium, High, Max])"#]]
        .assert_eq(&styles.map(style).join("\n"));
    }

    #[test]
    fn a_vendor_knows_its_models_and_assumes_the_rest() {
        let (groq, catalog) = (Vendors::builtin().get("groq").unwrap(), Catalog::builtin());
        assert!(groq.model(&catalog, "openai/gpt-oss-120b").info.prices.is_some());
        assert_eq!(*groq.model(&catalog, "m"), unknown_model(WireKind::Chat, "m"));
    }

    #[test]
    fn every_vendor_with_models_speaks_a_wire_that_can_set_their_thinking() {
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
