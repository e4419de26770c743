//! Tests of reading criterion's results.

use serde_json::json;

use super::{Times, take};

#[test]
fn a_result_is_the_best_and_the_median_of_a_case_at_a_size() {
    let mut times = Times::default();
    let name = json!({ "group_id": "delta/none/10", "function_id": null, "value_str": "10001" });
    let estimates = json!({
        "mean": { "point_estimate": 9.0 },
        "median": { "point_estimate": 7.5, "standard_error": 0.1 },
    });
    let samples = json!({ "sampling_mode": "Flat", "iters": [2.0, 2.0, 4.0], "times": [15.0, 18.0, 26.0] });
    take(&name, &estimates, &samples, &mut times).unwrap();
    let mut expected = Times::default();
    expected.median.insert("delta/none/10", 10_001, 7.5);
    expected.best.insert("delta/none/10", 10_001, 6.5);
    assert_eq!(times, expected);
}

#[test]
fn a_result_without_a_size_is_refused() {
    let name = json!({ "group_id": "delta", "function_id": "x", "value_str": null });
    let error = take(&name, &json!({}), &json!({}), &mut Times::default()).unwrap_err();
    assert_eq!(error.to_string(), "delta has no size");
}
