//! AWS keys and region: from the config, the environment or a profile in the shared files.

use std::path::PathBuf;

use rheon_types::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::profile::{self, FileKind, Settings};
use crate::auth::cached::CachedCredential;
use crate::auth::{AuthError, command, file};
use crate::env::ProviderEnv;

/// How long before expiry keys are refreshed.
const EXPIRY_MARGIN_MS: u64 = 5 * 60 * 1000;

/// The default region.
const REGION: &str = "us-east-1";

/// An AWS key pair, with a session token if it is temporary.
#[derive(Clone)]
pub struct AwsKeys {
    /// Identifies the secret key; not a secret itself.
    pub access_key_id: String,
    /// Signs requests; never sent.
    pub secret_access_key: SecretString,
    /// Sent with each request.
    pub session_token: Option<SecretString>,
    /// When the keys expire.
    pub expires: Option<Timestamp>,
}

impl AwsKeys {
    /// The values to redact.
    fn secrets(self) -> impl Iterator<Item = SecretString> {
        std::iter::once(self.secret_access_key).chain(self.session_token)
    }
}

impl std::fmt::Debug for AwsKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AwsKeys").field("access_key_id", &self.access_key_id).finish_non_exhaustive()
    }
}

/// Where keys come from. Environment variables are read for every request; keys from files are cached until they
/// expire or are forgotten.
pub(crate) struct Credentials {
    vendor: String,
    environment: ProviderEnv,
    config: Option<AwsKeys>,
    from_profile: CachedCredential<AwsKeys>,
}

impl Credentials {
    pub(crate) fn new(vendor: &str, environment: &ProviderEnv, config: Option<AwsKeys>) -> Self {
        let environment = environment.clone();
        Self { vendor: vendor.to_owned(), environment, config, from_profile: CachedCredential::default() }
    }

    /// The keys to sign with at `now`.
    pub(super) async fn get(&self, now: Timestamp) -> Result<AwsKeys, AuthError> {
        if let Some(keys) = self.config.clone().or_else(|| from_environment(&self.environment)) {
            return Ok(keys);
        }
        let is_fresh = |keys: &AwsKeys| {
            keys.expires.is_none_or(|end| now.as_millis().saturating_add(EXPIRY_MARGIN_MS) < end.as_millis())
        };
        self.from_profile.get_or(is_fresh, async || self.read_profile().await).await
    }

    /// The region to use when the URL does not contain one.
    pub(super) async fn region(&self) -> Result<String, AuthError> {
        if let Some((_, region)) = self.environment.first(["AWS_REGION", "AWS_DEFAULT_REGION"]) {
            return Ok(region);
        }
        let settings = self.settings().await?;
        Ok(settings.get("region").cloned().unwrap_or_else(|| REGION.to_owned()))
    }

    /// Whether there are keys, or files that may hold them.
    pub(super) fn are_configured(&self) -> bool {
        self.config.is_some()
            || from_environment(&self.environment).is_some()
            || files(&self.environment).iter().any(|(path, _)| path.is_file())
    }

    pub(super) fn forget(&self) -> bool {
        self.from_profile.forget()
    }

    /// All values to redact that are known so far.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        let given = self.config.clone().into_iter().chain(from_environment(&self.environment));
        given.chain(self.from_profile.known()).flat_map(AwsKeys::secrets).collect()
    }

    /// The profile's settings from both files; the credentials file wins.
    async fn settings(&self) -> Result<Settings, AuthError> {
        let name = profile_name(&self.environment);
        let mut settings = Settings::new();
        for (path, kind) in files(&self.environment) {
            if let Some(text) = file::read(&path).await? {
                settings.extend(profile::settings(text.expose_secret(), kind, &name).unwrap_or_default());
            }
        }
        Ok(settings)
    }

    async fn read_profile(&self) -> Result<AwsKeys, AuthError> {
        let name = profile_name(&self.environment);
        let settings = self.settings().await?;
        let get = |setting: &str| settings.get(setting).filter(|value| !value.is_empty());
        if get("role_arn").is_some() {
            return Err(self.unsupported(&name, "assumes a role (role_arn)"));
        }
        if let (Some(id), Some(secret)) = (get("aws_access_key_id"), get("aws_secret_access_key")) {
            return Ok(AwsKeys {
                access_key_id: id.clone(),
                secret_access_key: SecretString::from(secret.as_str()),
                session_token: get("aws_session_token").map(|token| SecretString::from(token.as_str())),
                expires: None,
            });
        }
        if let Some(command_line) = get("credential_process") {
            return self.run_process(&name, command_line).await;
        }
        if get("sso_session").or(get("sso_start_url")).is_some() {
            return Err(self.unsupported(&name, "signs in through SSO"));
        }
        let remedy = format!(
            "set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add keys or \
             credential_process to the profile {name:?} of the shared AWS files"
        );
        Err(AuthError::Missing { vendor: self.vendor.clone(), remedy })
    }

    fn unsupported(&self, name: &str, what: &str) -> AuthError {
        let remedy = format!(
            "the AWS profile {name:?} {what}, which is not supported; set \"credential_process = aws configure \
             export-credentials --profile {name}\" in another profile and select that one with AWS_PROFILE, or run \
             eval \"$(aws configure export-credentials --profile {name} --format env)\" before"
        );
        AuthError::Missing { vendor: self.vendor.clone(), remedy }
    }

    async fn run_process(&self, name: &str, command_line: &str) -> Result<AwsKeys, AuthError> {
        let failed = |problem: String| AuthError::Command {
            vendor: self.vendor.clone(),
            setting: format!("credential_process of the AWS profile {name:?}"),
            problem,
        };
        let output = command::run(command_line).await.map_err(failed)?;
        parse_process_output(output.expose_secret()).map_err(|problem| failed(problem.to_owned()))
    }
}

/// The region from the environment or the profile, for URLs. Reads the files synchronously.
pub(crate) fn region(environment: &ProviderEnv) -> String {
    if let Some((_, region)) = environment.first(["AWS_REGION", "AWS_DEFAULT_REGION"]) {
        return region;
    }
    let name = profile_name(environment);
    let in_file = |(path, kind): (PathBuf, FileKind)| {
        let text = file::read_now(&path).ok()??;
        profile::settings(text.expose_secret(), kind, &name)?.remove("region")
    };
    // The last file wins, as for keys.
    files(environment).into_iter().rev().find_map(in_file).unwrap_or_else(|| REGION.to_owned())
}

/// The shared files; the last one wins.
fn files(environment: &ProviderEnv) -> Vec<(PathBuf, FileKind)> {
    let path = |variable: &str, name: &str| {
        let given = environment.var(variable).map(PathBuf::from);
        given.or_else(|| Some(environment.home()?.join(".aws").join(name)))
    };
    let config = path("AWS_CONFIG_FILE", "config").map(|path| (path, FileKind::Config));
    let credentials =
        path("AWS_SHARED_CREDENTIALS_FILE", "credentials").map(|path| (path, FileKind::Credentials));
    config.into_iter().chain(credentials).collect()
}

fn profile_name(environment: &ProviderEnv) -> String {
    environment.var("AWS_PROFILE").unwrap_or_else(|| "default".to_owned())
}

fn from_environment(environment: &ProviderEnv) -> Option<AwsKeys> {
    Some(AwsKeys {
        access_key_id: environment.var("AWS_ACCESS_KEY_ID")?,
        secret_access_key: environment.var("AWS_SECRET_ACCESS_KEY")?.into(),
        session_token: environment.var("AWS_SESSION_TOKEN").map(SecretString::from),
        expires: None,
    })
}

/// The output of a `credential_process`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ProcessOutput {
    version: u32,
    access_key_id: String,
    secret_access_key: SecretString,
    session_token: Option<SecretString>,
    expiration: Option<String>,
}

/// Parses the output of a `credential_process`. Errors do not quote it.
fn parse_process_output(text: &str) -> Result<AwsKeys, &'static str> {
    let output: ProcessOutput = serde_json::from_str(text)
        .map_err(|_| "did not print JSON with Version, AccessKeyId and SecretAccessKey")?;
    if output.version != 1 {
        return Err("printed credentials of a version other than 1");
    }
    let expires = output.expiration.map(|moment| moment.parse::<jiff::Timestamp>()).transpose();
    let expires = expires.map_err(|_| "printed an Expiration that is not a time")?;
    Ok(AwsKeys {
        access_key_id: output.access_key_id,
        secret_access_key: output.secret_access_key,
        session_token: output.session_token.filter(|token| !token.expose_secret().is_empty()),
        // A time before 1970 counts as expired.
        expires: expires
            .map(|moment| Timestamp::from_millis(u64::try_from(moment.as_millisecond()).unwrap_or(0))),
    })
}
