//! Tests of the bundled models: every file parses, every model is plausible.

use std::collections::BTreeSet;

use rheon_types::{ModelInfo, Rates, ThinkingLevel};

use super::bundle::{FILES, Models};
use super::model::ThinkingStyle;
use crate::toml_text::Source;
use crate::vendor::Vendors;

/// A higher price is a misplaced decimal point: 1,000 dollars per million tokens.
const PRICE_MAX: u64 = 1_000_000_000;

fn read(file: &str, text: &str) -> Models {
    Models::read(Source { text, file }).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_file_parses_and_belongs_to_a_vendor() {
    for (id, text) in FILES {
        let models = read(id, text);
        assert!(Vendors::builtin().get(id).is_some(), "{id} is no vendor");
        assert!(!models.by_id.is_empty() || models.same_as.is_some(), "{id} has no models");
        if let Some(same_as) = &models.same_as {
            assert!(FILES.iter().any(|(name, _)| name == same_as), "{id} is the same as {same_as}");
        }
    }
}

#[test]
fn every_model_is_plausible() {
    for (vendor, text) in FILES {
        for (id, model) in read(vendor, text).by_id {
            let ModelInfo { known, context_tokens, output_tokens_max, prices, .. } = *model.info;
            assert!(known, "{vendor}/{id}");
            assert!((4_096..=20_000_000).contains(&context_tokens), "{vendor}/{id}: {context_tokens}");
            // At most half of the context window, so that there is room for the prompt.
            assert!(
                u64::from(output_tokens_max) * 2 <= context_tokens && output_tokens_max >= 1_024,
                "{vendor}/{id}"
            );
            for rates in
                prices.into_iter().flat_map(|prices| [Some(prices.base), prices.long.map(|(_, long)| long)])
            {
                let Rates { input, output, cache_read, cache_write } = rates.unwrap_or_default();
                assert!(
                    [input, output, cache_read, cache_write].iter().all(|rate| *rate < PRICE_MAX),
                    "{vendor}/{id}"
                );
                assert!(cache_read <= input, "{vendor}/{id}: what is cached costs more");
            }
            if let Some((above, long)) = prices.and_then(|prices| prices.long) {
                assert!(above < context_tokens && long.input > 0, "{vendor}/{id}: {above}");
            }
            assert_thinking(&format!("{vendor}/{id}"), &model.thinking, output_tokens_max);
        }
    }
}

fn assert_thinking(name: &str, thinking: &ThinkingStyle, output_tokens_max: u32) {
    match thinking {
        ThinkingStyle::Levels(levels) => {
            use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off};
            let order = [Off, Minimal, Low, Medium, High, Max];
            let positions = levels.iter().map(|level| order.iter().position(|other| other == level));
            assert!(positions.is_sorted_by(|a, b| a < b), "{name}: {levels:?}");
        }
        ThinkingStyle::Budget { min, max, .. } => assert!(min < max && *max <= output_tokens_max, "{name}"),
        ThinkingStyle::None | ThinkingStyle::Toggle | ThinkingStyle::Always => {}
    }
}

#[test]
fn ids_are_unique_and_the_bundle_is_small() {
    let mut bytes = 0;
    for (vendor, text) in FILES {
        bytes += text.len();
        let ids: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix('"')?.split('"').next()).collect();
        let distinct: BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(ids.len(), distinct.len(), "{vendor}");
        assert_eq!(ids.len(), read(vendor, text).by_id.len(), "{vendor}");
    }
    assert!(bytes < 150_000, "{bytes} bytes");
}
