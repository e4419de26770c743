//! One fake secret of every format, for tests of code that must not leak one.

use super::shapes::{Rest, SHAPES, Shape};

/// One fake secret of every format that needs no name, with its kind. Generated, so that no scanner reports this file.
pub fn canaries() -> Vec<(&'static str, String)> {
    let mut canaries: Vec<(&'static str, String)> =
        SHAPES.iter().map(|shape| (shape.kind, example(shape))).collect();
    let token = ["eyJhbGciOiJSUzI1NiJ9", "eyJpc3MiOiJhIn0", "c2lnbmF0dXJl"].join(".");
    canaries.push(("JSON web token", token));
    canaries.push(("Telegram token", format!("123456789:AA{}", "x".repeat(33))));
    for kind in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        canaries.push((
            "private key",
            format!("-----BEGIN {kind}-----\nMIIEpAIBAAKCAQEA+/=\nabc\n-----END {kind}-----"),
        ));
    }
    canaries
}

/// The shortest key of the shape.
pub(super) fn example(shape: &Shape) -> String {
    let (alphabet, length) = match shape.rest {
        Rest::Plain(least) | Rest::Word(least) | Rest::Long(least) => ("a1B2", least),
        Rest::Hex(exact) => ("c0ffee12", exact),
        Rest::Capitals(exact) => ("Q7", exact),
    };
    shape.prefix.chars().chain(alphabet.chars().cycle().take(length)).collect()
}
