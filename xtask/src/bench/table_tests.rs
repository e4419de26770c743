//! Tests of the table.

use expect_test::expect;

use super::super::costs::Costs;
use super::super::rows::{Aim, ROWS, Row};
use super::super::timing::Times;
use super::{Measured, grouped, render, time};

const ROWS_OF_TEST: &[Row] = &[
    Row { title: "by hand", case: "hand", aim: None, reference: None },
    Row {
        title: "ours",
        case: "ours",
        aim: Some(Aim { nanos: Some(1_000.0), allocations: Some(1.0), ratio: None }),
        reference: Some("hand"),
    },
    Row {
        title: "slow",
        case: "slow",
        aim: Some(Aim { nanos: Some(20_000.0), allocations: None, ratio: Some(1.5) }),
        reference: Some("hand"),
    },
];

/// Costs of ten units each, so that one costs what is given.
fn costs(per_unit: &[(&str, f64)]) -> Costs {
    let mut costs = Costs::default();
    for (case, cost) in per_unit {
        costs.insert(*case, 1, 100.0);
        costs.insert(*case, 11, 100.0 + cost * 10.0);
    }
    costs
}

#[test]
fn a_row_shows_the_figure_its_aim_its_reference_and_what_was_missed() {
    let measured = Measured {
        times: Times {
            best: costs(&[("hand", 200.0), ("ours", 250.0), ("slow", 25_000.0)]),
            median: costs(&[("hand", 210.0), ("ours", 1_050.0), ("slow", 26_000.0)]),
        },
        allocations: costs(&[("hand", 1.0), ("ours", 1.5), ("slow", 40.0)]),
        instructions: costs(&[("hand", 700.0), ("ours", 1_234.0), ("slow", 1_234_567.0)]),
    };
    expect![[r#"
        | per unit | time (median)     | aim                                                 | reference | ratio  | allocations | instructions |
        |----------|-------------------|-----------------------------------------------------|-----------|--------|-------------|--------------|
        | by hand  | 200 ns (210 ns)   |                                                     |           |        | 1.00        | 700          |
        | ours     | 250 ns (1.05 µs)  | MISSED (allocations): time < 1 µs, allocations <= 1 | by hand   | 1.25   | 1.50        | 1,234        |
        | slow     | 25.0 µs (26.0 µs) | MISSED (time, ratio): time < 20 µs, ratio <= 1.5    | by hand   | 125.00 | 40.00       | 1,234,567    |
    "#]]
    .assert_eq(&render(ROWS_OF_TEST, &measured));
}

#[test]
fn an_instrument_that_was_not_used_leaves_its_column_blank() {
    let measured = Measured {
        instructions: costs(&[("hand", 500.0), ("ours", 600.0), ("new", 1.0)]),
        ..Measured::default()
    };
    expect![[r#"
        | per unit | time (median) | aim                           | reference | ratio | allocations | instructions |
        |----------|---------------|-------------------------------|-----------|-------|-------------|--------------|
        | by hand  | -             |                               |           |       | -           | 500          |
        | ours     | -             | time < 1 µs, allocations <= 1 | by hand   | 1.20  | -           | 600          |
        | slow     | -             | time < 20 µs, ratio <= 1.5    | by hand   | -     | -           | -            |

        measured, but in no row: new"#]]
    .assert_eq(&render(ROWS_OF_TEST, &measured));
}

#[test]
fn figures_are_short() {
    assert_eq!([3.456, 34.56, 345.6].map(time), ["3.46 ns", "34.6 ns", "346 ns"]);
    assert_eq!([1_000.0, 45_678.0, 2.5e6].map(time), ["1.00 µs", "45.7 µs", "2.50 ms"]);
    assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
}

#[test]
fn every_reference_has_a_row_before_it_is_used() {
    for (index, row) in ROWS.iter().enumerate() {
        let before = ROWS.iter().take(index).map(|row| row.case).collect::<Vec<_>>();
        assert!(row.reference.is_none_or(|case| before.contains(&case)), "{}", row.case);
        assert!(!before.contains(&row.case), "{} has two rows", row.case);
    }
}
