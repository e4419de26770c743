//! The table of unsafe characters, listed, and held against the rules it stands for.

use std::fmt::Write as _;

use expect_test::expect;

use super::{Hazard, TABLE, TextContext, hazard};

#[test]
fn the_table() {
    let mut listed = String::new();
    for (first, last, hazard) in TABLE {
        let refusing: Vec<String> =
            [TextContext::Prose, TextContext::Title, TextContext::Block, TextContext::Line]
                .into_iter()
                .filter(|place| place.forbids(*first))
                .map(|place| format!("{place:?}").to_lowercase())
                .collect();
        let (first, last) = (u32::from(*first), u32::from(*last));
        writeln!(listed, "{first:04X}..{last:04X} {hazard:?}: {}", refusing.join(" ")).unwrap();
    }
    expect![[r#"
        0000..0008 Control: prose title block line
        0009..000A Layout: title line
        000B..001F Control: prose title block line
        007F..009F Control: prose title block line
        00AD..00AD Invisible: prose title block line
        034F..034F Invisible: prose title block line
        061C..061C Direction: prose title block line
        115F..1160 Invisible: prose title block line
        17B4..17B5 Invisible: prose title block line
        180B..180D Shaping: block line
        180E..180E Invisible: prose title block line
        180F..180F Shaping: block line
        200B..200B Invisible: prose title block line
        200C..200D Shaping: block line
        200E..200F Direction: prose title block line
        2028..2029 LineBreak: prose title block line
        202A..202E Direction: prose title block line
        2060..2065 Invisible: prose title block line
        2066..2069 Direction: prose title block line
        206A..206F Invisible: prose title block line
        3164..3164 Invisible: prose title block line
        FE00..FE0F Shaping: block line
        FEFF..FEFF Invisible: prose title block line
        FFA0..FFA0 Invisible: prose title block line
        FFF0..FFFB Invisible: prose title block line
        1BCA0..1BCA3 Invisible: prose title block line
        1D173..1D17A Invisible: prose title block line
        E0000..E0FFF Invisible: prose title block line
    "#]]
    .assert_eq(&listed);
}

#[test]
fn the_table_is_sorted_and_every_character_is_looked_up_as_it_says() {
    assert!(TABLE.iter().all(|(first, last, _)| first <= last));
    assert!(TABLE.windows(2).all(|pair| pair[0].1 < pair[1].0));
    for character in '\0'..=char::MAX {
        let expected = TABLE.iter().find(|(first, last, _)| (*first..=*last).contains(&character));
        assert_eq!(hazard(character), expected.map(|(_, _, hazard)| *hazard), "{character:?}");
    }
}

#[test]
fn every_control_character_is_in_the_table() {
    let controls = ('\0'..=char::MAX).filter(|character| character.is_control());
    let missing: Vec<char> = controls.filter(|character| !TextContext::Line.forbids(*character)).collect();
    assert_eq!(missing, []);
}

#[test]
fn what_languages_and_emoji_need_stays_in_prose() {
    for text in
        ["👨\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "e\u{301}", "می\u{200c}خواهم", "ünïcödé 漢字 🎉 עברית"]
    {
        assert_eq!(text.chars().find(|character| TextContext::Title.forbids(*character)), None);
    }
    assert_eq!(hazard('\u{200d}'), Some(Hazard::Shaping));
}
