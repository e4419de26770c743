//! Signatures, compared with AWS's published examples and with the algorithm written out step by step.

use bytes::Bytes;
use expect_test::expect;
use http::Method;
use rheon_types::Timestamp;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

use super::AwsKeys;
use super::sign::{Scope, region_of_host, sign};
use crate::auth::test_support::request;
use crate::transport::HttpRequest;

/// The keys of AWS's published examples.
const ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// 2015-08-30T12:36:00Z, the time of AWS's published examples.
const NOW: Timestamp = Timestamp::from_millis(1_440_938_160_000);

fn keys(session_token: Option<&str>) -> AwsKeys {
    AwsKeys {
        access_key_id: ID.to_owned(),
        secret_access_key: SecretString::from(SECRET),
        session_token: session_token.map(SecretString::from),
        expires: None,
    }
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> &'a str {
    request.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// HMAC as RFC 2104 defines it, for keys of at most one block.
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let inner = sha256(&[&block.map(|byte| byte ^ 0x36)[..], text].concat());
    sha256(&[&block.map(|byte| byte ^ 0x5c)[..], &inner].concat())
}

/// The signature of a canonical request at the time of the examples.
fn expected(canonical: &str, region: &str, service: &str) -> String {
    let scope = format!("20150830/{region}/{service}/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n20150830T123600Z\n{scope}\n{}", hex(&sha256(canonical.as_bytes())));
    let date = hmac(format!("AWS4{SECRET}").as_bytes(), b"20150830");
    let key = hmac(&hmac(&hmac(&date, region.as_bytes()), service.as_bytes()), b"aws4_request");
    hex(&hmac(&key, text.as_bytes()))
}

#[test]
fn published_examples_match() {
    let mut vanilla = request("https://example.amazonaws.com/");
    vanilla.method = Method::GET;
    vanilla.body = Bytes::new();
    sign(&mut vanilla, &keys(None), Scope { service: "service", region: "us-east-1", now: NOW }).unwrap();
    assert_eq!(
        header(&vanilla, "authorization"),
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
         SignedHeaders=host;x-amz-date, \
         Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    );

    let mut users = request("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08");
    users.method = Method::GET;
    users.body = Bytes::new();
    users.headers.insert("content-type", "application/x-www-form-urlencoded; charset=utf-8".parse().unwrap());
    sign(&mut users, &keys(None), Scope { service: "iam", region: "us-east-1", now: NOW }).unwrap();
    assert_eq!(
        header(&users, "authorization"),
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
         SignedHeaders=content-type;host;x-amz-date, \
         Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    );
}

fn bedrock(path: &str) -> HttpRequest {
    let mut request = request(&format!("https://bedrock-runtime.eu-west-1.amazonaws.com{path}"));
    request.headers.insert("content-type", "application/json".parse().unwrap());
    request.headers.insert("accept", "application/vnd.amazon.eventstream".parse().unwrap());
    request.headers.insert("user-agent", "rheon".parse().unwrap());
    request
}

/// The signature of a Bedrock request whose canonical path is `path`.
fn expected_bedrock(path: &str, query: &str) -> String {
    let body = hex(&sha256(b"{}"));
    let canonical = format!(
        "POST\n{path}\n{query}\ncontent-type:application/json\nhost:bedrock-runtime.eu-west-1.amazonaws.com\n\
         x-amz-date:20150830T123600Z\nx-amz-security-token:session/token+1=\n\n\
         content-type;host;x-amz-date;x-amz-security-token\n{body}"
    );
    expected(&canonical, "eu-west-1", "bedrock")
}

#[test]
fn model_name_is_encoded_twice_for_the_signature() {
    for (sent, signed) in [
        (
            "/model/anthropic.claude-v1%3A0/converse-stream",
            "/model/anthropic.claude-v1%253A0/converse-stream",
        ),
        ("/model/anthropic.claude-v1:0/converse-stream", "/model/anthropic.claude-v1%3A0/converse-stream"),
        (
            "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse-stream",
            "/model/arn%253Aaws%253Abedrock%253Aeu-west-1%253A1%253Ainference-profile%252Fx/converse-stream",
        ),
    ] {
        let mut request = bedrock(sent);
        let scope = Scope { service: "bedrock", region: "eu-west-1", now: NOW };
        sign(&mut request, &keys(Some("session/token+1=")), scope).unwrap();
        assert_eq!(request.url.path(), sent);
        let (_, signature) = header(&request, "authorization").split_once("Signature=").unwrap();
        assert_eq!(signature, expected_bedrock(signed, ""), "{sent}");
    }
}

#[test]
fn query_is_signed_in_order() {
    let mut request = bedrock("/model/m/converse-stream?b=2&a=x%20y");
    let scope = Scope { service: "bedrock", region: "eu-west-1", now: NOW };
    sign(&mut request, &keys(Some("session/token+1=")), scope).unwrap();
    let (_, signature) = header(&request, "authorization").split_once("Signature=").unwrap();
    assert_eq!(signature, expected_bedrock("/model/m/converse-stream", "a=x%20y&b=2"));
}

#[test]
fn secret_is_never_sent_and_sensitive_headers_are_marked() {
    let mut request = bedrock("/model/m/converse-stream");
    let scope = || Scope { service: "bedrock", region: "eu-west-1", now: NOW };
    sign(&mut request, &keys(Some("session/token+1=")), scope()).unwrap();
    let lines: Vec<String> = request
        .headers
        .iter()
        .map(|(name, value)| {
            let mark = if value.is_sensitive() { " (sensitive)" } else { "" };
            format!("{name}: {}{mark}", value.to_str().unwrap())
        })
        .collect();
    assert!(!lines.concat().contains(SECRET));
    expect![[r#"
        content-type: application/json
        accept: application/vnd.amazon.eventstream
        user-agent: rheon
        x-amz-date: 20150830T123600Z
        authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-west-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=SIGNATURE (sensitive)
        x-amz-security-token: session/token+1= (sensitive)"#]]
    .assert_eq(&lines.join("\n").replace(&expected_bedrock("/model/m/converse-stream", ""), "SIGNATURE"));

    let once = request.headers.clone();
    sign(&mut request, &keys(Some("session/token+1=")), scope()).unwrap();
    assert_eq!(request.headers, once);
}

#[test]
fn region_is_read_from_the_host() {
    let regions = [
        "bedrock-runtime.us-east-1.amazonaws.com",
        "bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
        "bedrock-runtime.cn-north-1.amazonaws.com.cn",
        "vpce-1.bedrock-runtime.eu-central-1.vpce.amazonaws.com",
        "iam.amazonaws.com",
        "localhost",
        "us-east-1.example.com",
    ]
    .map(|host| region_of_host(host).unwrap_or("-"));
    assert_eq!(regions, ["us-east-1", "us-gov-west-1", "cn-north-1", "eu-central-1", "-", "-", "-"]);
}
