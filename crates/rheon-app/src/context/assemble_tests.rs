//! What stands where in the prompt, and what a change leaves as it was.

use expect_test::expect;
use proptest::prelude::*;
use rheon_agent::{Band, TokenCounter};

use super::{ContextSource, ContextSources, PromptParts, ROWS, assemble};

fn parts() -> PromptParts {
    PromptParts {
        base: "BASE".into(),
        rules: "RULES".into(),
        rule_files: Vec::new(),
        tool_notes: "TOOL NOTES".into(),
        skills: "SKILLS".into(),
        memory: "MEMORY".into(),
        learnings: vec!["LEARNT".into()],
        code_map: "MAP".into(),
        environment: "ENVIRONMENT".into(),
        effort: "EFFORT".into(),
    }
}

/// Sets what a source says.
fn set(parts: &mut PromptParts, source: ContextSource, text: &str) {
    let text = text.to_owned();
    match source {
        ContextSource::Base => parts.base = text,
        ContextSource::Rules => parts.rules = text,
        ContextSource::ToolNotes => parts.tool_notes = text,
        ContextSource::Skills => parts.skills = text,
        ContextSource::Memory => parts.memory = text,
        ContextSource::Learnings => parts.learnings = vec![text],
        ContextSource::CodeMap => parts.code_map = text,
        ContextSource::Environment => parts.environment = text,
        ContextSource::Effort => parts.effort = text,
    }
}

fn bytes(parts: &PromptParts, sources: &ContextSources) -> Vec<(String, bool)> {
    let prompt = assemble(parts, sources, TokenCounter::default()).prompt();
    prompt.sections().map(|section| (section.text.to_string(), section.stable)).collect()
}

#[test]
fn sections_stand_in_three_bands_and_the_stable_ones_end_with_a_mark() {
    let assembled = assemble(&parts(), &ContextSources::default(), TokenCounter::default());
    expect![[r#"
        ======== static ========
        -------- base --------
        BASE

        -------- rules --------
        RULES

        -------- tool-notes --------
        TOOL NOTES

        -------- skills --------
        # Skills
        Instructions for particular kinds of work. When a task fits a description, load the skill with the `skill` tool before you begin.
        SKILLS

        [cached up to here]

        ======== semi-static ========
        -------- memory --------
        # Memory
        Notes that were kept from earlier work. They say what was true when they were written: check what you rely on.
        MEMORY

        -------- learnings --------
        # Learnings
        What earlier sessions in this project found out. Follow them where they fit.
        - LEARNT

        -------- code-map --------
        # Code map
        The most important files and symbols, as far as they fit; not all there is.
        MAP

        [cached up to here]

        ======== dynamic ========
        -------- environment --------
        ENVIRONMENT

        -------- effort --------
        EFFORT

        [not cached]
    "#]]
    .assert_eq(&assembled.outline());
}

#[test]
fn the_report_has_the_tokens_of_all_sections() {
    let assembled = assemble(&parts(), &ContextSources::default(), TokenCounter::default());
    expect![[r#"
        context                          tokens   window
        system prompt, static                45    0.0 %
          base                                2    0.0 %
          rules                               2    0.0 %
          tool-notes                          3    0.0 %
          skills                             38    0.0 %
        system prompt, semi-static           79    0.0 %
          memory                             31    0.0 %
          learnings                          23    0.0 %
          code-map                           25    0.0 %
        system prompt, dynamic                5    0.0 %
          environment                         3    0.0 %
          effort                              2    0.0 %
        tools                             5,000    2.5 %
        messages                         20,000   10.0 %
        used                             25,129   12.6 %
        free                            174,871   87.4 %
        window                          200,000  100.0 %
    "#]]
    .assert_eq(&assembled.report(5_000, 20_000, 200_000).to_string());
}

#[test]
fn each_source_can_be_turned_off_and_alone_is_gone_then() {
    let all = assemble(&parts(), &ContextSources::default(), TokenCounter::default()).sections();
    for source in ContextSource::all() {
        let sources = ContextSources::default().without(source).without(source);
        let left = assemble(&parts(), &sources, TokenCounter::default()).sections();
        let expected: Vec<_> =
            all.iter().filter(|section| &*section.name != source.as_str()).cloned().collect();
        assert_eq!(left, expected, "{source}");
        assert_eq!(source.as_str().parse(), Ok(source));
    }
    let none = ContextSource::all().fold(ContextSources::default(), ContextSources::without);
    assert_eq!(bytes(&parts(), &none), []);
    assert_eq!(bytes(&PromptParts::default(), &ContextSources::default()), []);
    expect![[r#"unknown context source "rulez": use one of base, rules, tool-notes, skills, memory, learnings, code-map, environment, effort"#]]
        .assert_eq(&"rulez".parse::<ContextSource>().unwrap_err());
}

#[test]
fn five_learnings_are_told_on_a_line_each_and_long_ones_are_cut() {
    let mut learnings = vec![" ".to_owned(), "ü".repeat(10_000)];
    learnings.extend((0..9).map(|place| format!("{place}\n- not a line of its own")));
    let parts = PromptParts { learnings, ..PromptParts::default() };
    let prompt = assemble(&parts, &ContextSources::default(), TokenCounter::default()).prompt();
    let text = prompt.text().replace(&"ü".repeat(500), "(500 of them)");
    expect![[r#"
        # Learnings
        What earlier sessions in this project found out. Follow them where they fit.
        - (500 of them) […]
        - 0 - not a line of its own
        - 1 - not a line of its own
        - 2 - not a line of its own
        - 3 - not a line of its own"#]]
    .assert_eq(&text);
}

#[test]
fn every_source_has_a_cap() {
    for row in &ROWS {
        let mut large = PromptParts::default();
        set(&mut large, row.source, &"a line of some length\n".repeat(100_000));
        let sections = assemble(&large, &ContextSources::default(), TokenCounter::default()).sections();
        let bytes: Vec<usize> = sections.iter().map(|section| section.text.len()).collect();
        assert!(matches!(bytes[..], [bytes] if bytes <= row.bytes_max + 100), "{}: {bytes:?}", row.name);
    }
}

proptest! {
    #[test]
    fn a_change_in_a_lower_band_leaves_the_bytes_above_as_they_were(
        place in 0..ROWS.len(),
        texts in proptest::collection::vec("(?s).{0,40}", ROWS.len()),
        changed in "(?s).{0,200}",
    ) {
        let mut one = PromptParts::default();
        for (row, text) in ROWS.iter().zip(&texts) {
            set(&mut one, row.source, text);
        }
        let row = &ROWS[place];
        let mut other = one.clone();
        set(&mut other, row.source, &changed);
        let sources = ContextSources::default();
        for variant in [&other, &one] {
            let prompt = bytes(variant, &sources);
            // Cached parts always come before uncached ones.
            prop_assert!(prompt.is_sorted_by_key(|(_, stable)| !stable));
        }
        let above = |parts: &PromptParts| -> Vec<String> {
            let assembled = assemble(parts, &sources, TokenCounter::default());
            let sections = assembled.sections();
            let bands = Band::ALL.into_iter().filter(|band| *band < row.band);
            let has_said = |band: &Band| sections.iter().any(|section| section.band == *band);
            let said = bands.filter(has_said).count();
            assembled.prompt().sections().take(said).map(|section| section.text.to_string()).collect()
        };
        prop_assert_eq!(above(&one), above(&other));
    }
}
