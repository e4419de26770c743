//! Tests of reading criterion's results.

use serde_json::json;

use super::{Costs, take};

#[test]
fn a_result_is_the_median_of_a_case_at_a_size() {
    let mut costs = Costs::default();
    let name = json!({ "group_id": "delta/none/10", "function_id": null, "value_str": "10001" });
    let estimates = json!({
        "mean": { "point_estimate": 9.0 },
        "median": { "point_estimate": 7.5, "standard_error": 0.1 },
    });
    take(&name, &estimates, &mut costs).unwrap();
    let mut expected = Costs::default();
    expected.insert("delta/none/10", 10_001, 7.5);
    assert_eq!(costs, expected);
}

#[test]
fn a_result_without_a_size_is_refused() {
    let name = json!({ "group_id": "delta", "function_id": "x", "value_str": null });
    let error = take(&name, &json!({}), &mut Costs::default()).unwrap_err();
    assert_eq!(error.to_string(), "delta has no size");
}
