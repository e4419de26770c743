//! Real error responses of services, and their classification.

use expect_test::expect;
use http::{HeaderMap, HeaderName, StatusCode};
use rheon_types::ProviderErrorKind::{self, *};
use rheon_types::{ProviderError, Timestamp};
use serde_json::json;

use super::{MESSAGE_CHARS_MAX, SHORTENED, from_response, in_stream};

/// 2023-11-14T22:13:20Z.
const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn classify(status: u16, headers: &[(&str, &str)], body: &str) -> ProviderError {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
        .collect();
    from_response(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes(), NOW)
}

fn kind(status: u16, body: &str) -> ProviderErrorKind {
    classify(status, &[], body).kind
}

#[test]
fn every_status_has_a_kind() {
    let kinds = |statuses: &[u16]| statuses.iter().map(|status| kind(*status, "")).collect::<Vec<_>>();
    assert_eq!(kinds(&[401, 402, 403]), [Auth; 3]);
    assert_eq!(kinds(&[429]), [RateLimited]);
    assert_eq!(kinds(&[500, 502, 503, 520, 529, 530]), [Overloaded; 6]);
    assert_eq!(kinds(&[408, 504, 524]), [Timeout; 3]);
    assert_eq!(kinds(&[400, 404, 405, 422]), [InvalidRequest; 4]);
    assert_eq!(kinds(&[413]), [ContextOverflow]);
    assert_eq!(kinds(&[303, 409, 418, 424, 501]), [Api; 5]);
}

/// Messages for a prompt that is too long.
const OVERFLOWS: &[(u16, &str)] = &[
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 205000 tokens > 200000 maximum"}}"#,
    ),
    (
        400,
        r#"{"error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}"#,
    ),
    (413, r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#),
    (
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":null}}"#,
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
    ),
    (400, r#"{"message":"Input is too long for requested model."}"#),
    (400, r#"{"message":"The model returned the following errors: input is too long: 250000 tokens"}"#),
    (
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
    ),
    (500, r#"{"error":{"code":500,"message":"Context size has been exceeded.","type":"server"}}"#),
    (
        400,
        r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
    ),
    (
        400,
        r#"{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":3051}"#,
    ),
    (
        400,
        r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 150000 tokens."}"#,
    ),
    (
        400,
        r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072","type":"invalid_request_error"}}"#,
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"bad_request_error","message":"invalid params, context window exceeds limit (2013)"}}"#,
    ),
    (
        400,
        r#"{"object":"error","message":"The prompt (total length 5000) is too long to fit into the model, maximum model length of 4096","type":"BadRequestError"}"#,
    ),
    (400, r#"{"error":"prompt too long; exceeded max context length by 120 tokens"}"#),
    (
        400,
        r#"{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]","code":"invalid_parameter_error"}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"Trying to keep the first 9000 tokens when context overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input"}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}"}}}"#,
    ),
    (
        422,
        r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` tokens and 4096 `max_new_tokens`"}"#,
    ),
    (
        400,
        r#"{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."}"#,
    ),
    (
        400,
        r#"{"error":{"message":"You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 98304 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=98305)","type":"BadRequestError","param":"input_tokens","code":400}}"#,
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"Unable to submit request because the input token count is 3601938 but model only supports up to 1000000. Reduce the input token count and try again.","status":"INVALID_ARGUMENT"}}"#,
    ),
    (
        422,
        r#"{"error":{"message":"The input (9000 tokens) is longer than the model's context length (8192 tokens).","type":"invalid_request_error"}}"#,
    ),
    (
        413,
        r#"{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}"#,
    ),
    // A single request exceeds the limit per minute.
    (
        429,
        r#"{"error":{"message":"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
    ),
    (
        413,
        r#"{"error":{"message":"Request too large for model `openai/gpt-oss-120b` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 34041, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}"#,
    ),
    (
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}"#,
    ),
    (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
];

#[test]
fn overflow_is_recognized_in_the_words_of_every_service() {
    for (status, body) in OVERFLOWS {
        assert_eq!(kind(*status, body), ContextOverflow, "{body}");
    }
    assert_eq!(in_stream("context_length_exceeded", "").kind, ContextOverflow);
    assert_eq!(in_stream("model_context_window_exceeded", "too long").kind, ContextOverflow);
    assert_eq!(
        in_stream("validationException", "Input is too long for requested model.").kind,
        ContextOverflow
    );
}

#[test]
fn output_limit_is_not_an_overflow() {
    let body = r#"{"error":{"message":"max_tokens is too large: 99999. This model supports at most 4096 completion tokens","type":"invalid_request_error"}}"#;
    assert_eq!(kind(400, body), InvalidRequest);
}

#[test]
fn rate_limit_that_mentions_tokens_is_a_rate_limit() {
    for (status, body) in [
        (
            429,
            r#"{"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4s.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        ),
        (
            413,
            r#"{"error":{"message":"on tokens per minute (TPM): Limit 6000, Used 5000, Requested 2000","type":"tokens","code":"rate_limit_exceeded"}}"#,
        ),
        (400, r#"{"error":{"message":"exceeded tokens per minute; prompt is too long for your tier"}}"#),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"exceeds your rate limit of 40,000 input tokens per minute; reduce the prompt length"}}"#,
        ),
        (429, r#"{"message":"Too many tokens, please wait before trying again."}"#),
        (
            429,
            r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}]"#,
        ),
        (200, r#"{"error":{"code":429,"message":"Rate limited upstream"}}"#),
    ] {
        assert_eq!(kind(status, body), RateLimited, "{body}");
    }
    assert_eq!(in_stream("throttlingException", "slow").kind, RateLimited);
    assert_eq!(in_stream("429", "slow").kind, RateLimited);
}

#[test]
fn missing_credit_is_not_retryable() {
    for (status, body) in [
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        ),
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
        ),
        (402, r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#),
        (429, r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package."}}"#),
        (429, r#"{"error":{"message":"Your account is suspended","type":"exceeded_current_quota_error"}}"#),
        (
            429,
            r#"{"code":"Some resource has been exhausted","error":"Your team 1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}}"#,
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1700086400000"}}}}"#,
        ),
        (429, r#"{"message":"Too many tokens per day, please wait before trying again."}"#),
        (
            429,
            r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"20s"}]}}"#,
        ),
        (
            429,
            r#"{"error":{"message":"{\"error\":{\"code\":429,\"message\":\"You exceeded your current quota.\\n* Quota exceeded for metric: m, limit: 0, model: gemini-2.5-pro\\nPlease retry in 20.04466179s.\",\"status\":\"RESOURCE_EXHAUSTED\"}}","code":429,"status":"Too Many Requests"}}"#,
        ),
    ] {
        let error = classify(status, &[("retry-after", "5")], body);
        assert_eq!((error.kind, error.is_retryable(), error.retry_after_ms), (Auth, false, None), "{body}");
    }
}

#[test]
fn error_codes_of_all_services_are_known() {
    for (code, expected) in [
        ("authentication_error", Auth),
        ("permission_error", Auth),
        ("UNAUTHENTICATED", Auth),
        ("AccessDeniedException", Auth),
        ("ExpiredTokenException", Auth),
        ("UnrecognizedClientException", Auth),
        ("invalid_api_key", Auth),
        ("overloaded_error", Overloaded),
        ("api_error", Overloaded),
        ("server_error", Overloaded),
        ("internal_server_error", Overloaded),
        ("UNAVAILABLE", Overloaded),
        ("INTERNAL", Overloaded),
        ("serviceUnavailableException", Overloaded),
        ("ModelNotReadyException", Overloaded),
        ("internalServerException", Overloaded),
        ("modelStreamErrorException", Overloaded),
        ("modelTimeoutException", Timeout),
        ("DEADLINE_EXCEEDED", Timeout),
        ("timeout_error", Timeout),
        ("rate_limit_error", RateLimited),
        ("RESOURCE_EXHAUSTED", RateLimited),
        ("content_filter", ContentFilter),
        ("invalid_prompt", ContentFilter),
        ("data_inspection_failed", ContentFilter),
        ("validationException", InvalidRequest),
        ("INVALID_ARGUMENT", InvalidRequest),
        ("not_found_error", InvalidRequest),
        ("503", Overloaded),
        ("something_new", Api),
        ("", Api),
    ] {
        assert_eq!(in_stream(code, "words").kind, expected, "{code}");
    }
    let headers = [("x-amzn-errortype", "ThrottlingException:http://internal.amazon.com/coral/x/")];
    assert_eq!(
        classify(400, &headers, r#"{"message":"slow down"}"#).message,
        "400 ThrottlingException: slow down"
    );
    let body = r#"{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}"#;
    assert_eq!(kind(400, body), Auth);
}

/// Errors whose code alone would be misleading, and their meaning.
const MISLEADING: &[(u16, &str, ProviderErrorKind)] = &[
    // Gemini reports a wrong key as an invalid argument.
    (
        400,
        r#"{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#,
        Auth,
    ),
    (
        400,
        r#"{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=read>"}}"#,
        Malformed,
    ),
    (
        429,
        r#"{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"}"#,
        Overloaded,
    ),
    (
        429,
        r#"{"error":{"code":"NoCapacity","message":"The system is currently experiencing high demand."}}"#,
        Overloaded,
    ),
    (401, r#"{"error":{"code":"401","message":"Access denied due to invalid subscription key"}}"#, Auth),
    (
        403,
        r#"{"error":{"message":"Project `p` does not have access to model `gpt-5`","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
        Auth,
    ),
    (503, r#"{"error":{"message":"try later","type":"invalid_request_error"}}"#, Overloaded),
    (404, r#"{"error":{"code":"DeploymentNotFound","message":"does not exist"}}"#, InvalidRequest),
    (
        500,
        r#"{"error":"model requires more system memory (8.5 GiB) than is available (3.7 GiB)"}"#,
        InvalidRequest,
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
        InvalidRequest,
    ),
    (503, r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#, Overloaded),
    (
        400,
        r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***yz."}"#,
        Auth,
    ),
    (
        402,
        r#"{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 123","code":402}}"#,
        Auth,
    ),
    (
        429,
        r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"some/model:free is temporarily rate-limited upstream. Please retry shortly.","provider_name":"X"}}}"#,
        RateLimited,
    ),
    (
        400,
        r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}"#,
        InvalidRequest,
    ),
    (
        404,
        r#"{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}"#,
        InvalidRequest,
    ),
];

#[test]
fn service_errors_are_classified() {
    for (status, body, expected) in MISLEADING {
        assert_eq!(kind(*status, body), *expected, "{body}");
    }
    let skewed = r#"{"message":"Signature expired: 20231114T221320Z is now earlier than 20231114T231320Z"}"#;
    let headers = [("x-amzn-errortype", "InvalidSignatureException")];
    assert_eq!(
        classify(403, &headers, skewed).message,
        "403 InvalidSignatureException: Signature expired: 20231114T221320Z is now earlier than 20231114T231320Z \
         (check this machine's clock)"
    );
}

#[test]
fn content_filter_differs_from_an_invalid_request() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
        ),
        (
            403,
            r#"{"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["violence"]}}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"This request violates our usage policy.","type":"invalid_request_error"}}"#,
        ),
    ] {
        assert_eq!(kind(status, body), ContentFilter, "{body}");
    }
}

#[test]
fn message_is_found_in_every_shape() {
    let shapes = [
        (400, r#"{"error":{"message":"said","type":"invalid_request_error","code":null}}"#),
        (400, r#"{"error":"said"}"#),
        (400, r#"{"message":"said"}"#),
        (400, r#"{"Message":"said"}"#),
        (400, r#"{"detail":"said"}"#),
        (422, r#"{"detail":[{"loc":["body","messages",0],"msg":"field required","type":"x"},"odd"]}"#),
        (400, r#"[{"error":{"code":400,"message":"said","status":"INVALID_ARGUMENT"}}]"#),
        (400, r#"{"errors":[{"message":"said"}]}"#),
        (400, r#"{"error":"invalid_grant","error_description":"said"}"#),
        (400, r#"{"message":{"detail":[{"msg":"said"}]}}"#),
        (502, "<!DOCTYPE html>\n<HTML><head><Title>Bad\n gateway</Title></head><body>long</body></HTML>"),
        (403, "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>said</Message></Error>"),
        (503, "<p>nothing"),
        (500, "  said,\n\tas\u{1b}[0m plain text  "),
        (500, ""),
        (400, "{}"),
        (400, "null"),
        (
            502,
            r#"{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":{"error":{"message":"behind","type":"overloaded_error"}}}}}"#,
        ),
        (404, r#"{"error":{"type":"not_found_error","message":"model: claude-9"}}"#),
        (404, "404 page not found"),
        (200, r#"{"base_resp":{"status_code":1004,"status_msg":"login fail"}}"#),
        (200, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
    ];
    let lines: String = shapes
        .iter()
        .map(|(status, body)| {
            let error = classify(*status, &[], body);
            format!("{:?} | {}\n", error.kind, error.message)
        })
        .collect();
    expect![[r#"
        InvalidRequest | 400 invalid_request_error: said
        InvalidRequest | 400 Bad Request: said
        InvalidRequest | 400 Bad Request: said
        InvalidRequest | 400 Bad Request: said
        InvalidRequest | 400 Bad Request: said
        InvalidRequest | 422 Unprocessable Entity: body.messages.0: field required; odd
        InvalidRequest | 400 INVALID_ARGUMENT: said
        InvalidRequest | 400 Bad Request: said
        InvalidRequest | 400 invalid_grant: said
        InvalidRequest | 400 Bad Request: said
        Overloaded | 502 Bad Gateway: Bad gateway
        Auth | 403 AccessDenied: said
        Overloaded | 503 Service Unavailable: an HTML or XML response without a title
        Overloaded | 500 Internal Server Error: said, as [0m plain text
        Overloaded | 500 Internal Server Error
        InvalidRequest | 400 Bad Request
        InvalidRequest | 400 Bad Request: null
        Overloaded | 502 overloaded_error: Provider returned error: behind
        InvalidRequest | 404 not_found_error: model: claude-9 (check the model name)
        InvalidRequest | 404 Not Found: 404 page not found (check the base URL and the model name)
        Auth | base_resp 1004: login fail
        Overloaded | overloaded_error: Overloaded
    "#]]
    .assert_eq(&lines);
}

#[test]
fn long_message_is_truncated_between_characters() {
    let body = json!({ "error": { "message": "é".repeat(5_000) } }).to_string();
    let message = classify(400, &[], &body).message;
    assert_eq!(message, format!("400 Bad Request: {}{SHORTENED}", "é".repeat(MESSAGE_CHARS_MAX)));
    let message = in_stream(&"c".repeat(9_000), &"m".repeat(9_000)).message;
    assert!(message.chars().count() < 2 * MESSAGE_CHARS_MAX + 100, "{}", message.len());
}

#[test]
fn deeply_nested_errors_are_bounded() {
    let mut body = json!("deep");
    for _ in 0..100 {
        body = json!({ "error": body, "metadata": { "raw": "{}" } });
    }
    assert_eq!(kind(500, &body.to_string()), Overloaded);
    let quoted = (0..12).fold("deep".to_owned(), |text, _| json!({ "error": text }).to_string());
    assert_eq!(kind(500, &quoted), Overloaded);
}

#[test]
fn delay_is_parsed_in_every_format() {
    for (headers, expected) in [
        (&[("retry-after", "7")][..], Some(7_000)),
        (&[("retry-after", "0")], Some(0)),
        (&[("retry-after", "1.5")], Some(1_500)),
        (&[("retry-after", "1000000000")], Some(1_000_000_000_000)),
        (&[("retry-after", "1e30")], Some(u64::MAX)),
        (&[("retry-after", "-5")], None),
        (&[("retry-after", "NaN")], None),
        (&[("retry-after", "inf")], None),
        (&[("retry-after", "soon")], None),
        (&[("retry-after", "")], None),
        (&[("retry-after", "Tue, 14 Nov 2023 22:13:50 GMT")], Some(30_000)),
        (&[("retry-after", "Tue, 14 Nov 2023 22:00:00 GMT")], Some(0)),
        (&[("retry-after", "9"), ("retry-after-ms", "250")], Some(250)),
        (&[("x-ratelimit-reset-requests", "1m2.5s")], Some(62_500)),
        (&[("x-ratelimit-reset-requests", "20ms"), ("x-ratelimit-reset-tokens", "6m0s")], Some(360_000)),
        (
            &[
                ("x-ratelimit-reset-requests", "20ms"),
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-tokens", "6m0s"),
                ("x-ratelimit-remaining-tokens", "99"),
            ],
            Some(20),
        ),
        (&[("anthropic-ratelimit-requests-reset", "2023-11-14T22:13:25Z")], Some(5_000)),
        (&[("x-ratelimit-reset", "1700000010000")], Some(10_000)),
        (&[("x-ratelimit-reset", "1700000010")], Some(10_000)),
        (&[("x-ratelimit-reset", "12")], Some(12_000)),
        (&[("x-ratelimit-reset", "-1")], None),
        (&[("x-ratelimit-reset", "2023-11-14T22:13:25Z"), ("retry-after", "1")], Some(1_000)),
    ] {
        assert_eq!(classify(429, headers, "").retry_after_ms, expected, "{headers:?}");
    }
    assert_eq!(classify(503, &[("x-ratelimit-reset", "12")], "").retry_after_ms, None);
    assert_eq!(classify(503, &[("retry-after", "12")], "").retry_after_ms, Some(12_000));
    assert_eq!(classify(400, &[("retry-after", "12")], "").retry_after_ms, None);
}

#[test]
fn delay_is_read_from_the_body() {
    let gemini = r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17.5s"}]}}"#;
    assert_eq!(classify(429, &[], gemini).retry_after_ms, Some(17_500));
    let openrouter = r#"{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429,"metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1700000009000"}}}}"#;
    assert_eq!(classify(429, &[], openrouter).retry_after_ms, Some(9_000));
    let azure = r#"{"error":{"code":"429","message":"Requests to the API have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds."}}"#;
    assert_eq!(classify(429, &[], azure).retry_after_ms, Some(6_000));
    for (message, expected) in [
        ("Rate limit reached. Please try again in 1.5s. Visit", Some(1_500)),
        ("Please try again in 6m0s.", Some(360_000)),
        ("Please retry after 20 seconds.", Some(20_000)),
        ("please try again in 450ms", Some(450)),
        ("try again in a while", None),
        ("try again in -5s", None),
        ("try again in 5", None),
        ("try again in ", None),
    ] {
        assert_eq!(in_stream("rate_limit_exceeded", message).retry_after_ms, expected, "{message}");
    }
}
