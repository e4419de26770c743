//! Costs in a table column.

use rheon_app::sessions::Spend;
use rheon_text::units::money;
use rheon_types::MicroUsd;

/// The cost, with a question mark if some calls have no known price.
pub(super) fn cost(spend: &Spend) -> String {
    match (spend.cost, spend.calls_unpriced) {
        (cost, 0) => money(cost.0),
        (MicroUsd(0), _) => "?".into(),
        (cost, _) => format!("{} +?", money(cost.0)),
    }
}

#[cfg(test)]
mod tests {
    use rheon_app::sessions::Spend;
    use rheon_types::MicroUsd;

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
}
