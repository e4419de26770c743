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
    expect![[r#""#]].assert_eq(&places.join("\n"));
    let keys = &config.settings.services.keys;
    assert_eq!(keys.len(), 1);
    assert_eq!(keys["mistral"].expose_secret(), "sk-literal");
    let shown = place.shown(&config);
    expect![[r#""#]].assert_eq(&shown);
    assert!(!format!("{config:?}").contains("sk-literal"));
    expect![[r#""#]].assert_eq(&place.warnings(&config));
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
    expect![[r#""#]].assert_eq(&Place::new().user(text).problems());
}

#[test]
fn a_stronger_key_takes_the_place_of_a_weaker_one() {
    let place =
        Place::new().user("keys.openai = \"sk-a\"").managed("keys.openai = { env = \"COMPANY_KEY\" }");
    let config = place.load();
    assert!(config.settings.services.keys.is_empty());
    expect![[r#""#]].assert_eq(&format!("{}\n{}", auth(&config, "openai"), place.shown(&config)));
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
    expect![[r#""#]].assert_eq(&format!("{}\n{}", auth(&config, "mine"), auth(&config, "openai")));
    let shown = place.shown(&config);
    assert!(!shown.contains("abc"));
    expect![[r#""#]].assert_eq(&shown);
}

#[test]
fn a_vendor_that_makes_no_sense_is_told_with_its_line() {
    let place =
        Place::new().user("effort = \"low\"\n\n[vendors.mine]\nextends = \"openai\"\nbase_ur = \"x\"\n");
    expect![[r#""#]].assert_eq(&place.problems());
    let place = Place::new().user("vendors.mine = 3");
    expect![[r#""#]].assert_eq(&place.problems());
    let mut inputs = Place::new().inputs();
    inputs.settings = Some(r#"{"vendors": {"mine": {"extends": "nobody"}}}"#.to_owned());
    expect![[r#""#]].assert_eq(&Place::new().problems_with(inputs));
}
