//! Generates `docs/PROVIDERS.md` from the data.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::catalog::{Catalog, ThinkingStyle};
use crate::compat::{CacheStyle, StructuredOutput, ThinkingRequest, ToolStyle};
use crate::vendor::{AuthScheme, AuthSpec, Vendor, Vendors, unknown_model};
use crate::wire::WireKind;

/// The text of `docs/PROVIDERS.md`.
pub fn providers_markdown() -> String {
    let mut page = String::new();
    page.push_str(INTRODUCTION);
    page.push_str(&vendor_table());
    page.push_str(&feature_table());
    page.push_str(&variable_table());
    page.push_str(OWN_VENDOR);
    page.push_str(&compat_table());
    page.push_str(&model_table());
    page.push_str(&fallback_table());
    page.push_str(OWN_MODEL);
    page
}

const INTRODUCTION: &str = include_str!("docs/introduction.md");
const OWN_VENDOR: &str = include_str!("docs/own_vendor.md");
const OWN_MODEL: &str = include_str!("docs/own_model.md");

/// Each compatibility flag, its values (default first) and its meaning.
const FLAGS: [(&str, &str, &str); 12] = [
    ("tokens_field", "`max_tokens`, `max_completion_tokens`", "The name of the output limit field."),
    ("system_role", "`system`, `developer`", "The role of the system prompt."),
    (
        "thinking",
        "`effort`, `none`, `reasoning_object`, `thinking_type`, `enable_thinking`, `template_kwargs`",
        "How thinking is requested on the chat wire.",
    ),
    (
        "thinking_replay",
        "`none`, `reasoning_content`, `reasoning`, `reasoning_details`",
        "How the model's own thinking is sent back, if at all.",
    ),
    ("stream_usage", "`true`, `false`", "Whether to request usage in the stream."),
    ("tool_result_name", "`false`, `true`", "Whether a tool result must name its tool."),
    (
        "assistant_after_tool_result",
        "`false`, `true`",
        "Whether an assistant message is required between a tool result and the next user message.",
    ),
    ("call_id", "`any`, `word64`, `word40`, `alnum9`", "Which tool call ids the service accepts."),
    ("structured_output", "`json_schema`, `json_object`, `prompt`", "How structured output is requested."),
    ("cache", "`none`, `marks`, `points`, `key`", "How the prompt is marked for caching."),
    ("store_false", "`false`, `true`", "Whether to ask the service not to store the response."),
    (
        "tools",
        "`native`, `lenient`, `prompted`",
        "How the model receives tools: in the request; in the request, with tool calls written as text recovered; or in the prompt.",
    ),
];

/// A Markdown table below a heading.
fn table(heading: &str, head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("\n{heading}\n\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        // Writing to a string cannot fail.
        writeln!(text, "| {} |", row.join(" | ")).ok();
    }
    text
}

fn code(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn vendor_table() -> String {
    let row = |vendor: Arc<Vendor>| {
        let Vendor { id, name, docs, auth, .. } = &*vendor;
        let key = match (auth.key_env.is_empty(), auth.optional) {
            (true, _) => "".to_owned(),
            (false, true) => format!("{} (optional)", code(&auth.key_env)),
            (false, false) => code(&auth.key_env),
        };
        let wire = vendor.wire.as_str();
        vec![format!("`{id}`"), format!("[{name}]({docs})"), wire.to_owned(), auth_text(auth), key]
    };
    let head = ["id", "service", "wire", "auth", "API key"];
    table("## Vendors", &head, Vendors::builtin().iter().map(row))
}

fn auth_text(auth: &AuthSpec) -> String {
    match &auth.scheme {
        AuthScheme::Header { header } => format!("header `{header}`"),
        AuthScheme::Bearer => "bearer".to_owned(),
        AuthScheme::Query { parameter } => format!("query `{parameter}`"),
        AuthScheme::Aws { .. } => "AWS signature or bearer".to_owned(),
        AuthScheme::Google => "Google credentials".to_owned(),
        AuthScheme::Anthropic => "header `x-api-key` or OAuth bearer".to_owned(),
        AuthScheme::None => "none".to_owned(),
    }
}

fn feature_table() -> String {
    let row = |vendor: Arc<Vendor>| {
        vec![
            format!("`{}`", vendor.id),
            format!("`{}`", vendor.base_url),
            code(&vendor.base_url_env),
            structured_text(&vendor).to_owned(),
            cache_text(&vendor).to_owned(),
            thinking_text(&vendor).to_owned(),
            tool_text(vendor.compat.tools).to_owned(),
        ]
    };
    let head = ["id", "base URL", "override with", "structured output", "cache", "thinking", "tools"];
    table("## Base URLs and features", &head, Vendors::builtin().iter().map(row))
}

fn structured_text(vendor: &Vendor) -> &'static str {
    match vendor.compat.structured_output {
        StructuredOutput::JsonSchema => "yes",
        StructuredOutput::JsonObject => "JSON, schema in the prompt",
        StructuredOutput::Prompt => "in the prompt",
    }
}

fn cache_text(vendor: &Vendor) -> &'static str {
    match (vendor.wire, vendor.compat.cache) {
        (_, CacheStyle::Marks) => "marks",
        (_, CacheStyle::Points) => "cache points",
        (_, CacheStyle::Key) => "cache key",
        (_, CacheStyle::None) => "automatic",
    }
}

fn thinking_text(vendor: &Vendor) -> &'static str {
    match (vendor.wire, vendor.compat.thinking) {
        (WireKind::Anthropic | WireKind::Bedrock, _) => "budget or effort",
        (WireKind::Gemini, _) => "budget or level",
        (WireKind::Responses, _) => "effort",
        (WireKind::Chat, ThinkingRequest::None) => "no",
        (WireKind::Chat, ThinkingRequest::Effort) => "effort",
        (WireKind::Chat, ThinkingRequest::ReasoningObject) => "effort",
        (WireKind::Chat, ThinkingRequest::ThinkingType | ThinkingRequest::TemplateKwargs) => "on/off",
        (WireKind::Chat, ThinkingRequest::EnableThinking) => "on/off, budget",
    }
}

fn tool_text(tools: ToolStyle) -> &'static str {
    match tools {
        ToolStyle::Native => "native",
        ToolStyle::Lenient => "native, lenient",
        ToolStyle::Prompted => "prompted",
    }
}

fn variable_table() -> String {
    let rows = Vendors::builtin().iter().collect::<Vec<_>>();
    let rows = rows.iter().flat_map(|vendor| {
        vendor.variables.iter().map(|(name, variable)| {
            let default =
                variable.default.as_ref().map_or_else(|| "required".to_owned(), |text| format!("`{text}`"));
            let env = code(&variable.env);
            vec![format!("`{}`", vendor.id), format!("`{name}`"), env, default, variable.help.clone()]
        })
    });
    table("## URL variables", &["id", "variable", "environment variable", "default", "description"], rows)
}

fn compat_table() -> String {
    let rows = FLAGS.iter().map(|(flag, values, meaning)| {
        vec![format!("`{flag}`"), (*values).to_owned(), (*meaning).to_owned()]
    });
    table("## Compatibility flags", &["flag", "values (default first)", "meaning"], rows)
}

fn model_table() -> String {
    let catalog = Catalog::builtin();
    let vendors: Vec<_> = Vendors::builtin().iter().collect();
    let rows = vendors.iter().filter_map(|vendor| {
        let count = catalog.ids(&vendor.id).count();
        let example = catalog.ids(&vendor.id).next_back()?;
        Some(vec![format!("`{}`", vendor.id), count.to_string(), format!("`{}/{example}`", vendor.id)])
    });
    let rows: Vec<_> = rows.collect();
    table("## Known models", &["id", "models", "example"], rows.into_iter())
}

fn fallback_table() -> String {
    let style = |wire: WireKind, id: &str| match unknown_model(wire, id).thinking {
        ThinkingStyle::None => "not set".to_owned(),
        ThinkingStyle::Budget { min, max, .. } => format!("budget of {min} to {max} tokens"),
        ThinkingStyle::Levels(levels) => {
            levels.iter().map(|level| level.as_str()).collect::<Vec<_>>().join(", ")
        }
        ThinkingStyle::Toggle => "on/off".to_owned(),
        ThinkingStyle::Always => "always".to_owned(),
    };
    let rows = [
        (WireKind::Anthropic, "claude-…"),
        (WireKind::Anthropic, "others"),
        (WireKind::Bedrock, "…claude-…"),
        (WireKind::Bedrock, "others"),
        (WireKind::Chat, "all"),
        (WireKind::Gemini, "gemini-2…"),
        (WireKind::Gemini, "gemini-…"),
        (WireKind::Gemini, "others"),
        (WireKind::Responses, "all"),
    ];
    let rows =
        rows.into_iter().map(|(wire, id)| vec![wire.as_str().to_owned(), id.to_owned(), style(wire, id)]);
    table("## Unknown models", &["wire", "model", "thinking"], rows)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::compat::Compat;

    #[test]
    fn page_matches_the_data() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/PROVIDERS.md");
        expect_test::expect_file![path].assert_eq(&providers_markdown());
    }

    #[test]
    fn every_example_on_the_page_is_valid() {
        let page = providers_markdown();
        let examples: Vec<&str> =
            page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(examples.len() >= 4, "{}", examples.len());
        for example in examples {
            if let Err(error) = Vendors::builtin().with(example, "the page") {
                panic!("{error}");
            }
            if let Err(error) = Catalog::builtin().with(example, "the page") {
                panic!("{error}");
            }
        }
    }

    #[test]
    fn every_flag_is_documented() {
        let error = toml::from_str::<Compat>("x = 1").unwrap_err();
        let flags: Vec<&str> = error.message().split('`').skip(3).step_by(2).collect();
        assert_eq!(FLAGS.map(|(flag, _, _)| flag).as_slice(), flags);
    }

    #[test]
    fn every_documented_flag_value_is_valid() {
        let default = Compat::default();
        for (flag, values, _) in FLAGS {
            for (index, value) in values.split(", ").map(|value| value.trim_matches('`')).enumerate() {
                let text = match value {
                    "true" | "false" => format!("{flag} = {value}"),
                    word => format!("{flag} = {word:?}"),
                };
                let compat: Compat = toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!(index == 0, compat == default, "{text}");
            }
        }
    }
}
