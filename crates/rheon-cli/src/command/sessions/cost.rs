//! Costs and tokens in a table column.

use rheon_app::sessions::Spend;
use rheon_text::units::money;
use rheon_types::{MicroUsd, Usage};

/// The cost, with a question mark if some calls have no known price.
pub(super) fn cost(spend: &Spend) -> String {
    match (spend.cost, spend.calls_unpriced) {
        (cost, 0) => money(cost.0),
        (MicroUsd(0), _) => "?".into(),
        (cost, _) => format!("{} +?", money(cost.0)),
    }
}

/// Whether services reported the tokens of any call.
pub(super) fn is_reported(spend: &Spend) -> bool {
    spend.calls == 0 || spend.usage.total() > 0
}

/// A number of tokens, or a question mark if no call reported any.
pub(super) fn tokens(spend: &Spend, number: impl Fn(&Usage) -> u64) -> String {
    if is_reported(spend) { number(&spend.usage).to_string() } else { "?".into() }
}

#[cfg(test)]
mod tests {
    use rheon_app::sessions::Spend;
    use rheon_types::{MicroUsd, Usage};

    #[test]
    fn what_has_no_price_is_not_free() {
        let shown = |cost, calls_unpriced| {
            super::cost(&Spend { cost: MicroUsd(cost), calls_unpriced, ..Spend::default() })
        };
        assert_eq!(
            [shown(0, 0), shown(1_600, 0), shown(0, 2), shown(1_600, 2)],
            ["$0.0000", "$0.0016", "?", "$0.0016 +?"]
        );
    }

    #[test]
    fn tokens_that_were_not_reported_are_unknown() {
        let shown = |calls, input| {
            let usage = Usage { input, ..Usage::default() };
            super::tokens(&Spend { calls, usage, ..Spend::default() }, |usage| usage.input)
        };
        assert_eq!([shown(0, 0), shown(2, 0), shown(2, 30)], ["0", "?", "30"]);
    }
}
