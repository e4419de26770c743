//! The rows of the tools: which figure, how good it should be, and what it is compared with.

use crate::bench::judged::{Aim, Figure, Row, Unit, case, row};

const MICROSECOND: f64 = 1e3;
/// The claim of one of the systems that Rheon learns from, made there of the bare tool.
const READ_NANOS_MAX: f64 = 90.0 * MICROSECOND;
const LINE_NANOS_MAX: f64 = 200.0 * MICROSECOND;
const MAP_NANOS_MAX: f64 = 1e6 * MICROSECOND;
const TOOLKIT_NANOS_MAX: f64 = 1_500.0 * MICROSECOND;
/// What a sandboxed command may cost beyond bash itself, and the first one beyond the others.
const SANDBOX_NANOS_MAX: f64 = 2_000.0 * MICROSECOND;
const HELPER_NANOS_MAX: f64 = 3_000.0 * MICROSECOND;
const OUTPUT_MEBIBYTES_MAX: f64 = 32.0;
/// How many times the time of `rg` ours may be.
const RIPGREP_TIMES_MAX: f64 = 1.1;

const WITHIN: Option<Aim> = Some(Aim::TimesAtMost(RIPGREP_TIMES_MAX));

/// What is looked for among 100,000 files: a title, the case, what does the same, and the aim.
const SEARCHES: [(&str, &str, &str, Option<Aim>); 7] = [
    ("search, 2,244 lines match", "search/rare", "rg", WITHIN),
    ("search, 46,521 lines match", "search/frequent", "rg", WITHIN),
    ("search, nothing matches", "search/absent", "rg", WITHIN),
    ("search, counts only, in *.rs, any case", "search/count", "rg --count", WITHIN),
    ("glob *.rs, 25,200 files", "glob/many", "rg --files --type", WITHIN),
    ("glob file1?.toml, 920 files", "glob/some", "rg --files --type", WITHIN),
    ("glob **/module3/*.rs, 1,200 files", "glob/path", "rg --files --glob, which ignores less", None),
];

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

/// How the map of a repository is made: a title, the case and the aim.
const MAPS: [(&str, &str, Option<Aim>); 3] = [
    ("from nothing", "cold", None),
    ("from what an earlier session kept", "warm", Some(Aim::AtMost(MAP_NANOS_MAX))),
    ("in a session that has it", "open", Some(Aim::AtMost(MAP_NANOS_MAX))),
];

/// Every row, in the order of the table.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = read();
    rows.extend(SEARCHES.iter().flat_map(|(title, name, program, aim)| ripgrep(title, name, program, *aim)));
    rows.extend(LINES.map(|(title, name)| Row {
        title: format!("shell analysis of 1 KB: {title}"),
        aim: Some(Aim::AtMost(LINE_NANOS_MAX)),
        references: vec![("split at blanks", case(format!("shell/{name}/split")))],
        ..row(case(format!("shell/{name}")), Unit::Time)
    }));
    rows.push(Row {
        title: "shell analysis of 64 KiB meant to take long, the slowest of 14".into(),
        ..row(case("shell/hostile"), Unit::Time)
    });
    rows.extend(bash());
    rows.push(Row {
        title: "growth of memory, 1 GiB of output".into(),
        aim: Some(Aim::AtMost(OUTPUT_MEBIBYTES_MAX)),
        ..row(case("output/mib"), Unit::Mebibytes)
    });
    rows.extend(MAPS.map(|(title, name, aim)| Row {
        title: format!("map of 2,000 files, {title}"),
        aim,
        references: vec![("std::fs::read of each", case("map/read"))],
        ..row(case(format!("map/{name}")), Unit::Time)
    }));
    rows.push(Row {
        title: "map of one file meant to take long, the slowest of 100".into(),
        ..row(case("map/hostile"), Unit::Time)
    });
    rows
}

/// What holds a command: a title and the case.
const HELD: [(&str, &str); 5] = [
    ("without a sandbox", "none"),
    ("landlock", "landlock"),
    ("namespaces of bubblewrap", "bubblewrap"),
    ("namespaces of our own", "namespaces"),
    ("namespaces with package caches and hosts", "everyday"),
];

/// A command as a whole and in its parts, and what it takes to be ready for one.
fn bash() -> Vec<Row> {
    let mut rows = Vec::new();
    for (title, name) in HELD {
        rows.push(Row {
            title: format!("bash tool, echo, {title}"),
            references: vec![
                ("a bare bash -c echo", case("bash/bash")),
                ("a bare spawn", case("bash/spawn")),
            ],
            ..row(case(format!("bash/{name}")), Unit::Time)
        });
        let process = format!("bash/{name}/process");
        rows.extend(
            [
                ("... of which a bare bash -c echo", case("bash/bash")),
                ("... of which our handling of a process", growth("bash/process", "bash/bash")),
                ("... of which the sandbox", growth(&process, "bash/process")),
                ("... of which the tool", growth(&format!("bash/{name}"), &process)),
            ]
            .map(|(title, figure)| Row { title: title.into(), ..row(figure, Unit::Time) }),
        );
        rows.push(Row {
            title: "... in all, beyond a bare bash -c echo".into(),
            aim: Some(Aim::AtMost(SANDBOX_NANOS_MAX)),
            ..row(growth(&format!("bash/{name}"), "bash/bash"), Unit::Time)
        });
    }
    rows.push(Row {
        title: "start of the session helper, once".into(),
        aim: Some(Aim::AtMost(HELPER_NANOS_MAX)),
        references: vec![("a bare spawn", case("bash/spawn"))],
        ..row(case("bash/helper"), Unit::Time)
    });
    rows.push(Row { title: "toolkit, sandbox tried".into(), ..row(case("toolkit/tried"), Unit::Time) });
    rows.push(Row {
        title: "toolkit, sandbox remembered".into(),
        aim: Some(Aim::AtMost(TOOLKIT_NANOS_MAX)),
        ..row(case("toolkit/recalled"), Unit::Time)
    });
    rows
}

fn growth(whole: &str, part: &str) -> Figure {
    Figure::Growth(whole.into(), part.into())
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
        ("one call after the other", "sequential/first"),
        ("one call after the other, files read before", "sequential/again"),
        ("calls at once", "parallel/first"),
        ("calls at once, files read before", "parallel/again"),
    ] {
        rows.push(Row {
            title: format!("read 10 KB through the pipeline, {title}"),
            aim: Some(Aim::AtMost(READ_NANOS_MAX)),
            references: references(),
            ..row(case(format!("read/{name}")), Unit::Time)
        });
    }
    rows.push(Row {
        title: "... one call after the other, beyond std::fs::read".into(),
        ..row(Figure::Growth("read/sequential/first".into(), "read/fs".into()), Unit::Time)
    });
    rows
}

/// The time that passes, and the work of the processors, which hardly depends on what else the machine does.
fn ripgrep(title: &str, name: &str, program: &'static str, aim: Option<Aim>) -> [Row; 2] {
    [
        Row {
            title: title.into(),
            aim,
            references: vec![(program, case(format!("{name}/ripgrep")))],
            ..row(case(format!("{name}/rheon")), Unit::Time)
        },
        Row {
            title: "... work of all processors".into(),
            aim,
            references: vec![(program, case(format!("{name}/ripgrep/work")))],
            ..row(case(format!("{name}/rheon/work")), Unit::Time)
        },
    ]
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
