//! Numbers for people: counts, bytes, tokens, durations, money.

/// Sums below this, in millionths of a dollar, are not rounded: most of the amount would be lost.
pub const MONEY_EXACT_BELOW: u64 = 1_000;

/// `1 turn`, `1,234 turns`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `512 bytes`, `12.3 kB`, `4.0 MB`.
pub fn bytes(number: u64) -> String {
    match number {
        0..1_000 => count(number, "byte"),
        1_000..1_000_000 => format!("{}.{} kB", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{} MB", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Tokens for a table: `512`, `200k`, `1.0M`.
pub fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// How long something took: `12 ms`, `1.2 s`, `2 min 5 s`.
pub fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => elapsed(millis),
    }
}

/// Elapsed time in whole seconds: `0 s`, `59 s`, `2 min 5 s`.
pub fn elapsed(millis: u64) -> String {
    let seconds = millis / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// How long ago something was: `just now`, `5 min ago`, `2 h ago`, `3 d ago`.
pub fn ago(millis: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = millis / 1_000;
    match seconds {
        0..MINUTE => "just now".into(),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..DAY => format!("{} h ago", seconds / HOUR),
        _ => format!("{} d ago", seconds / DAY),
    }
}

/// A sum in millionths of a dollar, rounded up: `$0.000012`, `$0.0123`, `$12.34`.
pub fn money(micro_usd: u64) -> String {
    if micro_usd < MONEY_EXACT_BELOW && !micro_usd.is_multiple_of(100) {
        format!("$0.{micro_usd:06}").trim_end_matches('0').to_owned()
    } else if micro_usd < 1_000_000 {
        let parts = micro_usd.div_ceil(100);
        format!("${}.{:04}", parts / 10_000, parts % 10_000)
    } else {
        let cents = micro_usd.div_ceil(10_000);
        format!("${}.{:02}", cents / 100, cents % 100)
    }
}

/// An exact price in millionths of a dollar, in dollars without a sign: `0`, `0.3`, `15`.
pub fn dollars(micro_usd: u64) -> String {
    let text = format!("{}.{:06}", micro_usd / 1_000_000, micro_usd % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
