//! Tests of the comparison of two checkouts.

use super::super::costs::Costs;
use super::super::rows::Row;
use super::super::table::Measured;
use super::super::timing::Times;
use super::render;

/// Costs of ten units each, so that one costs what is given.
fn costs(cost: f64) -> Costs {
    let mut costs = Costs::default();
    costs.insert("turn", 1, 100.0);
    costs.insert("turn", 11, 100.0 + cost * 10.0);
    costs
}

#[test]
fn both_checkouts_are_shown_with_their_ratio() {
    let rows = [
        Row { title: "a turn", case: "turn", aim: None, reference: None },
        Row { title: "new", case: "new", aim: None, reference: None },
    ];
    let measured = |times: f64, count: f64| Measured {
        times: Times { best: costs(times), median: costs(times) },
        allocations: costs(3.0),
        instructions: costs(count),
    };
    let table = render(&rows, &measured(300.0, 1_060.0), &measured(200.0, 1_000.0));
    let lines: Vec<&str> = table.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "| a turn | 300 ns | 200 ns | 1.50 | 3.00 | 3.00 | 1,060 | 1,000 | 1.06 MISSED |",
            "| new | - | - | - | - | - | - | - | - |",
        ]
    );
}
