//! The table: which codes, words and statuses of which services mean what.

use rheon_types::ProviderErrorKind::{self, *};

use super::report::Report;

/// What an error means. A few words say more than anything else; then a code of the service says most, then its
/// words, then codes that services use for anything, then the status.
///
/// An account without credit, or without quota for the day, is `Auth`: the key may not do this until its owner acts,
/// and waiting does not help.
pub(super) fn kind_of(report: &Report) -> ProviderErrorKind {
    let said = report.message.to_lowercase();
    by_phrase(&said, CLEAR_WORDS)
        .or_else(|| by_code(report, CODES))
        .or_else(|| by_words(report, &said))
        .or_else(|| by_code(report, WEAK_CODES).filter(|_| !is_telling(report.status)))
        .or_else(|| report.status.or_else(|| report.status_code()).map(by_status))
        .or_else(|| by_code(report, LAST_CODES))
        .unwrap_or(Api)
}

fn by_code(report: &Report, table: &[(ProviderErrorKind, &[&str])]) -> Option<ProviderErrorKind> {
    let known = |codes: &[&str]| report.codes.iter().any(|code| codes.contains(&plain(code).as_str()));
    table.iter().find(|(_, codes)| known(codes)).map(|(kind, _)| *kind)
}

fn by_words(report: &Report, said: &str) -> Option<ProviderErrorKind> {
    match report.status.or_else(|| report.status_code()) {
        Some(401) => Some(Auth),
        // Whatever else a rate limit speaks of, it is one.
        Some(429) => Some(RateLimited),
        Some(_) | None => by_phrase(said, WORDS),
    }
}

fn by_phrase(said: &str, table: &[(ProviderErrorKind, &[&str])]) -> Option<ProviderErrorKind> {
    table.iter().find(|(_, phrases)| says_any(said, phrases)).map(|(kind, _)| *kind)
}

fn says_any(said: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| says(said, phrase))
}

/// Whether `said` has the parts of `phrase` in order; `*` stands for anything between them.
fn says(said: &str, phrase: &str) -> bool {
    let mut rest = said;
    phrase.split('*').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// A code without what services write differently: case, separators, name space, `Error` and `Exception`.
fn plain(code: &str) -> String {
    let code = code.rsplit('#').next().unwrap_or_default();
    let code = code.split(':').next().unwrap_or_default();
    let letters: String =
        code.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    let bare = letters.strip_suffix("exception").unwrap_or(&letters);
    let bare = bare.strip_suffix("error").unwrap_or(bare);
    if bare.is_empty() { letters } else { bare.to_owned() }
}

/// Whether a status says more than a code that services give to anything.
fn is_telling(status: Option<u16>) -> bool {
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

/// Words that say more than any code beside them. The first row that has one decides.
const CLEAR_WORDS: &[(ProviderErrorKind, &[&str])] = &[
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
            // Quotas of a day, or of nothing at all: no wait that anyone would sit through helps.
            "free-models-per-day",
            "too many tokens per day",
            "quota exceeded * limit: 0, model",
        ],
    ),
    // One request alone is more than a limit allows: it can be made smaller, but waiting never helps.
    (ContextOverflow, &["request too large for * requested", "extra usage is required for long context"]),
];

/// Codes that mean one thing, in the form of [`plain`]. The first row that knows one decides.
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
    // What the model wrote could not be read as a call: it may write better the next time.
    (Malformed, &["toolusefailed", "jsonvalidatefailed", "outputparsefailed"]),
];

/// Words that mean one thing wherever they stand. The first row that has one decides.
const WORDS: &[(ProviderErrorKind, &[&str])] = &[
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
        &["overloaded", "at capacity", "temporarily unavailable", "server is busy", "no available server"],
    ),
    // A local server that lacks something says so with 500, however often it is asked.
    (InvalidRequest, &["requires more system memory", "requires --jinja"]),
];

/// Codes that services give to anything: they count only where the words say nothing.
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

/// Codes that say nothing but that it is the service's fault: they count only where there is no status.
const LAST_CODES: &[(ProviderErrorKind, &[&str])] = &[(Overloaded, &["api"])];
