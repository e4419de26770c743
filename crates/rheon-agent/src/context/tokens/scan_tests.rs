//! What texts are made of.

use proptest::prelude::*;

use super::scan::{PIECES, Piece, Tally};

fn pieces(text: &str) -> Vec<(usize, u32)> {
    let tally = Tally::of(text);
    tally.counts().iter().copied().enumerate().filter(|(_, count)| *count > 0).collect()
}

fn expected(of: &[(Piece, u32)]) -> Vec<(usize, u32)> {
    of.iter().map(|(piece, count)| (*piece as usize, *count)).collect()
}

#[test]
fn words_are_counted_by_length_including_their_space() {
    let found = pieces("the quick internationalisation");
    assert_eq!(
        found,
        expected(&[(Piece::Word3, 1), (Piece::Word5, 1), (Piece::WordLong, 1), (Piece::WordMore, 10)])
    );
}

#[test]
fn a_letter_that_is_repeated_for_ever_costs_little() {
    assert_eq!(pieces(&"x".repeat(801)), expected(&[(Piece::WordLong, 1), (Piece::WordMore, 91)]));
}

#[test]
fn names_are_cut_where_their_case_changes() {
    let found = pieces("HTTPServer getUserId");
    assert_eq!(
        found,
        expected(&[
            (Piece::Word3, 1),
            (Piece::Hump3, 1),
            (Piece::Hump6, 2),
            (Piece::Capitals, 1),
            (Piece::CapitalsMore, 2)
        ])
    );
}

#[test]
fn digits_come_in_threes_and_pay_for_their_space() {
    assert_eq!(
        pieces("a 12345"),
        expected(&[(Piece::Word3, 1), (Piece::Digits, 2), (Piece::Digit, 5), (Piece::DigitSpace, 1)])
    );
}

#[test]
fn signs_lead_words_or_stand_in_runs() {
    assert_eq!(
        pieces("_a;\n===="),
        expected(&[
            (Piece::Word3, 1),
            (Piece::SignLead, 1),
            (Piece::Signs, 2),
            (Piece::SignRepeat, 3),
            (Piece::LineAfterSign, 1)
        ])
    );
}

#[test]
fn every_script_has_its_kind() {
    assert_eq!(
        pieces("да ελ של हि வி ไท かな 漢字 한국 、 → ጀ 🎉 é ễ"),
        expected(&[
            (Piece::Word3, 1),
            (Piece::Accent, 2),
            (Piece::CyrillicWord, 1),
            (Piece::Cyrillic, 2),
            (Piece::Greek, 2),
            (Piece::Semitic, 2),
            (Piece::Devanagari, 2),
            (Piece::Indic, 2),
            (Piece::Thai, 2),
            (Piece::Kana, 2),
            (Piece::Han, 2),
            (Piece::Hangul, 2),
            (Piece::WideSign, 1),
            (Piece::Symbol, 1),
            (Piece::Rare, 1),
            (Piece::Emoji, 1),
        ])
    );
}

proptest! {
    #[test]
    fn any_text_is_scanned_without_a_panic_and_never_longer_than_its_bytes(text in "\\PC{0,200}|[ -~\\n\\t]{0,200}") {
        let tally = Tally::of(&text);
        // No piece is counted more than once per byte, and digits at most three ways.
        let sum: u64 = tally.counts().iter().map(|count| u64::from(*count)).sum();
        prop_assert!(sum <= 2 * text.len() as u64 + 1);
        prop_assert_eq!(tally.counts().len(), PIECES);
    }

    #[test]
    fn texts_joined_at_a_line_end_count_about_as_much_as_apart(a in "[ -~\\n]{0,80}", b in "[a-z]{1,9} [ -~\\n]{0,80}") {
        let sum = |text: &str| Tally::of(text).counts().iter().map(|count| u64::from(*count)).sum::<u64>();
        let joined = sum(&format!("{a}\n{b}"));
        prop_assert!(joined.abs_diff(sum(&a) + sum(&b)) <= 3);
    }
}
