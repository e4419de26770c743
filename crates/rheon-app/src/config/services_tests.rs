//! Vendors and keys: whom to ask, with which key, and that nobody sees it.

use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;
use secrecy::ExposeSecret as _;

use super::fixtures::Place;
use super::load::Config;

fn auth(config: &Config, vendor: &str) -> String {
    let vendor = config.settings.services.vendors.get(vendor).unwrap();
    format!("{} {} {:?} {:?}", vendor.id, vendor.base_url, vendor.auth.key_env, vendor.auth.api_key_command)
}

#[test]
fn a_key_has_four_places_and_none_is_looked_up_before_it_is_needed() {
    let place = Place::new().user(
        r#"[keys]
anthropic = { env = "WORK_KEY" }
openai = { command = ["pass", "show", "it's mine"] }
groq = { keyring = "work" }
mistral = "sk-literal"
"#,
    );
    let file = place.path("home/.config/rheon/config.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let config = place.load();
    let places = ["anthropic", "openai", "groq", "mistral"].map(|vendor| auth(&config, vendor));
    expect![[r#"
        anthropic https://api.anthropic.com ["WORK_KEY"] None
        openai https://api.openai.com/v1 ["OPENAI_API_KEY"] Some("'pass' 'show' 'it'\\''s mine'")
        groq https://api.groq.com/openai/v1 ["GROQ_API_KEY"] Some("'secret-tool' 'lookup' 'service' 'rheon' 'account' 'work'")
        mistral https://api.mistral.ai/v1 ["MISTRAL_API_KEY"] None"#]].assert_eq(&places.join("\n"));
    let keys = &config.settings.services.keys;
    assert_eq!(keys.len(), 1);
    assert_eq!(keys["mistral"].expose_secret(), "sk-literal");
    let shown = place.shown(&config);
    expect![[r#"
        keys.anthropic = { env = "WORK_KEY" } [/home/.config/rheon/config.toml:2]
        keys.groq = { keyring = "work" } [/home/.config/rheon/config.toml:4]
        keys.mistral = "***" [/home/.config/rheon/config.toml:5]
        keys.openai = { command = ["pass", "show", "it's mine"] } [/home/.config/rheon/config.toml:3]"#]]
    .assert_eq(&shown);
    assert!(!format!("{config:?}").contains("sk-literal"));
    expect![[r#"/home/.config/rheon/config.toml: line 5: others may read the key of mistral here; make the file yours alone (chmod 600), or write { env = "NAME" } or { command = [...] } instead"#]].assert_eq(&place.warnings(&config));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(place.warnings(&place.load()), "");
}

#[test]
fn a_key_that_makes_no_sense_is_told_without_being_shown() {
    let text = r#"[keys]
antropic = { env = "A" }
openai = { env = "not a name" }
groq = { file = "/etc/key" }
mistral = { env = "A", keyring = "b" }
xai = 3
together = { command = [] }
deepseek = "  "
cerebras = { command = ["a", 1] }
"#;
    expect![[r#"
        cannot read /home/.config/rheon/config.toml: line 2: unknown vendor "antropic"; did you mean "anthropic"?
        cannot read /home/.config/rheon/config.toml: line 3: "keys.openai": "env" must be the name of an environment variable: letters, digits and _
        cannot read /home/.config/rheon/config.toml: line 4: "keys.groq": "file" is not a valid key source; write { env = "NAME" }, { command = ["program", "argument"] }, { keyring = "name" } or the key itself
        cannot read /home/.config/rheon/config.toml: line 5: "keys.mistral": a key needs exactly one source; write { env = "NAME" }, { command = ["program", "argument"] }, { keyring = "name" } or the key itself
        cannot read /home/.config/rheon/config.toml: line 6: "keys.xai": a number is not a valid key source; write { env = "NAME" }, { command = ["program", "argument"] }, { keyring = "name" } or the key itself
        cannot read /home/.config/rheon/config.toml: line 7: "keys.together": "command" is not a valid key source; write { env = "NAME" }, { command = ["program", "argument"] }, { keyring = "name" } or the key itself
        cannot read /home/.config/rheon/config.toml: line 8: "keys.deepseek": the key is empty; write { env = "NAME" }, { command = ["program", "argument"] }, { keyring = "name" } or the key itself
        cannot read /home/.config/rheon/config.toml: line 9: "keys.cerebras": "command" must be a list of strings"#]].assert_eq(&Place::new().user(text).problems());
}

#[test]
fn a_stronger_key_takes_the_place_of_a_weaker_one() {
    let place =
        Place::new().user("keys.openai = \"sk-a\"").managed("keys.openai = { env = \"COMPANY_KEY\" }");
    let config = place.load();
    assert!(config.settings.services.keys.is_empty());
    expect![[r#"
        openai https://api.openai.com/v1 ["COMPANY_KEY"] None
        keys.openai = { env = "COMPANY_KEY" } [/etc/config.toml:1]
        keys.openai = "***" [/home/.config/rheon/config.toml:1] (overridden)"#]]
    .assert_eq(&format!("{}\n{}", auth(&config, "openai"), place.shown(&config)));
}

#[test]
fn vendors_are_added_and_changed() {
    let place = Place::new()
        .user(
            r#"[vendors.mine]
extends = "openai-chat"
base_url = "http://127.0.0.1:8000/v1"
headers = { X-Secret = "abc" }
auth.key_env = ["MINE_KEY"]

[keys]
mine = { keyring = "mine" }
"#,
        )
        .managed("[vendors.openai]\nbase_url = \"https://proxy.example/v1\"\n");
    let config = place.load();
    expect![[r#"
        mine http://127.0.0.1:8000/v1 ["MINE_KEY"] Some("'secret-tool' 'lookup' 'service' 'rheon' 'account' 'mine'")
        openai https://proxy.example/v1 ["OPENAI_API_KEY"] None"#]].assert_eq(&format!("{}\n{}", auth(&config, "mine"), auth(&config, "openai")));
    let shown = place.shown(&config);
    assert!(!shown.contains("abc"));
    expect![[r#"
        keys.mine = { keyring = "mine" } [/home/.config/rheon/config.toml:8]
        vendors.mine = { extends = "openai-chat", base_url = "http://127.0.0.1:8000/v1", headers = { X-Secret = "***" }, auth = { key_env = ["MINE_KEY"] } } [/home/.config/rheon/config.toml:1]
        vendors.openai = { base_url = "https://proxy.example/v1" } [/etc/config.toml:1]"#]].assert_eq(&shown);
}

#[test]
fn a_vendor_that_makes_no_sense_is_told_with_its_line() {
    let place =
        Place::new().user("effort = \"low\"\n\n[vendors.mine]\nextends = \"openai\"\nbase_ur = \"x\"\n");
    expect![[r#"cannot read /home/.config/rheon/config.toml: line 5: unknown key "base_ur"; did you mean "base_url"?"#]].assert_eq(&place.problems());
    let place = Place::new().user("vendors.mine = 3");
    expect![[r#"cannot read /home/.config/rheon/config.toml: line 1: "vendors.mine" is a number; it must be a table"#]].assert_eq(&place.problems());
    let mut inputs = Place::new().inputs();
    inputs.settings = Some(r#"{"vendors": {"mine": {"extends": "nobody"}}}"#.to_owned());
    expect![[r#"cannot read --settings: cannot extend unknown vendor "nobody"; expected one of anthropic, azure, azure-chat, bedrock, cerebras, custom, deepseek, fireworks, github-models, google, groq, huggingface, llamacpp, lmstudio, minimax, mistral, moonshot, nvidia, ollama, openai, openai-chat, openrouter, perplexity, qwen, together, vercel, vertex, vertex-express, vllm, xai, zai"#]].assert_eq(&Place::new().problems_with(inputs));
}
