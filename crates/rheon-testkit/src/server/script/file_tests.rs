//! Script files: their meaning, and errors for invalid ones.

use expect_test::expect;
use rheon_providers::wire::WireKind;
use rheon_types::Usage;

use crate::server::{
    FakeReply, Fault, ReplyBlock, ReplyCondition, ReplyCount, ReplyStop, Script, UsageReport,
};

#[test]
fn example_is_a_script() {
    let script = Script::from_toml("example.toml", Script::EXAMPLE).unwrap();
    assert_eq!(script.default.blocks, FakeReply::text("All done.").blocks);
    let usage = Usage { input: 100, output: 20, cache_read: 50, ..Usage::default() };
    let looks = FakeReply::empty()
        .and_thinking("I should look first.", "c2lnbmF0dXJl")
        .and_text("Let me look.")
        .and_call("read", &serde_json::json!({"path": "a.txt"}))
        .when(ReplyCondition::offers_tools())
        .usage(UsageReport::Counts { usage, thinking: 5 })
        .delta_chars(4);
    assert_eq!(script.replies[1], looks);
    assert_eq!(script.replies[2].blocks, [ReplyBlock::AnyCall]);
    assert_eq!(script.replies[2].times, ReplyCount::Exactly(2));
    assert_eq!(script.replies[3].stop, ReplyStop::Length);
    assert_eq!(script.replies[3].faults, [Fault::Pieces(3), Fault::CutAfterEvent(3)]);
    assert_eq!(script.replies.len(), 4);
}

#[test]
fn empty_file_is_the_default_script() {
    assert_eq!(Script::from_toml("x", "").unwrap(), Script::default());
    let when = "[[reply]]\nwhen = { wire = \"gemini\", request = 2 }";
    let expected =
        ReplyCondition { wire: Some(WireKind::Gemini), request: Some(2), ..ReplyCondition::default() };
    assert_eq!(Script::from_toml("x", when).unwrap().replies[0].when, expected);
}

#[test]
fn invalid_file_is_reported_with_its_line() {
    let problems = [
        "[[reply]]\ntext = \"a\"\ntxet = \"b\"",
        "[[reply]]\nfaults = [\n  { kind = \"cut_at_byte\" },\n]",
        "[[reply]]\nfaults = [{ kind = \"cutt\" }]",
        "\n\n[[reply]\n",
        "[[reply]]\nwhen = { wire = \"smtp\" }",
        "[[reply]]\nstyle = { delta_chars = -1 }",
    ]
    .map(|text| Script::from_toml("my.toml", text).unwrap_err().to_string())
    .join("\n");
    expect![[r#"
        cannot read my.toml: line 3: unknown field `txet`, expected one of `when`, `times`, `thinking`, `signature`, `redacted`, `text`, `calls`, `any_calls`, `stop`, `usage`, `style`, `faults`
        cannot read my.toml: line 2: missing field `byte`
        cannot read my.toml: line 2: unknown variant `cutt`, expected one of `status`, `refuse`, `redirect`, `hangup`, `never_answer`, `stall_before_headers`, `stall_after_event`, `stall_at_byte`, `cut_after_event`, `cut_at_byte`, `end_after_event`, `garbage_after_event`, `error_after_event`, `huge_event`, `endless`, `content_type`, `html`, `error_body`, `pieces`, `drip`, `gzip`, `gzip_bomb`
        cannot read my.toml: line 3: unclosed array table, expected `]`
        cannot read my.toml: line 2: unknown variant `smtp`, expected one of `anthropic`, `chat`, `responses`, `gemini`, `bedrock`
        cannot read my.toml: line 2: invalid value: integer `-1`, expected usize"#]].assert_eq(&problems);
}
