//! The tiers: what is trimmed, summarised and dropped, and what stays whatever happens.

use futures::FutureExt;
use proptest::prelude::*;
use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{
    AssistantMessage, BoxFuture, Content, ProviderError, ProviderErrorKind, StopReason, Timestamp, ToolCall,
    ToolResultMessage, Usage, unanswered_calls,
};
use serde_json::json;

use super::*;

fn user(text: &str) -> Arc<AgentMessage> {
    Arc::new(AgentMessage::user(text, Timestamp::default()))
}

fn answer(text: &str, calls: &[&str]) -> Arc<AgentMessage> {
    let call = |id: &&str| {
        Content::ToolCall(ToolCall {
            id: (*id).into(),
            name: "read".into(),
            arguments: Arc::new(json!({})),
            malformed: None,
            key_order: None,
        })
    };
    let mut content = vec![Content::text(text)];
    content.extend(calls.iter().map(call));
    let message = Message::Assistant(AssistantMessage {
        content,
        stop_reason: StopReason::Stop,
        model: String::new(),
        provider: String::new(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    });
    Arc::new(message.into())
}

fn result(id: &str, tool: &str, text: &str) -> Arc<AgentMessage> {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: tool.into(),
        content: vec![Content::text(text)],
        is_error: false,
        timestamp: Timestamp::default(),
    });
    Arc::new(message.into())
}

/// One token a byte, so that figures are easy to see.
fn count(message: &AgentMessage) -> u64 {
    message.as_llm().map_or(0, |message| message.text().len() as u64)
}

/// A model that says this, or fails.
struct Says(Result<&'static str, ()>);

impl Summarizer for Says {
    fn summarize<'a>(
        &'a self,
        _messages: &'a History,
        _instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ProviderError>> {
        let failed = |()| ProviderError::new(ProviderErrorKind::Api, "no");
        Box::pin(std::future::ready(self.0.map(str::to_owned).map_err(failed)))
    }
}

fn view<'a>(history: &'a History, cuts: &'a [WindowCut], tokens_target: u64) -> WindowView<'a> {
    WindowView {
        history,
        cuts,
        tokens_target,
        tokens_max: tokens_target,
        count: &count,
        tasks: &[],
        instructions: None,
    }
}

fn compacted(tiers: &TieredCompaction, view: WindowView<'_>, model: &Says) -> Vec<WindowCut> {
    tiers.compact(view, model).get().now_or_never().unwrap()
}

fn seen(history: &History, cuts: &[WindowCut]) -> Vec<String> {
    let short = |message: &Message| {
        let text = message.text();
        if text.len() > 90 { format!("{} bytes", text.len()) } else { text }
    };
    window(history, cuts).for_model().map(short).collect()
}

/// Turns that each read something of this many bytes.
fn turns(n: usize, bytes: usize) -> History {
    let mut history = History::new();
    history.push(user("the goal"));
    for turn in 0..n {
        let id = format!("call{turn}");
        history.push(answer(&format!("look {turn}"), &[&id]));
        history.push(result(&id, "read", &"x".repeat(bytes)));
    }
    history
}

#[test]
fn old_results_are_trimmed_first_and_that_may_be_enough() {
    let history = turns(6, 3_000);
    let cuts = compacted(&TieredCompaction::default(), view(&history, &[], 14_000), &Says(Err(())));
    assert_eq!(cuts, [WindowCut { from: 1, to: 9, kind: CutKind::Trim { bytes_max: 1_500 } }]);
}

#[test]
fn old_turns_are_replaced_by_the_models_summary() {
    let history = turns(20, 3_000);
    let cuts = compacted(&TieredCompaction::default(), view(&history, &[], 14_000), &Says(Ok("I looked.")));
    let [WindowCut { from: 1, to: 37, kind: CutKind::Summary { message } }] = &cuts[..] else {
        panic!("{cuts:?}")
    };
    assert!(message.as_llm().unwrap().text().contains("<summary>\nI looked.\n</summary>"));
    assert_eq!(seen(&history, &cuts).len(), 6);
}

#[test]
fn a_failed_or_empty_summary_falls_back_to_facts() {
    let history = turns(20, 3_000);
    for model in [Says(Err(())), Says(Ok(" \n "))] {
        let cuts = compacted(&TieredCompaction::default(), view(&history, &[], 14_000), &model);
        let [WindowCut { kind: CutKind::Summary { message }, .. }] = &cuts[..] else { panic!("{cuts:?}") };
        let text = message.as_llm().unwrap().text();
        assert!(text.contains("The user asked:\n- the goal") && text.contains("- read: 18 times"), "{text}");
    }
}

#[test]
fn the_summary_carries_the_task_list_and_a_later_one_replaces_it() {
    let mut history = turns(20, 3_000);
    let tasks = [TaskItem { text: "mend".into(), status: TaskStatus::InProgress }];
    let first_view = WindowView { tasks: &tasks, ..view(&history, &[], 14_000) };
    let first = compacted(&TieredCompaction::default(), first_view, &Says(Ok("One.")));
    assert!(first.iter().any(|cut| format!("{cut:?}").contains("The task list:\\n[>] mend")));
    for turn in 20..40 {
        let id = format!("call{turn}");
        history.push(answer("more", &[&id]));
        history.push(result(&id, "read", &"y".repeat(3_000)));
    }
    let second = compacted(&TieredCompaction::default(), view(&history, &first, 14_000), &Says(Ok("Two.")));
    let [WindowCut { from: 1, to: 77, kind: CutKind::Summary { message } }] = &second[..] else {
        panic!("{second:?}")
    };
    assert!(message.as_llm().unwrap().text().contains("Two."));
}

#[test]
fn the_last_user_message_and_preserved_results_stay() {
    let mut history = turns(10, 3_000);
    history.push(answer("I load it", &["skill1"]));
    history.push(result("skill1", "skill", "HOW TO"));
    history.push(user("and now this"));
    for turn in 50..70 {
        let id = format!("call{turn}");
        history.push(answer("go", &[&id]));
        history.push(result(&id, "read", &"z".repeat(3_000)));
    }
    let tiers = TieredCompaction { preserved_tools: vec!["skill".into()], ..TieredCompaction::default() };
    let cuts = compacted(&tiers, view(&history, &[], 14_000), &Says(Ok("Much.")));
    let seen = seen(&history, &cuts);
    assert_eq!(seen[0], "the goal");
    assert_eq!(&seen[2..5], ["I load it", "HOW TO", "and now this"]);
    assert_eq!(unanswered_calls(&window(&history, &cuts)), []);
}

#[test]
fn one_gigantic_last_result_is_trimmed_too() {
    let mut history = turns(2, 100);
    history.push(answer("big", &["big"]));
    history.push(result("big", "read", &"b".repeat(500_000)));
    let view = view(&history, &[], 10_000);
    let cuts = compacted(&TieredCompaction::default(), view, &Says(Ok("Short.")));
    assert!(view.tokens_with(&cuts) <= 10_000, "{cuts:?}");
    assert_eq!(unanswered_calls(&window(&history, &cuts)), []);
}

#[test]
fn an_overlong_summary_is_marked_where_it_is_cut_and_keeps_its_end() {
    let history = turns(20, 3_000);
    let text = format!("## Goal\nBuild it.\n{}## Next step\nRun the tests.", "One more fact.\n".repeat(500));
    let text: &'static str = Box::leak(text.into_boxed_str());
    let cuts = compacted(&TieredCompaction::default(), view(&history, &[], 14_000), &Says(Ok(text)));
    let [WindowCut { kind: CutKind::Summary { message }, .. }] = &cuts[..] else { panic!("{cuts:?}") };
    let said = message.as_llm().unwrap().text();
    assert!(said.contains("## Goal\nBuild it.\nOne more fact."), "{said}");
    assert!(said.contains(" bytes of this summary are left out here …]\n"), "{said}");
    assert!(said.contains("## Next step\nRun the tests."), "{said}");
}

/// A piece of a conversation: a prompt, an answer, or an answer with calls and their results.
fn piece() -> impl Strategy<Value = Vec<(u8, usize)>> {
    prop_oneof![
        (1_usize..5_000).prop_map(|bytes| vec![(0, bytes)]),
        (1_usize..5_000).prop_map(|bytes| vec![(1, bytes)]),
        proptest::collection::vec(1_usize..20_000, 1..4)
            .prop_map(|results| results.into_iter().map(|bytes| (2, bytes)).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_paid_summary_is_never_lost_nor_cut_without_a_mark(
        pairs in 1_usize..30,
        result_bytes in 1_usize..6_000,
        summary_words in 0_usize..2_000,
        tokens_target in 0_u64..60_000,
        is_asked in any::<bool>(),
    ) {
        let history = turns(pairs, result_bytes);
        let text = "word ".repeat(summary_words);
        let said: &'static str = Box::leak(text.clone().into_boxed_str());
        let instructions = is_asked.then_some("");
        let view = WindowView { instructions, ..view(&history, &[], tokens_target) };
        let cuts = compacted(&TieredCompaction::default(), view, &Says(Ok(said)));
        for cut in &cuts {
            let CutKind::Summary { message } = &cut.kind else { continue };
            let shown = message.as_llm().unwrap().text();
            let inside = shown.split("<summary>").nth(1).unwrap().split("</summary>").next().unwrap().trim();
            if inside.contains("bytes of this summary are left out here") {
                prop_assert!(text.len() > 1_024 - 400 && inside.len() > 600, "{inside}");
            } else if summary_words > 0 {
                prop_assert_eq!(inside, text.trim());
            } else {
                prop_assert!(inside.contains("The user asked:") || inside.contains("Tools that ran:") || inside.contains("Nothing was asked"), "{}", inside);
            }
        }
        let summarizes = cuts.iter().any(|cut| matches!(cut.kind, CutKind::Summary { .. }));
        let hides = cuts.iter().any(|cut| matches!(cut.kind, CutKind::Drop));
        prop_assert!(summarizes || !hides, "{:?}", cuts);
    }

    #[test]
    fn no_conversation_loses_a_pairing_its_goal_or_its_order(
        pieces in proptest::collection::vec(piece(), 1..40),
        tokens_target in 0_u64..60_000,
        again in any::<bool>(),
    ) {
        let mut history = History::new();
        history.push(user("begin"));
        for (nth, piece) in pieces.iter().enumerate() {
            match piece.first().map_or(0, |(kind, _)| *kind) {
                0 => history.push(user(&format!("p{nth} {}", "u".repeat(piece[0].1)))),
                1 => history.push(answer(&"a".repeat(piece[0].1), &[])),
                _ => {
                    let ids: Vec<String> = (0..piece.len()).map(|at| format!("c{nth}_{at}")).collect();
                    history.push(answer("calls", &ids.iter().map(String::as_str).collect::<Vec<_>>()));
                    for ((_, bytes), id) in piece.iter().zip(&ids) {
                        history.push(result(id, "read", &"r".repeat(*bytes)));
                    }
                }
            }
        }
        let tiers = TieredCompaction { summary: SummarySource::Facts, ..TieredCompaction::default() };
        let mut cuts = compacted(&tiers, view(&history, &[], tokens_target), &Says(Err(())));
        if again {
            cuts = compacted(&tiers, view(&history, &cuts, tokens_target / 2), &Says(Err(())));
        }
        let seen = window(&history, &cuts);
        prop_assert_eq!(unanswered_calls(&seen), vec![]);
        let results = |history: &History| history.for_model().filter(|it| matches!(it, Message::ToolResult(_))).count();
        let calls: usize = seen.iter().filter_map(|it| it.as_assistant()).map(|it| it.tool_calls().count()).sum();
        prop_assert_eq!(results(&seen), calls);
        let goal = goal(&history).and_then(|place| history.get(place).cloned());
        prop_assert!(goal.is_some_and(|goal| seen.iter().any(|message| *message == goal)));
        let ordered = cuts.windows(2).all(|pair| pair[0].to <= pair[1].from);
        prop_assert!(ordered && cuts.iter().all(|cut| cut.from < cut.to), "{:?}", cuts);
    }
}
