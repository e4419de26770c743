//! Order, replacement, caps, and that a change leaves everything above it as it was.

use expect_test::expect;
use proptest::prelude::*;
use rheon_types::SystemPrompt;

use super::{Band, PromptBuilder, base_prompt};
use crate::context::tokens::TokenCounter;

fn shown(prompt: &SystemPrompt) -> String {
    prompt.sections().map(|one| format!("[{}] {}\n", one.stable, one.text)).collect()
}

fn builder() -> PromptBuilder {
    PromptBuilder::new(TokenCounter::default())
}

#[test]
fn bands_are_ordered_regardless_of_insertion_order() {
    let prompt = builder()
        .section("date", Band::Dynamic, "It is Monday.")
        .section("memory", Band::SemiStatic, "Likes tabs.\n")
        .section("base", Band::Static, "\nYou are careful.")
        .section("skills", Band::SemiStatic, "  indented stays")
        .section("rules", Band::Static, "No unwrap.")
        .section("nothing", Band::Static, " \n ")
        .build();
    expect![[r#"
        [true] You are careful.

        No unwrap.
        [true] Likes tabs.

          indented stays
        [false] It is Monday.
    "#]]
    .assert_eq(&shown(&prompt));
}

#[test]
fn a_section_replaces_its_namesake_and_an_empty_one_removes_it() {
    let first = builder().section("a", Band::Static, "one").section("b", Band::Static, "two");
    let second = first.clone().section("a", Band::Static, "new");
    assert_eq!(shown(&second.build()), "[true] new\n\ntwo\n");
    assert_eq!(shown(&second.section("a", Band::Static, "").build()), "[true] two\n");
    assert_eq!(shown(&first.section("a", Band::Dynamic, "moved").build()), "[true] two\n[false] moved\n");
}

#[test]
fn no_sections_make_an_empty_prompt() {
    assert!(builder().section("a", Band::Static, "").build().is_empty());
}

#[test]
fn a_section_beyond_its_cap_is_cut_at_a_line_and_says_so() {
    let text = "first line\nsecond line\nthird line";
    let prompt = builder().section_within("rules", Band::Static, text, 25).build();
    expect![[r#"
        [true] first line
        second line
        [The rest of this section is omitted: 22 of 33 bytes are shown.]
    "#]]
    .assert_eq(&shown(&prompt));
    let exact = builder().section_within("rules", Band::Static, text, 33).build();
    assert_eq!(shown(&exact), format!("[true] {text}\n"));
}

#[test]
fn a_cut_never_falls_inside_a_character() {
    for bytes_max in 0..12 {
        let prompt = builder().section_within("rules", Band::Static, "é漢🎉é漢", bytes_max).build();
        assert!(prompt.text().contains("omitted"), "{bytes_max}");
    }
}

#[test]
fn a_section_of_a_gigabyte_class_stays_bounded() {
    let prompt = builder().section("rules", Band::Static, &"x".repeat(8 << 20)).build();
    assert!(prompt.text().len() < (256 << 10) + 200);
}

#[test]
fn the_base_prompt_is_short_and_has_no_loose_ends() {
    let tokens = TokenCounter::for_model("gpt-5").text(base_prompt());
    assert!(tokens <= 900, "{tokens} tokens");
    assert!(base_prompt().len() < 4_400, "{} bytes", base_prompt().len());
    assert!(!base_prompt().contains("{") && base_prompt().ends_with('.'));
}

fn band() -> impl Strategy<Value = Band> {
    prop::sample::select(Band::ALL.to_vec())
}

/// Everything that is sent before the first section of `band`.
fn above(prompt: &PromptBuilder, band: Band) -> String {
    let texts: Vec<String> = Band::ALL
        .into_iter()
        .filter(|one| *one < band)
        .filter_map(|one| {
            let texts: Vec<String> =
                prompt.sections().iter().filter(|s| s.band == one).map(|s| s.text.to_string()).collect();
            (!texts.is_empty()).then(|| texts.join("\n\n"))
        })
        .collect();
    texts.join("\n\n")
}

proptest! {
    #[test]
    fn a_change_in_a_band_leaves_the_bytes_above_it_identical(
        sections in prop::collection::vec(("[a-f]{1,2}", band(), "[ -~\\n]{0,40}"), 0..12),
        (changed, text) in (band(), "[ -~\\n]{0,40}"),
    ) {
        let before = sections.iter().fold(builder(), |all, (name, band, text)| all.section(name, *band, text));
        // A name of its own: to move a section between bands is a change of both.
        let after = before.clone().section("changed", changed, &text);
        let kept = above(&before, changed);
        prop_assert!(before.build().text().starts_with(&kept));
        prop_assert!(after.build().text().starts_with(&kept));
        // And block by block, as wires with a block per section send it.
        let blocks = |prompt: &PromptBuilder| prompt.build().sections().map(|one| one.text.clone()).collect::<Vec<_>>();
        let full = Band::ALL.into_iter().filter(|band| *band < changed && before.sections().iter().any(|s| s.band == *band)).count();
        prop_assert_eq!(&blocks(&before)[..full], &blocks(&after)[..full]);
    }

    #[test]
    fn a_dynamic_section_never_precedes_a_stable_one(
        sections in prop::collection::vec(("[a-f]{1,2}", band(), "[ -~\\n]{0,40}"), 0..12),
    ) {
        let prompt = sections.iter().fold(builder(), |all, (name, band, text)| all.section(name, *band, text)).build();
        let stable: Vec<bool> = prompt.sections().map(|one| one.stable).collect();
        prop_assert!(stable.is_sorted_by(|a, b| a >= b));
        prop_assert!(stable.len() <= 3);
    }
}
