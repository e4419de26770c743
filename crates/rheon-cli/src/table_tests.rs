//! Tables, with wide and hostile cells.

use expect_test::expect;

use super::{Side, Table};

#[test]
fn columns_are_as_wide_as_what_stands_in_them() {
    let mut table = Table::new(&[("name", Side::Leave), ("size", Side::Right), ("note", Side::Leave)]);
    table.row(["漢字".into(), "1".into(), String::new()]);
    table.row(["a long name".into(), "12,345".into(), "two\nlines \u{1b}[31m".into()]);
    expect![[r#"
        name           size  note
        漢字              1
        a long name  12,345  two lines \u{1b}[31m
    "#]]
    .assert_eq(&table.text());
}
