//! Choosing a session.

use expect_test::expect;
use rheon_types::protocol::{SessionOrigin, SessionSummary};
use rheon_types::{MicroUsd, Timestamp};

use super::{Picked, Picker};

const NOW: u64 = 1_700_000_000_000;

fn session(id: &str, minutes: u64, title: &str) -> SessionSummary {
    SessionSummary {
        session_id: id.into(),
        title: title.into(),
        active: Timestamp::from_millis(NOW - minutes * 60_000),
        turns: Some(minutes),
        cost: Some(MicroUsd(minutes * 10_000)),
        ..SessionSummary::default()
    }
}

fn picker(columns: usize) -> Picker {
    let mut sessions = vec![
        session("01890a5d-1111", 2, "fix the failing test in parser.rs"),
        session("01890a5d-2222", 14, "parser: support\nnested lists"),
        session("01890a5d-3333", 4_000, "why is parse() slow"),
    ];
    sessions.push(SessionSummary {
        maker: SessionOrigin::ClaudeCode,
        turns: None,
        cost: None,
        ..session(
            "77777777",
            9_000,
            "a session of the other program with a title that is really much too long for it",
        )
    });
    Picker::new(sessions, Timestamp::from_millis(NOW), columns)
}

#[test]
fn the_list_fits_the_terminal() {
    let text = [60, 100].map(|columns| format!("{columns} columns\n{}\n", picker(columns).text())).concat();
    expect![[r#"
        60 columns
          1  2 min ago  fix the failing test…      2 turns  $0.0200
          2 14 min ago  parser: support nest…     14 turns  $0.1400
          3    2 d ago  why is parse() slow    4,000 turns   $40.00
          4    6 d ago  a session of the oth…  Claude Code
        100 columns
          1  2 min ago  fix the failing test in parser.rs                                  2 turns  $0.0200
          2 14 min ago  parser: support nested lists                                      14 turns  $0.1400
          3    2 d ago  why is parse() slow                                            4,000 turns   $40.00
          4    6 d ago  a session of the other program with a title that is really m…  Claude Code
    "#]]
    .assert_eq(&text);
    assert!(text.lines().all(|line| line.chars().count() < 100));
}

#[test]
fn a_title_and_the_first_prompt_stand_apart() {
    let titled = |title: &str, minutes| SessionSummary {
        title: title.into(),
        ..with_prompt("please make the parser accept nested lists, as in the example below", minutes)
    };
    let sessions =
        vec![titled("Nested lists", 3), with_prompt("why is it slow?", 70), titled("Lists again", 90)];
    let text = Picker::new(sessions, Timestamp::from_millis(NOW), 90).text();
    let text = text.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
    expect![[r#"
          1 3 min ago  Nested lists     please make the parser accept nested …   3 turns  $0.0300
          2   1 h ago  why is it slow?                                          70 turns  $0.7000
          3   1 h ago  Lists again      please make the parser accept nested …  90 turns  $0.9000"#]]
    .assert_eq(&text);
    let mut picker = Picker::new(vec![titled("A", 1), session("2", 2, "B")], Timestamp::from_millis(NOW), 90);
    assert_eq!(picker.take("nested"), Picked::Session("01890a5d-1111".into()));
}

fn with_prompt(prompt: &str, minutes: u64) -> SessionSummary {
    SessionSummary { first_prompt: prompt.into(), ..session("01890a5d-1111", minutes, prompt) }
}

#[test]
fn a_number_a_word_and_an_id_choose() {
    let id = |id: &str| Picked::Session(id.into());
    assert_eq!(picker(80).take("2"), id("01890a5d-2222"));
    assert_eq!(picker(80).take("slow"), id("01890a5d-3333"));
    assert_eq!(picker(80).take("77777777"), id("77777777"));
    assert_eq!(picker(80).take(" "), Picked::Nothing);
    assert_eq!(picker(80).take("42"), Picked::NoMatch("no session matches \"42\"".into()));
}

#[test]
fn words_narrow_the_list() {
    let mut picker = picker(80);
    assert_eq!(picker.take("parser"), Picked::Again);
    assert_eq!(picker.text().lines().count(), 2);
    assert_eq!(
        picker.take("nothing like it"),
        Picked::NoMatch("no session matches \"nothing like it\"".into())
    );
    assert_eq!(picker.text().lines().count(), 2);
    assert_eq!(picker.take("2"), Picked::Session("01890a5d-2222".into()));
}
