//! What a reader of a pipe gets, piece by piece.

use expect_test::expect;

use super::{AnswerEnd, AnswerStream};

/// The pieces that go out, and what is shown beside them in brackets.
fn read(messages: &[(&[&str], AnswerEnd)]) -> String {
    let mut stream = AnswerStream::default();
    let mut shown = String::new();
    for (deltas, end) in messages {
        for delta in *deltas {
            shown += &format!("{:?}\n", stream.push(delta));
        }
        let rest = stream.end(&deltas.concat(), *end);
        shown += &format!("end {:?} [{}]\n", rest.answer, rest.aside);
    }
    shown + &format!("finish {:?}\n", stream.finish())
}

#[test]
fn an_answer_goes_out_from_its_second_paragraph_on() {
    expect![[r#"
        ""
        ""
        ""
        "One line.\n\nAnd"
        " more"
        "."
        end "\n" []
        finish ""
    "#]]
    .assert_eq(&read(&[(&["One ", "line.\n", "\n", "And", " more", "."], AnswerEnd::Answer)]));
}

#[test]
fn a_short_answer_comes_whole_and_an_aside_not_at_all() {
    expect![[r#"
        ""
        end "" [Let me look.]
        ""
        ""
        end "It says:\nhello\n" []
        finish ""
    "#]]
    .assert_eq(&read(&[
        (&["Let me look."], AnswerEnd::Calls),
        (&["It says:\n", "hello"], AnswerEnd::Answer),
    ]));
}

#[test]
fn a_long_aside_is_kept_apart_from_the_answer() {
    expect![[r#"
        "First.\n\nThen."
        end "\n" []
        ""
        end "\nDone.\n" []
        finish ""
    "#]]
    .assert_eq(&read(&[(&["First.\n\nThen."], AnswerEnd::Calls), (&["Done."], AnswerEnd::Answer)]));
}

#[test]
fn an_answer_that_broke_off_is_continued_and_not_repeated() {
    expect![[r#"
        "a\n\nb"
        " c"
        end "" []
        ""
        ""
        " d"
        end "\n" []
        finish ""
    "#]]
    .assert_eq(&read(&[
        (&["a\n\nb", " c"], AnswerEnd::Failure),
        (&["a\n\n", "b c", " d"], AnswerEnd::Answer),
    ]));
}

#[test]
fn another_answer_after_one_that_broke_off_stands_by_itself() {
    expect![[r#"
        "a\n\nb"
        end "" []
        ""
        "\n\na\n\nx"
        end "\n" []
        finish ""
    "#]]
    .assert_eq(&read(&[(&["a\n\nb"], AnswerEnd::Failure), (&["a\n", "\nx"], AnswerEnd::Answer)]));
}

#[test]
fn a_run_that_ends_in_the_middle_ends_the_line() {
    expect![[r#"
        "a\n\nb"
        end "" []
        finish "\n"
    "#]]
    .assert_eq(&read(&[(&["a\n\nb"], AnswerEnd::Failure)]));
}

#[test]
fn a_message_without_deltas_counts() {
    let mut stream = AnswerStream::default();
    assert_eq!(stream.end("a\n\nb", AnswerEnd::Answer).answer, "a\n\nb\n");
}
