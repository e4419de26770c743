//! Tests of `claude` and `open_calls`: pure decisions, whole values.

use expect_test::expect;
use rheon_types::{Request, ThinkingLevel, ToolChoice};

use super::WireRequest;
use super::claude::Settings;
use super::claude_fixtures::{ORIGIN, budget, model, request, tool, user};
use crate::catalog::{Model, ThinkingStyle};
use crate::compat::Compat;

const LEVELS: [ThinkingLevel; 6] = [
    ThinkingLevel::Off,
    ThinkingLevel::Minimal,
    ThinkingLevel::Low,
    ThinkingLevel::Medium,
    ThinkingLevel::High,
    ThinkingLevel::Max,
];

fn settings(request: &Request, model: &Model) -> String {
    let compat = Compat::default();
    let settings =
        Settings::new(&WireRequest { request, model, compat: &compat, origin: ORIGIN }, &model.thinking);
    let Settings { tokens_max, thinking, effort, temperature, choice, prefill } = settings;
    format!("{tokens_max} {thinking:?} {effort:?} {temperature:?} {choice:?} prefill={prefill}\n")
}

fn at_every_level(style: &ThinkingStyle, tokens_max: Option<u32>) -> String {
    let line = |thinking| {
        let request = Request { thinking, tokens_max, temperature: Some(0.5), ..request([user("a")]) };
        format!("{thinking:?}: {}", settings(&request, &model(style.clone())))
    };
    LEVELS.into_iter().map(line).collect()
}

#[test]
fn budget_grows_with_the_level_and_limit_with_the_budget() {
    expect![[r#"
        Off: 32000 None None Some(0.5) Auto prefill=true
        Minimal: 33024 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
        Low: 36096 Some(Enabled { budget_tokens: 4096 }) None None Auto prefill=false
        Medium: 40192 Some(Enabled { budget_tokens: 8192 }) None None Auto prefill=false
        High: 48384 Some(Enabled { budget_tokens: 16384 }) None None Auto prefill=false
        Max: 64000 Some(Enabled { budget_tokens: 32768 }) None None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&budget(), None));
}

#[test]
fn budget_stays_within_the_limits() {
    expect![[r#"
        Off: 4000 None None Some(0.5) Auto prefill=true
        Minimal: 4000 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
        Low: 4000 Some(Enabled { budget_tokens: 3000 }) None None Auto prefill=false
        Medium: 4000 Some(Enabled { budget_tokens: 3000 }) None None Auto prefill=false
        High: 4000 Some(Enabled { budget_tokens: 3000 }) None None Auto prefill=false
        Max: 4000 Some(Enabled { budget_tokens: 3000 }) None None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&budget(), Some(4_000)));
    expect![[r#"
        Off: 1024 None None Some(0.5) Auto prefill=true
        Minimal: 1024 None None None Auto prefill=false
        Low: 1024 None None None Auto prefill=false
        Medium: 1024 None None None Auto prefill=false
        High: 1024 None None None Auto prefill=false
        Max: 1024 None None None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&budget(), Some(1_024)));
}

#[test]
fn budgets_respect_even_inconsistent_model_limits() {
    let narrow = ThinkingStyle::Budget { min: 5_000, max: 6_000, can_disable: false };
    expect![[r#"
        Off: 37000 Some(Enabled { budget_tokens: 5000 }) None None Auto prefill=false
        Minimal: 37000 Some(Enabled { budget_tokens: 5000 }) None None Auto prefill=false
        Low: 37000 Some(Enabled { budget_tokens: 5000 }) None None Auto prefill=false
        Medium: 38000 Some(Enabled { budget_tokens: 6000 }) None None Auto prefill=false
        High: 38000 Some(Enabled { budget_tokens: 6000 }) None None Auto prefill=false
        Max: 38000 Some(Enabled { budget_tokens: 6000 }) None None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&narrow, None));
    let absurd = ThinkingStyle::Budget { min: 0, max: 10, can_disable: true };
    expect![[r#"
        Off: 32000 None None Some(0.5) Auto prefill=true
        Minimal: 33024 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
        Low: 33024 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
        Medium: 33024 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
        High: 33024 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
        Max: 33024 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&absurd, None));
}

#[test]
fn levels_become_the_nearest_effort_and_off_only_if_supported() {
    use ThinkingLevel::{High, Low, Max, Off};
    expect![[r#"
        Off: 32000 Some(Disabled) None None Auto prefill=false
        Minimal: 32000 Some(Adaptive { display: "summarized" }) Some("low") None Auto prefill=false
        Low: 32000 Some(Adaptive { display: "summarized" }) Some("low") None Auto prefill=false
        Medium: 32000 Some(Adaptive { display: "summarized" }) Some("low") None Auto prefill=false
        High: 32000 Some(Adaptive { display: "summarized" }) Some("high") None Auto prefill=false
        Max: 32000 Some(Adaptive { display: "summarized" }) Some("max") None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&ThinkingStyle::Levels(vec![Off, Low, High, Max]), None));
    expect![[r#"
        Off: 32000 Some(Adaptive { display: "summarized" }) Some("low") None Auto prefill=false
        Minimal: 32000 Some(Adaptive { display: "summarized" }) Some("low") None Auto prefill=false
        Low: 32000 Some(Adaptive { display: "summarized" }) Some("low") None Auto prefill=false
        Medium: 32000 Some(Adaptive { display: "summarized" }) Some("low") None Auto prefill=false
        High: 32000 Some(Adaptive { display: "summarized" }) Some("high") None Auto prefill=false
        Max: 32000 Some(Adaptive { display: "summarized" }) Some("high") None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&ThinkingStyle::Levels(vec![Low, High]), None));
    expect![[r#"
        Off: 32000 None None Some(0.5) Auto prefill=true
        Minimal: 32000 None None Some(0.5) Auto prefill=true
        Low: 32000 None None Some(0.5) Auto prefill=true
        Medium: 32000 None None Some(0.5) Auto prefill=true
        High: 32000 None None Some(0.5) Auto prefill=true
        Max: 32000 None None Some(0.5) Auto prefill=true
    "#]]
    .assert_eq(&at_every_level(&ThinkingStyle::Levels(Vec::new()), None));
}

#[test]
fn unknown_model_without_thinking_gets_no_field() {
    let known = model(ThinkingStyle::Levels(vec![ThinkingLevel::Low, ThinkingLevel::High]));
    let unknown = Model { info: std::sync::Arc::new(rheon_types::ModelInfo::unknown("m")), ..known };
    let call = |thinking| settings(&Request { thinking, ..Request::new("m") }, &unknown);
    expect![[r#"
        8192 None None None Auto prefill=false
    "#]]
    .assert_eq(&call(ThinkingLevel::Off));
    expect![[r#"
        8192 Some(Adaptive { display: "summarized" }) Some("high") None Auto prefill=false
    "#]]
    .assert_eq(&call(ThinkingLevel::High));
}

#[test]
fn other_styles_are_toggled_or_left_alone() {
    expect![[r#"
        Off: 32000 Some(Disabled) None Some(0.5) Auto prefill=true
        Minimal: 33024 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
        Low: 36096 Some(Enabled { budget_tokens: 4096 }) None None Auto prefill=false
        Medium: 40192 Some(Enabled { budget_tokens: 8192 }) None None Auto prefill=false
        High: 48384 Some(Enabled { budget_tokens: 16384 }) None None Auto prefill=false
        Max: 64000 Some(Enabled { budget_tokens: 32768 }) None None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&ThinkingStyle::Toggle, None));
    expect![[r#"
        Off: 32000 None None None Auto prefill=false
        Minimal: 32000 None None None Auto prefill=false
        Low: 32000 None None None Auto prefill=false
        Medium: 32000 None None None Auto prefill=false
        High: 32000 None None None Auto prefill=false
        Max: 32000 None None None Auto prefill=false
    "#]]
    .assert_eq(&at_every_level(&ThinkingStyle::Always, None));
    expect![[r#"
        Off: 32000 None None Some(0.5) Auto prefill=true
        Minimal: 32000 None None Some(0.5) Auto prefill=true
        Low: 32000 None None Some(0.5) Auto prefill=true
        Medium: 32000 None None Some(0.5) Auto prefill=true
        High: 32000 None None Some(0.5) Auto prefill=true
        Max: 32000 None None Some(0.5) Auto prefill=true
    "#]]
    .assert_eq(&at_every_level(&ThinkingStyle::None, None));
}

#[test]
fn forced_tool_disables_thinking_or_is_relaxed() {
    let forced = |style: ThinkingStyle| {
        let request = Request {
            thinking: ThinkingLevel::High,
            tool_choice: ToolChoice::Tool("read".into()),
            tools: [tool("read")].into(),
            ..request([user("a")])
        };
        settings(&request, &model(style))
    };
    let styles = [
        budget(),
        ThinkingStyle::Budget { min: 1_024, max: 9_999, can_disable: false },
        ThinkingStyle::Levels(LEVELS.to_vec()),
        ThinkingStyle::Levels(vec![ThinkingLevel::Low, ThinkingLevel::High]),
        ThinkingStyle::Always,
        ThinkingStyle::Toggle,
    ];
    expect![[r#"
        32000 None None None Tool("read") prefill=true
        33024 Some(Enabled { budget_tokens: 1024 }) None None Auto prefill=false
        32000 Some(Disabled) None None Tool("read") prefill=false
        32000 Some(Adaptive { display: "summarized" }) Some("low") None Auto prefill=false
        32000 None None None Auto prefill=false
        32000 Some(Disabled) None None Tool("read") prefill=true
    "#]]
    .assert_eq(&styles.map(forced).concat());
}

#[test]
fn limit_is_at_most_the_models_and_assumed_limit_is_only_a_default() {
    let limit = |model: &Model, tokens_max| {
        let request = Request { tokens_max, ..request([user("a")]) };
        settings(&request, model).split(' ').next().unwrap().to_owned()
    };
    let known = model(ThinkingStyle::None);
    let unknown = Model::unknown("m");
    let limits = [None, Some(0), Some(50_000), Some(u32::MAX)];
    assert_eq!(limits.map(|tokens| limit(&known, tokens)), ["32000", "1", "50000", "64000"]);
    assert_eq!(limits.map(|tokens| limit(&unknown, tokens)), ["8192", "1", "50000", "4294967295"]);
}

#[test]
fn temperature_that_is_not_a_number_is_omitted() {
    let request = Request { temperature: Some(f32::NAN), ..request([user("a")]) };
    expect![[r#"
        32000 None None None Auto prefill=true
    "#]]
    .assert_eq(&settings(&request, &model(ThinkingStyle::None)));
}

#[test]
fn temperature_is_clamped() {
    let request = Request { temperature: Some(1.7), ..request([user("a")]) };
    expect![[r#"
        32000 None None Some(1.0) Auto prefill=true
    "#]]
    .assert_eq(&settings(&request, &model(ThinkingStyle::None)));
}
