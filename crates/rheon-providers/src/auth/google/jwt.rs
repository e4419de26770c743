//! The signed assertion (a JSON Web Token, RS256) with which a service account requests a token.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rheon_types::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

/// The scope of the token.
pub(super) const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// The maximum that Google accepts.
const LIFETIME_SECS: u64 = 3600;

/// The assertion is backdated a little, in case the local clock is ahead of Google's.
const SKEW_SECS: u64 = 10;

/// The claims of an assertion.
pub(super) struct Assertion<'a> {
    pub(super) email: &'a str,
    pub(super) key_id: Option<&'a str>,
    pub(super) audience: &'a str,
    pub(super) now: Timestamp,
}

/// The signed assertion. The error says what is wrong with the key, without showing it.
pub(super) fn signed(
    assertion_parts: &Assertion<'_>,
    private_key: &SecretString,
) -> Result<SecretString, &'static str> {
    let pair = key_pair(private_key.expose_secret())?;
    let issued = (assertion_parts.now.as_millis() / 1000).saturating_sub(SKEW_SECS);
    let mut header = json!({ "alg": "RS256", "typ": "JWT" });
    if let (Some(id), Some(header)) = (assertion_parts.key_id, header.as_object_mut()) {
        header.insert("kid".to_owned(), id.into());
    }
    let claims = json!({
        "iss": assertion_parts.email,
        "scope": SCOPE,
        "aud": assertion_parts.audience,
        "iat": issued,
        "exp": issued.saturating_add(LIFETIME_SECS),
    });
    let encode = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let mut token = Zeroizing::new(format!("{}.{}", encode(&header), encode(&claims)));
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), token.as_bytes(), &mut signature)
        .map_err(|_| "its private_key cannot sign")?;
    token.push('.');
    token.push_str(&URL_SAFE_NO_PAD.encode(&signature));
    Ok(SecretString::from(token.as_str()))
}

/// Reads an RSA key from PEM text: PKCS #8, as Google writes it, or the older PKCS #1.
fn key_pair(pem: &str) -> Result<RsaKeyPair, &'static str> {
    const UNUSABLE: &str = "its private_key is not an RSA key in PEM form; download the file again";
    let body: Zeroizing<String> = Zeroizing::new(
        pem.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect::<Vec<_>>().concat(),
    );
    let der = Zeroizing::new(STANDARD.decode(body.as_bytes()).map_err(|_| UNUSABLE)?);
    RsaKeyPair::from_pkcs8(&der).or_else(|_| RsaKeyPair::from_der(&der)).map_err(|_| UNUSABLE)
}
