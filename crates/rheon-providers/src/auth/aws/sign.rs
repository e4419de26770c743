//! `sign`: signs one request with AWS Signature Version 4. Pure.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials as Identity;
use aws_sigv4::http_request::{
    SignableBody, SignableRequest, SigningParams, SigningSettings, sign as signature,
};
use aws_sigv4::sign::v4;
use http::{HeaderMap, HeaderName, HeaderValue};
use rheon_types::Timestamp;
use secrecy::ExposeSecret;

use super::AwsKeys;
use crate::auth::AuthError;
use crate::transport::HttpRequest;

/// What a signature is valid for.
pub(super) struct Scope<'a> {
    pub(super) service: &'a str,
    pub(super) region: &'a str,
    pub(super) now: Timestamp,
}

/// Signs method, path, query, body and the headers `host`, `content-type` and `x-amz-*`. Other headers are not covered
/// because proxies may change them. The path is encoded once more for the signature than it is sent (the signer's
/// default), as every service except S3 requires: `%3A` in a model name becomes `%253A`.
pub(super) fn sign(request: &mut HttpRequest, keys: &AwsKeys, scope: Scope<'_>) -> Result<(), AuthError> {
    let identity = Identity::new(
        &keys.access_key_id,
        keys.secret_access_key.expose_secret(),
        keys.session_token.as_ref().map(|token| token.expose_secret().to_owned()),
        None,
        "rheon",
    )
    .into();
    let params: SigningParams<'_> = v4::SigningParams::builder()
        .identity(&identity)
        .region(scope.region)
        .name(scope.service)
        .time(SystemTime::UNIX_EPOCH + Duration::from_millis(scope.now.as_millis()))
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| AuthError::Signature(error.to_string()))?
        .into();
    let unsigned = SignableRequest::new(
        request.method.as_str(),
        request.url.as_str(),
        signed_headers(&request.headers)?.into_iter(),
        SignableBody::Bytes(&request.body),
    )
    .map_err(|error| AuthError::Signature(error.to_string()))?;
    let output = signature(unsigned, &params).map_err(|error| AuthError::Signature(error.to_string()))?;
    let (signed, _) = output.into_parts().0.into_parts();
    for header in signed {
        let unusable = || AuthError::Signature(format!("the header {} cannot hold its value", header.name()));
        let mut value = HeaderValue::from_str(header.value()).map_err(|_| unusable())?;
        value.set_sensitive(header.name() != "x-amz-date");
        request.headers.insert(HeaderName::from_static(header.name()), value);
    }
    Ok(())
}

/// The headers that the signature covers, besides those it adds itself.
fn signed_headers(headers: &HeaderMap) -> Result<Vec<(&str, &str)>, AuthError> {
    let mut signed_headers = Vec::new();
    for (name, value) in headers {
        let name = name.as_str();
        let is_added = matches!(name, "x-amz-date" | "x-amz-security-token");
        if is_added || !(name == "content-type" || name == "host" || name.starts_with("x-amz-")) {
            continue;
        }
        let value = value.to_str().map_err(|_| {
            AuthError::Signature(format!("the header {name} holds characters that are not ASCII"))
        })?;
        signed_headers.push((name, value));
    }
    Ok(signed_headers)
}

/// The region in the name of an AWS host such as `bedrock-runtime.eu-west-1.amazonaws.com`. AWS refuses a signature
/// for another region.
pub(super) fn region_of_host(host: &str) -> Option<&str> {
    let name = host.strip_suffix(".amazonaws.com").or_else(|| host.strip_suffix(".amazonaws.com.cn"))?;
    let (_, last) = name.rsplit_once('.')?;
    // Private endpoint hosts end in `.vpce`; the region comes before it.
    let region = if last == "vpce" { name.rsplit('.').nth(1)? } else { last };
    let is_region = region.contains('-') && region.bytes().last().is_some_and(|byte| byte.is_ascii_digit());
    is_region.then_some(region)
}
