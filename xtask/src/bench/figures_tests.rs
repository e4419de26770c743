//! Tables of given figures.

use super::*;

fn row(title: &str, unit: Unit, aim: Option<Aim>, references: Vec<(&'static str, Figure)>) -> Row {
    Row { title: title.into(), figure: Figure::Case("ours".into()), unit, aim, references }
}

fn case(name: &str) -> Figure {
    Figure::Case(name.into())
}

fn figures(lines: &str) -> Figures {
    let mut figures = Figures::default();
    figures.read(lines).unwrap();
    figures
}

#[test]
fn figures_are_judged_and_compared_with_the_best_reference() {
    let lines = r#"
        noise
{"case":"ours","value":900.0}
{"case":"slow","value":100.0}
{"case":"fast","value":300.4}
"#;
    let references = || vec![("slow", case("slow")), ("fast", case("fast")), ("gone", case("gone"))];
    let rows = [
        row("rate", Unit::Rate, Some(Aim::TimesAtLeast(3.0)), references()),
        row("rate", Unit::Rate, Some(Aim::AtLeast(900.0)), Vec::new()),
        row("count", Unit::Count, Some(Aim::AtMost(900.0)), references()),
        row("time", Unit::Time, None, references()),
        row("time", Unit::Time, Some(Aim::TimesAtMost(8.99)), references()),
    ];
    assert_eq!(
        render(&rows, &figures(lines)),
        "\
| what | measured | aim | reference | ratio |
|---|---:|---|---|---:|
| rate | 900 MB/s | >= 3 times the best: met | slow: 100 MB/s; fast: 300 MB/s; gone: - | 3.00 |
| rate | 900 MB/s | >= 900 MB/s: met |  |  |
| count | 900 | <= 900: met | slow: 100; fast: 300.40; gone: - | 9.00 |
| time | 0.90 µs |  | slow: 0.10 µs; fast: 0.30 µs; gone: - | 9.00 |
| time | 0.90 µs | <= 8.99 times it: MISSED | slow: 0.10 µs; fast: 0.30 µs; gone: - | 9.00 |
"
    );
}

#[test]
fn growth_and_share_are_made_of_two_figures() {
    let found = figures("{\"case\":\"a\",\"value\":12.0}\n{\"case\":\"b\",\"value\":8.0}");
    let (a, b, missing) = (|| "a".to_owned(), || "b".to_owned(), || "c".to_owned());
    assert_eq!(found.find(&Figure::Growth(a(), b())), Some(4.0));
    assert_eq!(found.find(&Figure::Share(a(), b())), Some(1.5));
    assert_eq!(found.find(&Figure::Share(a(), missing())), None);
}

#[test]
fn a_missed_aim_is_said_and_what_was_not_measured_too() {
    let rows = [row("memory", Unit::Mebibytes, Some(Aim::AtMost(32.0)), Vec::new())];
    let judged = |lines: &str| render(&rows, &figures(lines)).lines().last().unwrap().to_owned();
    assert_eq!(
        judged("{\"case\":\"ours\",\"value\":32.1}"),
        "| memory | 32.1 MiB | <= 32.0 MiB: MISSED |  |  |"
    );
    assert_eq!(judged(""), "| memory | - | <= 32.0 MiB: not measured |  |  |");
}

#[test]
fn a_line_without_a_value_is_an_error() {
    assert!(Figures::default().read("{\"case\":\"ours\"}").is_err());
}
