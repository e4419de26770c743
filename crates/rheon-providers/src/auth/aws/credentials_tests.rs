//! Sources of AWS keys and region.

use expect_test::expect;
use rheon_types::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;

use super::credentials::{AwsKeys, Credentials, region};
use super::profile::{self, FileKind};
use crate::auth::authorizer;
use crate::auth::test_support::{environment, exposed, inputs, request, shown};
use crate::env::ProviderEnv;
use crate::vendor::{AuthScheme, AuthSpec};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A home directory with the shared AWS files.
fn home(credentials: &str, config: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join(".aws")).unwrap();
    std::fs::write(directory.path().join(".aws/credentials"), credentials).unwrap();
    std::fs::write(directory.path().join(".aws/config"), config).unwrap();
    directory
}

fn at(home: &TempDir, variables: &[(&str, &str)]) -> ProviderEnv {
    environment(variables).with_home(home.path())
}

async fn found(environment: &ProviderEnv) -> String {
    match Credentials::new("bedrock", environment, None).get(NOW).await {
        Ok(keys) => line(&keys),
        Err(error) => error.to_string(),
    }
}

fn line(keys: &AwsKeys) -> String {
    let token = keys.session_token.as_ref().map_or("-", |token| token.expose_secret());
    let expires = keys.expires.map_or("-".to_owned(), |moment| moment.to_string());
    format!("{} {} {token} {expires}", keys.access_key_id, keys.secret_access_key.expose_secret())
}

const KEYS: &str = "[default]\naws_access_key_id = ID1\naws_secret_access_key=secret/1+= # mine\n\n\
                    [work]\naws_access_key_id=ID2\naws_secret_access_key=secret2\naws_session_token=token2\n";

#[tokio::test]
async fn environment_wins_over_files_and_variable_selects_the_profile() {
    let home = home(KEYS, "[default]\nregion = eu-north-1\n[profile work]\nregion=ap-south-1\n");
    let variables =
        [("AWS_ACCESS_KEY_ID", "ID0"), ("AWS_SECRET_ACCESS_KEY", "secret0"), ("AWS_PROFILE", "work")];
    assert_eq!(found(&at(&home, &variables)).await, "ID0 secret0 - -");
    assert_eq!(found(&at(&home, &[])).await, "ID1 secret/1+= - -");
    assert_eq!(found(&at(&home, &[("AWS_PROFILE", "work")])).await, "ID2 secret2 token2 -");

    assert_eq!(region(&at(&home, &[])), "eu-north-1");
    assert_eq!(region(&at(&home, &[("AWS_PROFILE", "work")])), "ap-south-1");
    assert_eq!(region(&at(&home, &[("AWS_PROFILE", "other")])), "us-east-1");
    assert_eq!(region(&at(&home, &[("AWS_DEFAULT_REGION", "b-1")])), "b-1");
    assert_eq!(region(&at(&home, &[("AWS_DEFAULT_REGION", "b-1"), ("AWS_REGION", "a-1")])), "a-1");
    assert_eq!(region(&environment(&[])), "us-east-1");
}

#[tokio::test]
async fn variables_override_the_file_paths() {
    let home = home(KEYS, "");
    let path = home.path().join("other");
    std::fs::write(&path, "[default]\naws_access_key_id=ID3\naws_secret_access_key=secret3\n").unwrap();
    let variables = [("AWS_SHARED_CREDENTIALS_FILE", path.to_str().unwrap())];
    assert_eq!(found(&at(&home, &variables)).await, "ID3 secret3 - -");
    let config =
        [("AWS_CONFIG_FILE", path.to_str().unwrap()), ("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/file")];
    assert_eq!(found(&at(&home, &config)).await, "ID3 secret3 - -");
}

#[tokio::test]
async fn missing_and_unsupported_credentials_say_what_to_do() {
    let config = "[profile sso]\nsso_session = corp\n[profile role]\nrole_arn = arn:aws:iam::1:role/x\n\
                  source_profile = default\n";
    let home = home(KEYS, config);
    let mut out = Vec::new();
    for profile in ["none", "sso", "role"] {
        out.push(found(&at(&home, &[("AWS_PROFILE", profile)])).await);
    }
    expect![[r#"
        no key for bedrock: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add keys or credential_process to the profile "none" of the shared AWS files
        no key for bedrock: the AWS profile "sso" signs in through SSO, which is not supported; set "credential_process = aws configure export-credentials --profile sso" in another profile and select that one with AWS_PROFILE, or run eval "$(aws configure export-credentials --profile sso --format env)" before
        no key for bedrock: the AWS profile "role" assumes a role (role_arn), which is not supported; set "credential_process = aws configure export-credentials --profile role" in another profile and select that one with AWS_PROFILE, or run eval "$(aws configure export-credentials --profile role --format env)" before"#]]
    .assert_eq(&out.join("\n"));
    assert!(found(&environment(&[])).await.starts_with("no key for bedrock: set AWS_BEARER_TOKEN_BEDROCK"));
}

#[test]
fn shared_file_may_have_indentation_and_quoted_names() {
    let text = "[profile \"my work\"]\r\n  aws_access_key_id = AKID\r\n  s3 =\r\n    region = inner\r\n\tregion = inner\r\n";
    let found = profile::settings(text, FileKind::Config, "my work");
    expect![[r#"Some({"aws_access_key_id": "AKID", "s3": ""})"#]].assert_eq(&format!("{found:?}"));
}

#[test]
fn shared_file_is_parsed_like_aws_does() {
    let text = "# comment\r\n[default]\r\nregion = a-1 ; here\ns3 =\n  region = inner\nregion = a-2\n[profile  x ]\n\
                region=x-1\n[profilex]\nregion=no\n[sso-session x]\nregion=no\nnonsense\n=\n[default\nkey=1";
    let found = |kind, name| format!("{:?}", profile::settings(text, kind, name));
    expect![[r#"Some({"key": "1", "region": "a-2", "s3": ""})"#]]
        .assert_eq(&found(FileKind::Config, "default"));
    expect![[r#"Some({"region": "x-1"})"#]].assert_eq(&found(FileKind::Config, "x"));
    expect!["None"].assert_eq(&found(FileKind::Config, "y"));
    expect![[r#"Some({"region": "no"})"#]].assert_eq(&found(FileKind::Credentials, "profilex"));
}

#[cfg(unix)]
mod process {
    use super::*;

    fn config(command_line: &str) -> String {
        format!("[default]\ncredential_process = {command_line}\n")
    }

    #[tokio::test]
    async fn process_keys_are_cached_until_five_minutes_before_expiry() {
        let home = home("", "");
        let (printed, runs) = (home.path().join("printed"), home.path().join("runs"));
        // NOW is 22:13:20.
        let json = r#"{"Version":1,"AccessKeyId":"ID4","SecretAccessKey":"secret4","SessionToken":"t4","Expiration":"2023-11-14T23:13:20Z"}"#;
        std::fs::write(&printed, json).unwrap();
        let line_of_config =
            config(&format!("sh -c 'echo run >> {}; cat {}'", runs.display(), printed.display()));
        std::fs::write(home.path().join(".aws/config"), line_of_config).unwrap();
        let credentials = Credentials::new("bedrock", &at(&home, &[]), None);
        let count = || std::fs::read_to_string(&runs).unwrap().lines().count();
        let later = |minutes: u64| Timestamp::from_millis(NOW.as_millis() + minutes * 60_000);
        assert!(credentials.are_configured() && credentials.secrets().is_empty());

        let keys = futures::future::join_all((0..5).map(|_| credentials.get(NOW))).await;
        assert!(keys.into_iter().all(|keys| line(&keys.unwrap()) == "ID4 secret4 t4 2023-11-14T23:13:20Z"));
        credentials.get(later(54)).await.unwrap();
        assert_eq!(count(), 1);
        credentials.get(later(55)).await.unwrap();
        assert_eq!(count(), 2);
        assert!(credentials.forget());
        credentials.get(later(0)).await.unwrap();
        assert_eq!(count(), 3);
        assert_eq!(exposed(credentials.secrets()), ["secret4", "t4", "secret4", "t4"]);
    }

    #[tokio::test]
    async fn invalid_process_output_is_reported_without_quoting_it() {
        let mut out = Vec::new();
        for command_line in [
            r#"echo '{"Version":2,"AccessKeyId":"a","SecretAccessKey":"secret"}'"#,
            r#"echo '{"Version":1,"SecretAccessKey":"secret"}'"#,
            r#"echo '{"Version":1,"AccessKeyId":"a","SecretAccessKey":"secret","Expiration":"soon"}'"#,
            "echo secret-key; echo denied secret-key >&2; exit 1",
        ] {
            out.push(found(&at(&home("", &config(command_line)), &[])).await);
        }
        expect![[r#"
            credential_process of the AWS profile "default" of bedrock printed credentials of a version other than 1
            credential_process of the AWS profile "default" of bedrock did not print JSON with Version, AccessKeyId and SecretAccessKey
            credential_process of the AWS profile "default" of bedrock printed an Expiration that is not a time
            credential_process of the AWS profile "default" of bedrock failed (exit status: 1): denied [redacted]"#]]
        .assert_eq(&out.join("\n"));
    }
}

fn spec() -> AuthSpec {
    AuthSpec {
        scheme: AuthScheme::Aws { service: "bedrock".to_owned() },
        key_env: vec!["AWS_BEARER_TOKEN_BEDROCK".to_owned()],
        api_key_command: None,
        optional: false,
    }
}

#[tokio::test]
async fn bearer_token_wins_over_keys() {
    let variables = environment(&[
        ("AWS_BEARER_TOKEN_BEDROCK", "bearer-1"),
        ("AWS_ACCESS_KEY_ID", "ID0"),
        ("AWS_SECRET_ACCESS_KEY", "secret0"),
    ]);
    let bedrock = authorizer(&spec(), inputs("bedrock", &variables)).unwrap();
    expect![[r#"
        https://bedrock-runtime.eu-west-1.amazonaws.com/
        authorization: Bearer bearer-1 (sensitive)"#]]
    .assert_eq(&shown(&*bedrock, request("https://bedrock-runtime.eu-west-1.amazonaws.com/")).await);
    assert_eq!(exposed(bedrock.secrets()), ["bearer-1", "secret0"]);
}

#[tokio::test]
async fn scope_uses_the_region_of_the_host_or_the_environment() {
    let variables = environment(&[("AWS_REGION", "ca-west-1")]);
    let mut given = inputs("bedrock", &variables);
    given.aws_keys = Some(AwsKeys {
        access_key_id: "ID5".to_owned(),
        secret_access_key: SecretString::from("secret5"),
        session_token: None,
        expires: None,
    });
    let bedrock = authorizer(&spec(), given).unwrap();
    assert!(bedrock.has_key());
    let own = shown(&*bedrock, request("https://bedrock-runtime.eu-west-1.amazonaws.com/")).await;
    assert!(own.contains("Credential=ID5/20231114/eu-west-1/bedrock/aws4_request"), "{own}");
    let gateway = shown(&*bedrock, request("http://127.0.0.1:8080/")).await;
    assert!(gateway.contains("Credential=ID5/20231114/ca-west-1/bedrock/aws4_request"), "{gateway}");
}

#[tokio::test]
async fn vendor_without_keys_is_not_usable() {
    let variables = environment(&[("AWS_ACCESS_KEY_ID", "only half of it")]);
    assert!(!authorizer(&spec(), inputs("bedrock", &variables)).unwrap().has_key());
}
