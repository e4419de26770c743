//! `authorizer`: builds the auth scheme that a vendor file describes.

use std::sync::Arc;

use http::HeaderName;
use rheon_types::Clock;
use secrecy::SecretString;

use super::api_key::{KeyAuth, KeyPlacement, NoAuth};
use super::aws::{AwsAuth, AwsKeys, Credentials};
use super::google::GoogleAuth;
use super::key::{KeyNeed, KeySource};
use super::{AuthError, Authorizer};
use crate::env::ProviderEnv;
use crate::transport::Transport;
use crate::vendor::{AuthScheme, AuthSpec};

/// Inputs for building a scheme, besides the vendor file.
pub(crate) struct AuthInputs<'a> {
    /// The vendor id, for errors.
    pub(crate) vendor: &'a str,
    pub(crate) environment: &'a ProviderEnv,
    /// The key from the config; wins over everything else.
    pub(crate) key: Option<SecretString>,
    /// AWS keys from the config; win over the environment and files.
    pub(crate) aws_keys: Option<AwsKeys>,
    /// For signatures and token expiry.
    pub(crate) clock: Arc<dyn Clock>,
    /// For requests to token servers.
    pub(crate) transport: Transport,
}

/// Builds the scheme that `spec` describes. Does not look for a key: a missing key is an error of the first request.
pub(crate) fn authorizer(spec: &AuthSpec, inputs: AuthInputs<'_>) -> Result<Arc<dyn Authorizer>, AuthError> {
    let source = source(spec, &inputs);
    let need = if spec.optional { KeyNeed::Optional } else { KeyNeed::Required };
    let placed = |placement, source| Arc::new(KeyAuth { placement, source, need });
    let invalid = |problem: String| AuthError::Spec { vendor: inputs.vendor.to_owned(), problem };
    Ok(match &spec.scheme {
        AuthScheme::Header { header } => {
            let name = HeaderName::from_bytes(header.as_bytes())
                .map_err(|_| invalid(format!("{header:?} is not a valid header name")))?;
            placed(KeyPlacement::Header(name), source)
        }
        AuthScheme::Bearer => placed(KeyPlacement::Bearer, source),
        AuthScheme::Query { parameter } if parameter.is_empty() => {
            return Err(invalid("the query parameter has no name".to_owned()));
        }
        AuthScheme::Query { parameter } => placed(KeyPlacement::Query(parameter.clone()), source),
        AuthScheme::Aws { service } => {
            let credentials = Credentials::new(inputs.vendor, inputs.environment, inputs.aws_keys);
            Arc::new(AwsAuth { service: service.clone(), bearer: source, credentials, clock: inputs.clock })
        }
        AuthScheme::Google => {
            let AuthInputs { vendor, environment, clock, transport, .. } = inputs;
            Arc::new(GoogleAuth::new(vendor, source, environment, clock, transport))
        }
        AuthScheme::Anthropic => placed(KeyPlacement::Anthropic, source),
        AuthScheme::None => Arc::new(NoAuth),
    })
}

/// The source of the key: the config wins over the environment.
fn source(spec: &AuthSpec, inputs: &AuthInputs<'_>) -> KeySource {
    if let Some(key) = &inputs.key {
        return KeySource::config(inputs.vendor, key.clone());
    }
    match &spec.api_key_command {
        Some(command_line) => KeySource::command(inputs.vendor, command_line),
        None => KeySource::variables(inputs.vendor, &spec.key_env, inputs.environment),
    }
}
