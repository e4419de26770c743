//! Model aliases: with and without date, version, region or maker. Pure.

/// Region prefixes of Bedrock model ids.
const REGIONS: [&str; 10] = ["us", "eu", "apac", "jp", "au", "ca", "in", "global", "us-gov", "sa"];

/// Maker names used by gateways, and the vendor whose catalog lists their models.
const MAKERS: [(&str, &str); 21] = [
    ("alibaba", "qwen"),
    ("anthropic", "anthropic"),
    ("deepseek", "deepseek"),
    ("deepseek-ai", "deepseek"),
    ("google", "google"),
    ("minimax", "minimax"),
    ("minimaxai", "minimax"),
    ("mistral", "mistral"),
    ("mistral-ai", "mistral"),
    ("mistralai", "mistral"),
    ("moonshot", "moonshot"),
    ("moonshotai", "moonshot"),
    ("openai", "openai"),
    ("perplexity", "perplexity"),
    ("qwen", "qwen"),
    ("x-ai", "xai"),
    ("xai", "xai"),
    ("z-ai", "zai"),
    ("zai", "zai"),
    ("zai-org", "zai"),
    ("zhipuai", "zai"),
];

/// Strips what services add to a name: `us.anthropic.claude-opus-4-5-20251101-v1:0` becomes
/// `anthropic.claude-opus-4-5`. All aliases of a model give the same result.
pub(super) fn plain(id: &str) -> String {
    let id = id.to_ascii_lowercase();
    // A name can be the end of a path: `models/gemini-2.5-pro`, or an ARN.
    let id = match id.strip_prefix("models/") {
        Some(rest) => rest,
        None if id.starts_with("arn:") => id.rsplit('/').next().unwrap_or(&id),
        None => &id,
    };
    let id = without_region(id);
    let id = id.trim_start_matches('~');
    let id = id.split_once('@').map_or(id, |(name, _)| name);
    let id = without_version(id.split_once(':').map_or(id, |(name, _)| name));
    let id = id.strip_suffix("-latest").unwrap_or(id);
    without_date(id).replace('.', "-")
}

/// The ids of the same model in other regions, most likely first.
pub(super) fn other_regions(id: &str) -> Vec<String> {
    let bare = without_region(id);
    let at = |region: &str| format!("{region}.{bare}");
    if id.len() == bare.len() {
        vec![at("global"), at("us")]
    } else if id.starts_with("global.") {
        vec![bare.to_owned()]
    } else {
        vec![at("us"), bare.to_owned(), at("global")]
    }
}

/// The vendor whose catalog lists the model, and its name there, if the id starts with its maker's name.
pub(super) fn maker(id: &str) -> Option<(&'static str, &str)> {
    let id = without_region(id).trim_start_matches('~');
    let (maker, name) = id.split_once('/').or_else(|| id.split_once('.'))?;
    let maker = maker.to_ascii_lowercase();
    let (_, vendor) = MAKERS.iter().find(|(known, _)| *known == maker)?;
    Some((vendor, name))
}

fn without_region(id: &str) -> &str {
    let rest = id.split_once('.').filter(|(region, _)| REGIONS.contains(region));
    rest.map_or(id, |(_, rest)| rest)
}

/// Strips a trailing `-v1`, and `-v2` and so on after a date. Without a date, a later version is a different model.
fn without_version(id: &str) -> &str {
    let Some((name, version)) = id.rsplit_once("-v") else { return id };
    let is_number = version.len() == 1 && version.bytes().all(|byte| byte.is_ascii_digit());
    if version == "1" || (is_number && without_date(name).len() < name.len()) { name } else { id }
}

/// Strips a trailing `-20250929` or `-2025-09-29`.
fn without_date(id: &str) -> &str {
    let is_date = |(_, tail): &(&str, &str)| {
        let digits = tail.bytes().filter(u8::is_ascii_digit).count();
        let is_plain = tail.len() == 8 && digits == 8;
        let is_dashed = tail.len() == 10 && digits == 8 && tail.split('-').map(str::len).eq([4, 2, 2]);
        (is_plain || is_dashed) && tail.starts_with("20")
    };
    let short = id.rsplit_once('-').filter(is_date);
    let dashed = id.len().checked_sub(11).and_then(|at| id.split_at_checked(at));
    let dashed = dashed.and_then(|(name, tail)| Some((name, tail.strip_prefix('-')?))).filter(is_date);
    short.or(dashed).map_or(id, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_of_a_model_are_normalized_to_the_same_name() {
        for (id, name) in [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic-claude-sonnet-4-5"),
            ("arn:aws:bedrock:us-east-1:1:inference-profile/eu.amazon.nova-pro-v1:0", "amazon-nova-pro"),
            ("models/gemini-2.5-pro", "gemini-2-5-pro"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("mistral-large-latest", "mistral-large"),
            ("anthropic/claude-opus-4.5:thinking", "anthropic/claude-opus-4-5"),
            ("deepseek-r1-0528", "deepseek-r1-0528"),
            ("anthropic.claude-3-5-sonnet-20241022-v2:0", "anthropic-claude-3-5-sonnet"),
            ("amazon.nova-pro-v1:0", "amazon-nova-pro"),
            ("amazon.nova-pro-v2:0", "amazon-nova-pro-v2"),
            ("deepseek-ai/DeepSeek-V3", "deepseek-ai/deepseek-v3"),
            ("", ""),
            ("ü-ü-ü-ü-ü-ü", "ü-ü-ü-ü-ü-ü"),
        ] {
            assert_eq!(plain(id), name, "{id}");
        }
    }

    #[test]
    fn maker_is_read_from_the_name() {
        assert_eq!(maker("anthropic/claude-opus-5"), Some(("anthropic", "claude-opus-5")));
        assert_eq!(maker("us.anthropic.claude-opus-5"), Some(("anthropic", "claude-opus-5")));
        assert_eq!(maker("Qwen/Qwen3-32B"), Some(("qwen", "Qwen3-32B")));
        assert_eq!(maker("acme/m"), None);
        assert_eq!(maker("gpt-5"), None);
    }
}
