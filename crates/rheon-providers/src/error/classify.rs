//! Classification tables: which codes, phrases and statuses mean which kind of error.

use rheon_types::ProviderErrorKind::{self, *};

use super::report::Report;

/// Classifies an error. Unambiguous phrases come first, then specific error codes, other phrases, generic codes, and
/// the HTTP status last.
///
/// An account without credit, or without quota for the day, is `Auth`: the key's owner has to act, and waiting does
/// not help.
pub(super) fn kind_of(report: &Report) -> ProviderErrorKind {
    let text = report.message.to_lowercase();
    by_phrase(&text, CLEAR_PHRASES)
        .or_else(|| by_code(report, CODES))
        .or_else(|| by_message(report, &text))
        .or_else(|| by_code(report, WEAK_CODES).filter(|_| !is_specific(report.status)))
        .or_else(|| report.status.or_else(|| report.status_code()).map(by_status))
        .or_else(|| by_code(report, LAST_CODES))
        .unwrap_or(Api)
}

fn by_code(report: &Report, table: &[(ProviderErrorKind, &[&str])]) -> Option<ProviderErrorKind> {
    let known = |codes: &[&str]| report.codes.iter().any(|code| codes.contains(&plain(code).as_str()));
    table.iter().find(|(_, codes)| known(codes)).map(|(kind, _)| *kind)
}

fn by_message(report: &Report, text: &str) -> Option<ProviderErrorKind> {
    match report.status.or_else(|| report.status_code()) {
        Some(401) => Some(Auth),
        // A rate limit stays one, even if its message mentions something else.
        Some(429) => Some(RateLimited),
        Some(_) | None => by_phrase(text, PHRASES),
    }
}

fn by_phrase(text: &str, table: &[(ProviderErrorKind, &[&str])]) -> Option<ProviderErrorKind> {
    table.iter().find(|(_, phrases)| contains_any(text, phrases)).map(|(kind, _)| *kind)
}

fn contains_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| contains_phrase(text, phrase))
}

/// Whether `text` contains the parts of `phrase` in order; `*` matches anything between them.
fn contains_phrase(text: &str, phrase: &str) -> bool {
    let mut rest = text;
    phrase.split('*').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// A code without the parts that services write differently: case, separators, namespace, `Error` and `Exception`.
fn plain(code: &str) -> String {
    let code = code.rsplit('#').next().unwrap_or_default();
    let code = code.split(':').next().unwrap_or_default();
    let letters: String =
        code.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    let bare = letters.strip_suffix("exception").unwrap_or(&letters);
    let bare = bare.strip_suffix("error").unwrap_or(bare);
    if bare.is_empty() { letters } else { bare.to_owned() }
}

/// Whether a status is more specific than a generic code.
fn is_specific(status: Option<u16>) -> bool {
    matches!(status, Some(401..=403 | 408 | 413 | 429 | 500..=599))
}

fn by_status(status: u16) -> ProviderErrorKind {
    match status {
        401..=403 => Auth,
        408 | 504 | 524 | 598 | 599 => Timeout,
        413 => ContextOverflow,
        429 => RateLimited,
        400 | 404 | 405 | 406 | 411 | 414 | 415 | 422 | 431 => InvalidRequest,
        501 | 505 => Api,
        500..=599 => Overloaded,
        _ => Api,
    }
}

/// Phrases that are more specific than any code next to them. The first matching row wins.
const CLEAR_PHRASES: &[(ProviderErrorKind, &[&str])] = &[
    (
        Auth,
        &[
            "credit balance",
            "insufficient balance",
            "insufficient credit",
            "insufficient_quota",
            "insufficient funds",
            "billing hard limit",
            "billing_not_active",
            "account is not active",
            "exceeded your monthly included credits",
            "requires more credits",
            "used all available credits",
            "run out of credits",
            "monthly spending limit",
            "specified api usage limits",
            "account * suspended",
            // Daily quotas, or quotas of zero: waiting does not help.
            "free-models-per-day",
            "too many tokens per day",
            "quota exceeded * limit: 0, model",
        ],
    ),
    // A single request exceeds a limit: making it smaller helps, waiting does not.
    (ContextOverflow, &["request too large for * requested", "extra usage is required for long context"]),
];

/// Unambiguous codes, normalized by [`plain`]. The first matching row wins.
const CODES: &[(ProviderErrorKind, &[&str])] = &[
    (
        Auth,
        &[
            "insufficientquota",
            "billing",
            "billinghardlimitreached",
            "billingnotactive",
            "exceededcurrentquota",
            "insufficientbalance",
            "insufficientcredits",
            "paymentrequired",
            "quotaoftheday",
            "1113",
            "baseresp1008",
        ],
    ),
    (
        ContextOverflow,
        &[
            "contextlengthexceeded",
            "modelcontextwindowexceeded",
            "contextwindowexceeded",
            "exceedcontextsize",
            "stringabovemaxlength",
            "tokenlimitexceeded",
            "requesttoolarge",
            "tokensexceeded",
            "tokenslimitreached",
        ],
    ),
    (
        ContentFilter,
        &[
            "contentfilter",
            "contentpolicyviolation",
            "responsibleaipolicyviolation",
            "datainspectionfailed",
            "moderationblocked",
            "contentblocked",
            "invalidprompt",
            "guardrailintervened",
            "cyberpolicyviolation",
            "imagecontentpolicyviolation",
        ],
    ),
    (
        RateLimited,
        &[
            "ratelimit",
            "ratelimitexceeded",
            "ratelimitreached",
            "tokensperminuteexceeded",
            "toomanyrequests",
            "requestlimitexceeded",
            "throttling",
            "throttled",
            "throttlingratequota",
            "limitrequests",
            "resourceexhausted",
            "servicequotaexceeded",
            "requestsperminuteexceeded",
            "slowdown",
            "1302",
            "1303",
            "baseresp1002",
            "baseresp1039",
        ],
    ),
    (
        Auth,
        &[
            "invalidapikey",
            "apikeyinvalid",
            "incorrectapikey",
            "authentication",
            "authenticationfailed",
            "authorization",
            "permission",
            "permissiondenied",
            "unauthenticated",
            "unauthorized",
            "forbidden",
            "accessdenied",
            "accessterminated",
            "expiredtoken",
            "tokenexpired",
            "unrecognizedclient",
            "invalidsignature",
            "signaturedoesnotmatch",
            "missingauthenticationtoken",
            "invalidclienttokenid",
            "incompletesignature",
            "invalidauthentication",
            "invalidtoken",
            "baseresp1004",
        ],
    ),
    (
        Timeout,
        &[
            "timeout",
            "deadlineexceeded",
            "modeltimeout",
            "requesttimeout",
            "gatewaytimeout",
            "upstreamtimeout",
        ],
    ),
    (
        Overloaded,
        &[
            "overloaded",
            "unavailable",
            "serviceunavailable",
            "serverunavailable",
            "engineoverloaded",
            "modeloverloaded",
            "modelnotready",
            "capacityexceeded",
            "serveroverloaded",
            "serverisoverloaded",
            "servicetiercapacityexceeded",
            "nocapacity",
            "1305",
        ],
    ),
    // The model's output could not be parsed as a tool call; another attempt may succeed.
    (Malformed, &["toolusefailed", "jsonvalidatefailed", "outputparsefailed"]),
];

/// Unambiguous phrases. The first matching row wins.
const PHRASES: &[(ProviderErrorKind, &[&str])] = &[
    (
        RateLimited,
        &["tokens per min", "requests per min", "tokens per day", "requests per day", "(tpm)", "(rpm)"],
    ),
    (
        ContextOverflow,
        &[
            "prompt is too long",
            "input is too long",
            "prompt too long",
            "context length exceeded",
            "context_length_exceeded",
            "maximum context length",
            "max context length",
            "maximum model length",
            "max_model_len",
            "maximum prompt length",
            "context window",
            "context limit",
            "context size has been exceeded",
            "available context size",
            "exceed*context size",
            "larger than*context",
            "longer than*context length",
            "greater than the context length",
            "context length is only",
            "context length of only",
            "input token count is*only supports up to",
            "`inputs` tokens + `max_new_tokens` must be",
            "prompt exceeds max length",
            "input token count*exceeds the maximum",
            "input tokens exceed",
            "exceeds the maximum number of tokens",
            "exceeded model token limit",
            "request too large",
            "request_too_large",
            "request exceeds the maximum size",
            "reduce the length of the messages",
            "reduce the length of your prompt",
            "range of input length should be",
            "too many tokens in the prompt",
            "input length*exceeds",
            "token*exceeds the limit of",
            "prompt contains*tokens*limit",
            "tokens in request more than max tokens allowed",
        ],
    ),
    (
        ContentFilter,
        &[
            "content management policy",
            "content_filter",
            "content filter",
            "content policy",
            "responsible ai",
            "responsibleai",
            "usage policy",
            "usage policies",
            "input was flagged",
            "prohibited content",
            "prohibited_content",
            "inappropriate content",
            "safety system",
        ],
    ),
    (
        RateLimited,
        &["rate limit", "rate_limit", "ratelimit", "too many requests", "quota exceeded", "throttl"],
    ),
    (
        Auth,
        &[
            "invalid api key",
            "incorrect api key",
            "api key not valid",
            "api key not found",
            "invalid x-api-key",
            "security token included in the request is invalid",
            "security token included in the request is expired",
            "not authorized to perform",
            "insufficient permissions",
        ],
    ),
    (
        Overloaded,
        &[
            "overloaded",
            "at capacity",
            "over capacity",
            "temporarily unavailable",
            "server is busy",
            "no available server",
        ],
    ),
    // A local server that lacks something reports it with status 500 every time.
    (InvalidRequest, &["requires more system memory", "requires --jinja"]),
];

/// Generic codes: they count only if the message is not specific.
const WEAK_CODES: &[(ProviderErrorKind, &[&str])] = &[
    (
        Overloaded,
        &["server", "internal", "internalserver", "internalfailure", "badgateway", "upstream", "modelstream"],
    ),
    (
        InvalidRequest,
        &[
            "invalidrequest",
            "invalidargument",
            "invalidparameter",
            "badrequest",
            "validation",
            "notfound",
            "modelnotfound",
            "resourcenotfound",
            "failedprecondition",
            "outofrange",
            "unprocessableentity",
            "unsupportedvalue",
            "unsupportedparameter",
        ],
    ),
];

/// Codes that only say that the service failed: they count only if there is no status.
const LAST_CODES: &[(ProviderErrorKind, &[&str])] = &[(Overloaded, &["api"])];
