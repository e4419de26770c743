//! How long a service asks to wait, in the many formats that services use.

use http::HeaderMap;
use rheon_types::Timestamp;

use super::report::Report;

/// The explicit delay: in a header, a body field, or the message.
pub(super) fn requested(headers: &HeaderMap, report: &Report, now: Timestamp) -> Option<u64> {
    retry_after(headers, now)
        .or_else(|| report.retry_delay.as_deref().and_then(duration))
        .or_else(|| report.reset.as_deref().and_then(|moment| reset(moment, now)))
        .or_else(|| delay_in_message(&report.message))
}

/// The delay in the headers: seconds, or a point in time.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    header("retry-after-ms").and_then(|value| millis(value, 1.0)).or_else(|| {
        header("retry-after").and_then(|value| millis(value, 1_000.0).or_else(|| until(value, now)))
    })
}

/// When the rate limit resets, for errors without an explicit delay: the latest reset of the exhausted limits, or of
/// all limits if none is marked as exhausted.
pub(super) fn until_reset(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let mut used_up = None;
    let mut any = None;
    for (name, value) in headers {
        let name = name.as_str();
        if !name.contains("ratelimit") || !name.contains("reset") {
            continue;
        }
        let Some(delay) = value.to_str().ok().and_then(|value| reset(value.trim(), now)) else { continue };
        any = any.max(Some(delay));
        let remaining = headers.get(name.replace("reset", "remaining")).and_then(|value| value.to_str().ok());
        if remaining.is_some_and(|remaining| remaining.trim() == "0") {
            used_up = used_up.max(Some(delay));
        }
    }
    used_up.or(any)
}

/// "try again in 1.5s", "retry after 20 seconds".
pub(super) fn delay_in_message(message: &str) -> Option<u64> {
    const OPENINGS: [&str; 6] =
        ["try again in ", "retry in ", "retry after ", "try again after ", "wait for ", "please wait "];
    let lower = message.to_ascii_lowercase();
    OPENINGS.iter().find_map(|opening| {
        let (_, after) = lower.split_once(opening)?;
        let written: String = after
            .chars()
            .take(40)
            .take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ' '))
            .collect();
        parse_spoken(&written)
    })
}

/// A number of units in milliseconds. Negative numbers and nonsense are `None`; values that are too large saturate.
fn millis(value: &str, unit_ms: f64) -> Option<u64> {
    let number: f64 = value.parse().ok()?;
    // Casting a float that is too large gives the largest integer.
    (number.is_finite() && number >= 0.0).then_some((number * unit_ms).ceil() as u64)
}

/// A point in time in HTTP or RFC 3339 format. One in the past means no delay.
fn until(value: &str, now: Timestamp) -> Option<u64> {
    let http = || jiff::fmt::rfc2822::parse(value).ok().map(|moment| moment.timestamp());
    let moment = value.parse::<jiff::Timestamp>().ok().or_else(http)?;
    let moment_ms = u64::try_from(moment.as_millisecond()).unwrap_or(0);
    Some(moment_ms.saturating_sub(now.as_millis()))
}

/// `6m0s`, `1h2m3.5s`, `20ms`, `7.66s`.
fn duration(value: &str) -> Option<u64> {
    let mut rest = value;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at_checked(digits)?;
        let letters = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(letters)?;
        total = total.saturating_add(millis(number, unit_ms(unit)?)?);
        rest = after;
    }
    (!value.is_empty()).then_some(total)
}

/// The same with spaces and trailing words: `20 seconds before you`.
fn parse_spoken(written: &str) -> Option<u64> {
    let mut format_message = written.split_whitespace();
    let first = format_message.next()?.trim_end_matches('.');
    duration(first).or_else(|| {
        let unit = format_message.next().and_then(|word| unit_ms(word.trim_end_matches('.')));
        millis(first, unit?)
    })
}

fn unit_ms(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "millisecond" | "milliseconds" => Some(1.0),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1_000.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60_000.0),
        "h" | "hour" | "hours" => Some(3_600_000.0),
        "d" | "day" | "days" => Some(86_400_000.0),
        _ => None,
    }
}

/// A rate limit header: a duration, a point in time, seconds, or seconds or milliseconds since the epoch.
fn reset(value: &str, now: Timestamp) -> Option<u64> {
    const EPOCH_MS_MIN: u64 = 1_000_000_000_000;
    const EPOCH_S_MIN: u64 = 1_000_000_000;
    if let Some(number) = millis(value, 1.0) {
        let delay = match number {
            EPOCH_MS_MIN.. => number.saturating_sub(now.as_millis()),
            EPOCH_S_MIN.. => number.saturating_mul(1_000).saturating_sub(now.as_millis()),
            _ => millis(value, 1_000.0)?,
        };
        return Some(delay);
    }
    duration(value).or_else(|| until(value, now))
}
