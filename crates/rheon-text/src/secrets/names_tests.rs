//! Names whose value is a secret, and names whose value is none.

use super::{is_password_name, is_secret_name, is_secret_variable};

#[test]
fn names_of_fields_options_headers_and_variables() {
    let secret = [
        "api_key",
        "API-KEY",
        "x-api-key",
        "x-goog-api-key",
        "apiKey",
        "token",
        "GITHUB_TOKEN",
        "access_token",
        "accessToken",
        "id_token",
        "refresh-token",
        "csrftoken",
        "secret",
        "clientSecret",
        "client_secret",
        "secret_key",
        "aws_secret_access_key",
        "secretAccessKey",
        "privateKey",
        "AccountKey",
        "password",
        "PGPASSWORD",
        "db-password",
        "passwd",
        "passphrase",
        "Passwort",
        "DB_PASS",
        "pass",
        "pw",
        "credential",
    ];
    for name in secret {
        assert!(is_secret_name(name), "{name}");
        assert!(is_secret_variable(name), "{name}");
    }
    for name in ["", "monkey", "key", "max_tokens", "tokens", "compass", "bypass", "PWD", "secretary", "path"]
    {
        assert!(!is_secret_name(name), "{name}");
    }
}

#[test]
fn variables_are_held_back_by_any_part_of_their_name() {
    for name in [
        "ANTHROPIC_API_KEY_2",
        "npm_config__authToken",
        "SESSION_COOKIE",
        "OTEL_EXPORTER_OTLP_HEADERS",
        "KEYRING",
    ] {
        assert!(is_secret_variable(name), "{name}");
    }
    for name in ["PATH", "HOME", "LANG", "PWD", "COMPASS", "CARGO_HOME", "VIRTUAL_ENV"] {
        assert!(!is_secret_variable(name), "{name}");
    }
}

#[test]
fn a_password_may_be_any_words() {
    assert!(["password", "DB_PASSWORD", "passphrase"].into_iter().all(is_password_name));
    assert!(!["token", "api_key", "pass"].into_iter().any(is_password_name));
}
