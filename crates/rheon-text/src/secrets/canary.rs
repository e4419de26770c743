//! One made-up secret of every format, for the tests of whatever must not let one through.

use super::shapes::{Rest, SHAPES, Shape};

/// One secret of every format that needs no name, and what it is. Made, not written, so that no scanner takes this file for
/// a leak.
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
