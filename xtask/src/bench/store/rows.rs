//! The rows of the store: which figure, how good it should be, and what it is compared with.

use crate::bench::judged::{Aim, Row, Unit, case, row};

const MILLISECOND: f64 = 1e6;
/// A session of 500 MB is there before anybody wonders.
const OPEN_NANOS_MAX: f64 = 500.0 * MILLISECOND;
const OPEN_MEBIBYTES_MAX: f64 = 100.0;
const PAGE_NANOS_MAX: f64 = 5.0 * MILLISECOND;

/// Events that are appended: a title and the case.
const APPENDED: [(&str, &str); 3] = [
    ("1 KB", "append/1kb"),
    ("20 KB", "append/20kb"),
    ("100 KB, a payload beside the journal", "append/100kb"),
];

/// Sessions that are opened.
const OPENED: [(&str, &str); 2] = [
    ("10,000 messages, 500 MB, mostly payloads", "open/payloads"),
    ("34,000 messages, 500 MB in the journal", "open/inline"),
];

/// Pages of the list: a title, the case, and what it is compared with.
const PAGES: [(&str, &str, &str, &str); 4] = [
    ("10,000 sessions, first page", "list/10k", "the headers of 10,000 journals", "list/10k/headers"),
    ("100,000 sessions, first page", "list/100k", "of 10,000 sessions", "list/10k"),
    ("100,000 sessions, first page of a project", "list/100k/project", "of all", "list/100k"),
    ("100,000 sessions, a page from the middle", "list/100k/middle", "the first page", "list/100k"),
];

/// Every row, in the order of the table.
pub(super) fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = APPENDED.iter().flat_map(|(title, name)| append(title, name)).collect();
    rows.extend(OPENED.iter().flat_map(|(title, name)| open(title, name)));
    rows.push(Row {
        title: "fork at the end of 10,000 messages".into(),
        references: vec![("copy of the journal, without payloads", case("fork/copy"))],
        ..row(case("fork/session"), Unit::Time)
    });
    rows.push(Row {
        title: "... bytes written".into(),
        references: vec![("copy of the journal, without payloads", case("fork/copy/bytes"))],
        ..row(case("fork/bytes"), Unit::Count)
    });
    rows.extend(PAGES.map(|(title, name, reference, reference_name)| Row {
        title: format!("list of {title}"),
        aim: Some(Aim::AtMost(PAGE_NANOS_MAX)),
        references: vec![(reference, case(reference_name))],
        ..row(case(name), Unit::Time)
    }));
    let scan = || vec![("every entry looked at", case("search/scan"))];
    rows.extend(
        [
            ("sessions in which a word was said, of 100,000", "list/search"),
            ("search, 11,133 entries match", "search/some"),
            ("search, 100,000 entries match", "search/frequent"),
        ]
        .map(|(title, name)| Row {
            title: title.into(),
            references: scan(),
            ..row(case(name), Unit::Time)
        }),
    );
    rows.push(Row {
        title: "index of 10,000 sessions rebuilt".into(),
        references: vec![("the same events as lines of JSON", case("rebuild/10k/lines"))],
        ..row(case("rebuild/10k"), Unit::Time)
    });
    rows
}

fn append(title: &str, name: &str) -> [Row; 2] {
    [
        Row {
            title: format!("append an event of {title}"),
            references: vec![("bare write", case(format!("{name}/write")))],
            ..row(case(name), Unit::Time)
        },
        Row {
            title: "... and sync".into(),
            references: vec![("bare write and fdatasync", case(format!("{name}/write+fdatasync")))],
            ..row(case(format!("{name}/synced")), Unit::Time)
        },
    ]
}

fn open(title: &str, name: &str) -> [Row; 4] {
    let lines = || vec![("serde_json lines, payloads read", case(format!("{name}/lines")))];
    [
        Row {
            title: format!("open and fold: {title}"),
            aim: Some(Aim::AtMost(OPEN_NANOS_MAX)),
            references: lines(),
            ..row(case(format!("{name}/resume")), Unit::Time)
        },
        Row {
            title: "... work of all processors".into(),
            references: vec![("serde_json lines, payloads read", case(format!("{name}/lines/work")))],
            ..row(case(format!("{name}/resume/work")), Unit::Time)
        },
        Row {
            title: "... growth of memory".into(),
            aim: Some(Aim::AtMost(OPEN_MEBIBYTES_MAX)),
            ..row(case(format!("{name}/resume/mib")), Unit::Mebibytes)
        },
        Row {
            title: "... every event whole, one at a time".into(),
            references: lines(),
            ..row(case(format!("{name}/read")), Unit::Time)
        },
    ]
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
