//! Tests of the cost of one unit.

use super::Costs;

#[test]
fn a_unit_costs_what_the_additional_units_cost() {
    let mut costs = Costs::default();
    costs.insert("delta", 1, 150.0);
    costs.insert("delta", 101, 350.0);
    assert_eq!(costs.per_unit("delta"), Some(2.0));
}

#[test]
fn one_size_says_nothing_about_a_unit() {
    let mut costs = Costs::default();
    costs.insert("delta", 1, 150.0);
    assert_eq!(costs.per_unit("delta"), None);
    assert_eq!(costs.per_unit("turn"), None);
}

#[test]
fn measurements_are_read_from_lines_of_json() {
    let lines =
        "Compiling\n{\"case\":\"a\",\"units\":1,\"bytes\":3}\n{\"case\":\"a\",\"units\":3,\"bytes\":7}\n";
    let mut expected = Costs::default();
    expected.insert("a", 1, 3.0);
    expected.insert("a", 3, 7.0);
    assert_eq!(Costs::read(lines, "bytes").unwrap(), expected);
    let error = Costs::read(lines, "allocations").unwrap_err();
    assert_eq!(error.to_string(), "no allocations in {\"case\":\"a\",\"units\":1,\"bytes\":3}");
}
