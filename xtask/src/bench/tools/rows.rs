//! The rows of the tools: which figure, how good it should be, and what it is compared with.

use crate::bench::judged::{Aim, Figure, Row, Unit, case, row};

const MICROSECOND: f64 = 1e3;
/// The claim of one of the systems that Rheon learns from, made there of the bare tool.
const READ_NANOS_MAX: f64 = 90.0 * MICROSECOND;
const LINE_NANOS_MAX: f64 = 200.0 * MICROSECOND;
/// How many times the time of `rg` ours may be.
const RIPGREP_TIMES_MAX: f64 = 1.1;

/// What stands in the lines of one kilobyte that are analysed.
const LINES: [(&str, &str); 14] = [
    ("a pipeline of many commands", "pipeline"),
    ("a list of commands", "list"),
    ("redirections", "redirections"),
    ("single quotes around signs", "single_quotes"),
    ("a program in single quotes", "quoted_program"),
    ("double quotes", "double_quotes"),
    ("escapes in double quotes", "quoted_escapes"),
    ("commands that run others", "wrappers"),
    ("scripts for another shell", "scripts"),
    ("escaped characters", "escapes"),
    ("words with braces", "braces"),
    ("variables and substitutions", "variables"),
    ("nothing but conditions and subshells", "compound"),
    ("nothing but quotes of the form $'...'", "ansi_quotes"),
];

/// Every row, in the order of the table.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = read();
    rows.extend([
        ripgrep("search, some 2,000 lines match", "search/rare", "ripgrep", "rg"),
        ripgrep("search, some 47,000 lines match", "search/frequent", "ripgrep", "rg"),
        ripgrep("search, nothing matches", "search/absent", "ripgrep", "rg"),
        ripgrep("search, counts only, in *.rs, any case", "search/count", "ripgrep", "rg --count"),
        ripgrep("glob *.rs", "glob/many", "ripgrep", "rg --files --type"),
        ripgrep("glob file1?.toml", "glob/some", "ripgrep", "rg --files --type"),
        Row {
            aim: None,
            ..ripgrep("glob **/module3/*.rs", "glob/path", "ripgrep", "rg --files --glob, which ignores less")
        },
    ]);
    rows.extend(LINES.map(|(title, name)| Row {
        title: format!("shell analysis of 1 KB: {title}"),
        aim: Some(Aim::AtMost(LINE_NANOS_MAX)),
        references: vec![("split at blanks", case(format!("shell/{name}/split")))],
        ..row(case(format!("shell/{name}")), Unit::Time)
    }));
    rows
}

fn read() -> Vec<Row> {
    let references =
        || vec![("std::fs::read", case("read/fs")), ("the same in spawn_blocking", case("read/blocking"))];
    let mut rows = vec![Row {
        title: "read 10 KB, the bare tool".into(),
        references: references(),
        ..row(case("read/tool"), Unit::Time)
    }];
    for (title, name) in [
        ("one call after the other, each another file", "sequential/each"),
        ("one call after the other, always the same file", "sequential/same"),
        ("calls at once, each another file", "parallel/each"),
        ("calls at once, always the same file", "parallel/same"),
    ] {
        rows.push(Row {
            title: format!("read 10 KB through the pipeline, {title}"),
            aim: Some(Aim::AtMost(READ_NANOS_MAX)),
            references: references(),
            ..row(case(format!("read/{name}")), Unit::Time)
        });
    }
    rows.push(Row {
        title: "... of which the pipeline and the tool, beyond std::fs::read".into(),
        ..row(Figure::Growth("read/sequential/each".into(), "read/fs".into()), Unit::Time)
    });
    rows
}

fn ripgrep(title: &str, name: &str, other: &str, program: &'static str) -> Row {
    Row {
        title: title.into(),
        aim: Some(Aim::TimesAtMost(RIPGREP_TIMES_MAX)),
        references: vec![(program, case(format!("{name}/{other}")))],
        ..row(case(format!("{name}/rheon")), Unit::Time)
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
