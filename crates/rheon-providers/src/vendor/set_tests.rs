//! Tests of the bundled vendors and of vendors added by users.

use std::time::Duration;

use expect_test::expect;

use super::set::{FILES, read_file};
use super::{AuthScheme, AuthSpec, ProbeMethod, Vendor, VendorPaths, Vendors};
use crate::compat::{Compat, ThinkingRequest, TokensField, ToolStyle};
use crate::wire::WireKind;

const NEEDED: [&str; 28] = [
    "anthropic",
    "openai",
    "azure",
    "google",
    "vertex",
    "bedrock",
    "openrouter",
    "xai",
    "groq",
    "cerebras",
    "mistral",
    "deepseek",
    "together",
    "fireworks",
    "nvidia",
    "perplexity",
    "moonshot",
    "zai",
    "minimax",
    "qwen",
    "huggingface",
    "github-models",
    "vercel",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
    "custom",
];

fn add(text: &str) -> Result<Vendors, String> {
    Vendors::builtin().with(text, "config.toml").map_err(|error| error.to_string())
}

#[test]
fn every_file_parses_and_is_documented() {
    for (id, text) in FILES {
        let vendor = read_file(id, text).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(!vendor.name.is_empty() && vendor.docs.starts_with("https://"), "{id}");
        assert!(!vendor.base_url.ends_with('/'), "{id}");
        assert_eq!(vendor, *Vendors::builtin().get(id).unwrap());
        for variable in vendor.variables.values() {
            assert!(!variable.help.is_empty(), "{id}");
            assert!(!variable.env.is_empty() || variable.default.is_some(), "{id}");
        }
    }
    for id in NEEDED {
        assert!(Vendors::builtin().get(id).is_some(), "{id}");
    }
    assert_eq!(Vendors::builtin().iter().count(), FILES.len());
    assert_eq!(Vendors::builtin().get("acme"), None);
}

#[test]
fn every_wire_and_scheme_has_a_vendor() {
    let vendors: Vec<_> = Vendors::builtin().iter().collect();
    for wire in WireKind::ALL {
        assert!(vendors.iter().any(|vendor| vendor.wire == wire), "{wire:?}");
    }
    for scheme in ["header", "bearer", "query", "aws", "google", "anthropic"] {
        assert!(vendors.iter().any(|vendor| vendor.auth.scheme.as_str() == scheme), "{scheme}");
    }
}

#[test]
fn local_server_may_be_slow_and_is_probed() {
    let ollama = Vendors::builtin().get("ollama").unwrap();
    assert_eq!(
        (ollama.probe(), ollama.first_byte_timeout()),
        (Some(ProbeMethod::OllamaShow), Some(Duration::from_secs(600)))
    );
    let openai = Vendors::builtin().get("openai").unwrap();
    assert_eq!((openai.probe(), openai.first_byte_timeout()), (None, None));
}

#[test]
fn user_adds_a_vendor_with_three_keys() {
    let text = r#"
        theme = "of another reader"

        [vendors.acme-ai]
        wire = "chat"
        base_url = "https://api.acme.example/v1"
        auth = { scheme = "bearer" }
    "#;
    let vendor = add(text).unwrap().get("acme-ai").unwrap();
    assert_eq!(
        *vendor,
        Vendor {
            id: "acme-ai".into(),
            name: "acme-ai".into(),
            docs: String::new(),
            wire: WireKind::Chat,
            base_url: "https://api.acme.example/v1".into(),
            base_url_env: vec!["ACME_AI_BASE_URL".into()],
            paths: VendorPaths::default(),
            headers: [].into(),
            variables: [].into(),
            auth: AuthSpec {
                scheme: AuthScheme::Bearer,
                key_env: vec!["ACME_AI_API_KEY".into()],
                api_key_command: None,
                optional: false,
            },
            compat: Compat::default(),
            local: super::LocalServer::default(),
        }
    );
}

#[test]
fn user_changes_a_vendor_and_keeps_the_rest() {
    let text = r#"
        [vendors.groq]
        auth.api_key_command = "pass show groq"
        compat.tools = "lenient"
    "#;
    let (before, after) = (Vendors::builtin().get("groq").unwrap(), add(text).unwrap().get("groq").unwrap());
    let mut expected = Vendor::clone(&before);
    expected.auth.api_key_command = Some("pass show groq".into());
    expected.compat.tools = ToolStyle::Lenient;
    assert_eq!(*after, expected);
    let again =
        add(text).unwrap().with("[vendors.groq]\nname = \"G\"", "b.toml").unwrap().get("groq").unwrap();
    assert_eq!(*again, Vendor { name: "G".into(), ..expected });
}

#[test]
fn extended_vendor_does_not_get_the_others_key() {
    let text = r#"
        [vendors.west]
        extends = "east"
        base_url = "https://west.example"

        [vendors.east]
        extends = "qwen"
        base_url = "https://east.example"
        compat.tokens_field = "max_completion_tokens"

        [vendors.proxy]
        extends = "azure"
        base_url = "https://proxy.example"
        paths.request = "/responses"
        auth = { scheme = "bearer", key_env = ["PROXY_TOKEN"] }
    "#;
    let vendors = add(text).unwrap();
    let west = vendors.get("west").unwrap();
    let key = ["WEST_API_KEY".to_owned()];
    assert_eq!((west.auth.key_env.as_slice(), west.auth.scheme.clone()), (&key[..], AuthScheme::Bearer));
    assert_eq!(west.base_url_env, ["WEST_BASE_URL"]);
    assert_eq!(
        (west.compat.thinking, west.compat.tokens_field),
        (ThinkingRequest::EnableThinking, TokensField::MaxCompletionTokens)
    );
    let proxy = vendors.get("proxy").unwrap();
    assert_eq!(proxy.auth.scheme, AuthScheme::Bearer);
    assert_eq!(proxy.auth.key_env, ["PROXY_TOKEN"]);
    assert_eq!(vendors.ids().filter(|id| ["east", "proxy", "west"].contains(id)).count(), 3);
}

#[test]
fn errors_have_a_position() {
    let whole = "wire = \"chat\"\nbase_url = \"https://a.example\"\nauth = { scheme = \"none\" }\n";
    let problems = [
        "[vendors.a]\nwire = \"chat\"\nbase_ulr = \"https://a.example\"".to_owned(),
        "[vendors.a]\nwire = \"chatt\"".to_owned(),
        "[vendors.a]\nwire = 3".to_owned(),
        "[vendors.a]\nwire = \"chat\"\nbase_url = \"https://a.example\"".to_owned(),
        format!("[vendors.a]\n{whole}[vendors.a.compat]\nstream_usage = \"yes\""),
        format!("[vendors.a]\n{whole}[vendors.a.compat]\nthinkin = \"none\""),
        format!("[vendors.A]\n{whole}"),
        format!("[vendors.a]\n{whole}paths.request = \"chat\""),
        format!("[vendors.a]\n{whole}paths.request = \"/{{tenant}}/chat\""),
        "[vendors.a]\nextends = \"opnai\"".to_owned(),
        "[vendors.a]\nextends = 3".to_owned(),
        "[vendors.a]\nextends = \"b\"\n[vendors.b]\nextends = \"a\"".to_owned(),
        "[vendors.a]\nwire = \"chat\"\nbase_url = \"x\"\nauth = { scheme = \"header\" }".to_owned(),
        "[vendors.a]\nwire = \"chat\"\nbase_url = \"x\"\nauth = { scheme = \"bearer\", header = \"x\" }"
            .to_owned(),
        "[vendors.a]\nwire = \"chat\"\nbase_url = \"x\"\nauth = { scheme = \"bearer\", key = \"sk\" }"
            .to_owned(),
        "[vendors.openai]\nbase_ur = \"x\"".to_owned(),
        "vendors = []".to_owned(),
        "[vendors]\na = 1".to_owned(),
        "[vendors.a\n".to_owned(),
    ]
    .map(|text| add(&text).err().unwrap_or_else(|| format!("no error: {text}")));
    expect![[r#"
        cannot read config.toml: line 3, column 1: unknown key "base_ulr"; did you mean "base_url"?
        cannot read config.toml: line 2, column 8: unknown value "chatt"; did you mean "chat"?
        cannot read config.toml: line 2, column 8: wrong type; wanted string or table
        cannot read config.toml: line 1, column 10: the key "auth" is missing; add it
        cannot read config.toml: line 6, column 16: invalid type: string "yes", expected a boolean
        cannot read config.toml: line 6, column 1: unknown key "thinkin"; did you mean "thinking"?
        cannot read config.toml: line 1, column 10: a vendor name may only contain lower-case letters, digits and - _ .; rename it
        cannot read config.toml: line 1, column 10: "paths.request" must start with /
        cannot read config.toml: line 1, column 10: {tenant} is used but not defined; add [variables.tenant]
        cannot read config.toml: line 2, column 11: cannot extend unknown vendor "opnai"; did you mean "openai"?
        cannot read config.toml: line 2, column 11: "extends" must be the name of a vendor
        cannot read config.toml: line 1, column 10: vendors extend each other in a cycle; break it
        cannot read config.toml: line 4, column 8: the key "header" is missing; this scheme needs it
        cannot read config.toml: line 4, column 8: the key "header" is not valid for this scheme; remove it
        cannot read config.toml: line 4, column 29: unknown key "key"; expected one of scheme, header, parameter, service, key_env, api_key_command, optional
        cannot read config.toml: line 2, column 1: unknown key "base_ur"; did you mean "base_url"?
        cannot read config.toml: line 1, column 11: "vendors" must be a table of tables, [vendors.name]
        cannot read config.toml: line 2, column 1: vendors.a must be a table
        cannot read config.toml: line 1, column 11: unclosed table, expected `]`"#]].assert_eq(&problems.join("\n"));
}

#[test]
fn file_size_of_user_vendors_has_a_limit() {
    let cap = crate::toml_text::TEXT_BYTES_MAX;
    assert!(add(&"#".repeat(cap)).is_ok());
    assert_eq!(
        add(&"#".repeat(cap + 1)).unwrap_err(),
        "cannot read config.toml: line 1, column 1: larger than 1048576 bytes; make it smaller"
    );
}

#[test]
fn any_text_is_parsed_or_refused() {
    use proptest::prelude::*;
    proptest!(|(text in r#"(\[vendors(\.[a-z"ü]{0,3})?\]|[a-z_]{1,9} = [0-9"{}\[\]a-z]{0,6}|\n|extends = "[a-z]{1,2}"){0,12}"#)| {
        add(&text).ok();
    });
}

#[test]
fn deeply_nested_text_is_refused() {
    let deep = 100_000;
    for text in [
        format!("vendors = {}", "[".repeat(deep)),
        format!("vendors = {}1{}", "[".repeat(deep), "]".repeat(deep)),
        format!("vendors = {}", "{a=".repeat(deep)),
        format!("[vendors.x]\nheaders{} = 1", ".a".repeat(deep)),
        format!("[vendors{}]", ".a".repeat(deep)),
    ] {
        assert!(Vendors::builtin().with(&text, "config.toml").is_err());
    }
}
