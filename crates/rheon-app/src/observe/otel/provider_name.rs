//! The names that the GenAI conventions have for services.

/// Our name of a vendor, and the one of the conventions, where they differ.
const NAMES: [(&str, &str); 10] = [
    ("azure", "azure.ai.openai"),
    ("azure-chat", "azure.ai.openai"),
    ("bedrock", "aws.bedrock"),
    ("google", "gcp.gemini"),
    ("mistral", "mistral_ai"),
    ("moonshot", "moonshot_ai"),
    ("openai-chat", "openai"),
    ("vertex", "gcp.vertex_ai"),
    ("vertex-express", "gcp.vertex_ai"),
    ("xai", "x_ai"),
];

/// The name of a vendor by the conventions; ours, where they have none.
pub(super) fn provider_name(vendor: &str) -> &str {
    NAMES.iter().find(|(ours, _)| *ours == vendor).map_or(vendor, |(_, theirs)| theirs)
}
