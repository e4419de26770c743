//! Where keys come from, in a word.

use std::collections::BTreeMap;

use rheon_providers::{ProviderEnv, Vendors};
use secrecy::SecretString;

use super::key_source;
use crate::config::ServiceSettings;

#[test]
fn the_source_of_a_key_is_named_and_never_the_key() {
    let environment = ProviderEnv::new(|name| (name == "ANTHROPIC_API_KEY").then(|| "secret".to_owned()));
    let vendors = Vendors::builtin()
        .with("[vendors.openai]\nauth.api_key_command = \"pass show x\"\n", "a file")
        .unwrap();
    let keys = BTreeMap::from([("groq".to_owned(), SecretString::from("secret"))]);
    let settings = ServiceSettings { vendors, keys };
    let sources = ["anthropic", "openai", "groq", "ollama", "xai", "bedrock", "nobody"];
    let said = sources.map(|vendor| key_source(&settings, &environment, vendor));
    assert_eq!(said, ["ANTHROPIC_API_KEY", "apiKeyHelper", "settings", "none", "none", "aws", "none"]);
}
