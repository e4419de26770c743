//! Rules in real directories, good and bad.

use std::fs;
use std::path::PathBuf;

use expect_test::{Expect, expect};
use tempfile::TempDir;

use super::{RULE_BYTES_MAX, RuleFiles, RulePaths};

/// A home with a project in it.
struct Home {
    dir: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.path("project/.git")).unwrap();
        home
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    #[cfg(target_os = "linux")]
    fn link(&self, name: &str, target: impl AsRef<std::path::Path>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    /// The rules of an agent that works in `dir`.
    fn load(&self, dir: &str) -> RuleFiles {
        RuleFiles::load(&RulePaths {
            working_dir: self.path(dir),
            user_dirs: vec![self.path(".config"), self.path(".config/rheon")],
            home: Some(self.root()),
        })
    }

    fn check(&self, dir: &str, expected: Expect) {
        let rules = self.load(dir);
        let warnings: Vec<String> = rules.warnings.iter().map(|warning| format!("! {warning}")).collect();
        let root = format!("{}/", self.root().display());
        // The introduction is the same everywhere.
        let text = rules.text.lines().skip(3).collect::<Vec<_>>().join("\n");
        expected.assert_eq(&format!("{text}\n{}", warnings.join("\n")).replace(&root, "~/"));
    }
}

#[test]
fn all_rules_stand_in_order_and_the_nearest_comes_last() {
    let home = Home::new();
    home.write(".config/AGENTS.md", "Of every program.")
        .write(".config/rheon/AGENTS.md", "Of ours.")
        .write(".config/rheon/CLAUDE.md", "Not this.")
        .write("AGENTS.md", "Above the root, not this.")
        .write("project/AGENTS.md", "Of the root.")
        .write("project/CLAUDE.md", "Not this.")
        .write("project/a/AGENTS.override.md", "Of a, by override.")
        .write("project/a/AGENTS.md", "Not this.")
        .write("project/a/b/CLAUDE.md", "Of b, for another program.")
        .write("project/a/b/GEMINI.md", "Not this.")
        .write("project/a/b/c/GEMINI.md", "\u{feff}Of c,\r\nfor a third.\r\n")
        .write("project/a/b/c/d/AGENTS.md", " \n ")
        .write("project/a/b/c/d/CLAUDE.md", "Not this: what is empty is meant so.")
        .write("project/a/sibling/AGENTS.md", "Not on the way.");
    home.check(
        "project/a/b/c/d",
        expect![[r#"
            --- ~/.config/AGENTS.md (user) ---

            Of every program.

            --- ~/.config/rheon/AGENTS.md (user) ---

            Of ours.

            --- AGENTS.md (project) ---

            Of the root.

            --- a/AGENTS.override.md (project) ---

            Of a, by override.

            --- a/b/CLAUDE.md (project) ---

            Of b, for another program.

            --- a/b/c/GEMINI.md (project) ---

            Of c,
            for a third.
        "#]],
    );
}

#[test]
fn without_a_repository_only_the_working_dir_counts() {
    let home = Home::new();
    home.write("loose/AGENTS.md", "Not this.").write("loose/a/AGENTS.md", "This.");
    home.check(
        "loose/a",
        expect![[r#"
        --- AGENTS.md (project) ---

        This.
    "#]],
    );
    assert_eq!(home.load("loose/empty").text, "");
}

#[test]
fn nothing_is_no_rules_and_no_warning() {
    let home = Home::new();
    assert_eq!(home.load("project"), RuleFiles::default());
    home.check(
        "gone",
        expect![[r#"

        ! rules in ~/gone: not used: cannot read it: No such file or directory (os error 2)"#]],
    );
}

#[test]
fn imports_stand_below_the_line_that_names_them_each_once() {
    let home = Home::new();
    home.write(
        "project/AGENTS.md",
        "Style: @docs/style.md and @docs/tests.md.\n`@docs/no.md`, @nobody, @a/package\nEnd.",
    )
    .write("project/docs/style.md", "Short lines.\n@../docs/tests.md")
    .write("project/docs/tests.md", "Write tests.\n@/nowhere/else.md\n@missing.md\n@../src")
    .write("project/docs/no.md", "Not this.")
    .write("project/src/lib.rs", "")
    .write(".config/AGENTS.md", "@~/own/more.md\n@../own/more.md")
    .write("own/more.md", "The user's own.");
    home.check(
        "project",
        expect![[r#"
            --- ~/.config/AGENTS.md (user) ---

            @~/own/more.md
            <import path="~/own/more.md">
            The user's own.
            </import>
            @../own/more.md

            --- AGENTS.md (project) ---

            Style: @docs/style.md and @docs/tests.md.
            <import path="docs/style.md">
            Short lines.
            @../docs/tests.md
            <import path="docs/tests.md">
            Write tests.
            @/nowhere/else.md
            @missing.md
            @../src
            </import>
            </import>
            `@docs/no.md`, @nobody, @a/package
            End.
            ! rules in ~/project/docs/tests.md, line 2: @/nowhere/else.md is not imported: it is outside the project
            ! rules in ~/project/docs/tests.md, line 3: @missing.md is not imported: no such file"#]],
    );
}

#[test]
fn import_cycles_stop_and_imports_go_four_files_deep() {
    let home = Home::new();
    home.write("project/AGENTS.md", "@AGENTS.md\n@1.md");
    for depth in 1..=6 {
        home.write(&format!("project/{depth}.md"), format!("Depth {depth}.\n@{}.md\n@1.md", depth + 1));
    }
    home.check(
        "project",
        expect![[r#"
            --- AGENTS.md (project) ---

            @AGENTS.md
            @1.md
            <import path="1.md">
            Depth 1.
            @2.md
            <import path="2.md">
            Depth 2.
            @3.md
            <import path="3.md">
            Depth 3.
            @4.md
            <import path="4.md">
            Depth 4.
            @5.md
            @1.md
            </import>
            @1.md
            </import>
            @1.md
            </import>
            @1.md
            </import>
            ! rules in ~/project/AGENTS.md, line 1: @AGENTS.md is not imported: import cycle
            ! rules in ~/project/4.md, line 2: @5.md is not imported: imports go 4 files deep
            ! rules in ~/project/4.md, line 3: @1.md is not imported: import cycle
            ! rules in ~/project/3.md, line 3: @1.md is not imported: import cycle
            ! rules in ~/project/2.md, line 3: @1.md is not imported: import cycle
            ! rules in ~/project/1.md, line 3: @1.md is not imported: import cycle"#]],
    );
}

#[test]
fn no_more_than_64_files_are_imported() {
    let home = Home::new();
    let names: Vec<String> = (0..70).map(|place| format!("@i/{place}.md")).collect();
    home.write("project/AGENTS.md", names.join("\n"));
    for place in 0..70 {
        home.write(&format!("project/i/{place}.md"), "x");
    }
    let rules = home.load("project");
    assert_eq!((rules.text.matches("</import>").count(), rules.warnings.len()), (64, 6));
}

#[test]
fn a_project_cannot_import_what_lies_outside_it_or_is_secret() {
    let home = Home::new();
    home.write("secret.md", "secret")
        .write("project/.env", "KEY=secret")
        .write("project/.git/config", "secret");
    home.write(
        "project/AGENTS.md",
        "@../secret.md\n@~/secret.md\n@/etc/passwd\n@docs/../../secret.md\n@.env\n@.git/config\n@../../../../../../../../../../../../../x",
    );
    home.check(
        "project",
        expect![[r#"
            --- AGENTS.md (project) ---

            @../secret.md
            @~/secret.md
            @/etc/passwd
            @docs/../../secret.md
            @.env
            @.git/config
            @../../../../../../../../../../../../../x
            ! rules in ~/project/AGENTS.md, line 1: @../secret.md is not imported: it is outside the project
            ! rules in ~/project/AGENTS.md, line 2: @~/secret.md is not imported: it is outside the project
            ! rules in ~/project/AGENTS.md, line 3: @/etc/passwd is not imported: it is outside the project
            ! rules in ~/project/AGENTS.md, line 4: @docs/../../secret.md is not imported: it is outside the project
            ! rules in ~/project/AGENTS.md, line 5: @.env is not imported: the file is private
            ! rules in ~/project/AGENTS.md, line 6: @.git/config is not imported: the file is private
            ! rules in ~/project/AGENTS.md, line 7: @../../../../../../../../../../../../../x is not imported: it is outside the project"#]],
    );
}

#[test]
#[cfg(target_os = "linux")]
fn links_within_the_project_are_followed_and_those_out_of_it_are_refused() {
    let home = Home::new();
    home.write("secret.md", "secret")
        .write("project/docs/rules.md", "By a link. @out/secret.md")
        .link("project/AGENTS.md", "docs/rules.md")
        .link("project/docs/out", home.root())
        .link("project/a/AGENTS.md", home.path("secret.md"))
        .write("project/a/CLAUDE.md", "Instead.")
        .link("project/a/b/AGENTS.md", "nowhere")
        .link("project/a/b/c/AGENTS.md", "AGENTS.md");
    home.check(
        "project/a/b/c",
        expect![[r#"
            --- AGENTS.md (project) ---

            By a link. @out/secret.md

            --- a/CLAUDE.md (project) ---

            Instead.
            ! rules in ~/project/a/b/c/AGENTS.md: not used: cannot read it: Too many levels of symbolic links (os error 40)
            ! rules in ~/project/a/b/AGENTS.md: not used: cannot read it: No such file or directory (os error 2)
            ! rules in ~/project/a/AGENTS.md: not used: a link leads out of the directory
            ! rules in ~/project/docs/rules.md, line 1: @out/secret.md is not imported: a link leads out of the directory"#]],
    );
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_no_text_file_is_refused_without_waiting() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let home = Home::new();
    home.write("project/AGENTS.md", b"\x7fELF\x00\x01")
        .write("project/a/AGENTS.md", b"caf\xe9")
        .write("project/a/b/AGENTS.md/file", "A directory of that name.")
        .write("project/a/b/c/CLAUDE.md", "Taken, as the pipe is none.\n@pipe.md");
    let mode = Mode::RUSR | Mode::WUSR;
    for pipe in ["project/a/b/c/AGENTS.md", "project/a/b/c/pipe.md"] {
        mknodat(CWD, home.path(pipe), FileType::Fifo, mode, 0).unwrap();
    }
    home.check(
        "project/a/b/c",
        expect![[r#"
            --- a/b/c/CLAUDE.md (project) ---

            Taken, as the pipe is none.
            @pipe.md
            ! rules in ~/project/a/b/c/AGENTS.md: not used: not a regular file, but a pipe
            ! rules in ~/project/a/b/c/CLAUDE.md, line 2: @pipe.md is not imported: not a regular file, but a pipe
            ! rules in ~/project/a/b/AGENTS.md: not used: not a regular file, but a directory
            ! rules in ~/project/a/AGENTS.md: not used: not UTF-8 text
            ! rules in ~/project/AGENTS.md: not used: not UTF-8 text"#]],
    );
}

#[test]
fn of_a_gigabyte_only_the_beginning_is_read_and_it_is_cut_after_a_line() {
    let home = Home::new();
    home.write("project/AGENTS.md", "A line of rules: ü.\n".repeat(4_000));
    let file = fs::File::options().write(true).open(home.path("project/AGENTS.md")).unwrap();
    file.set_len(1 << 30).unwrap();
    let rules = home.load("project");
    assert!(rules.text.len() < RULE_BYTES_MAX + 1_000, "{}", rules.text.len());
    let end: Vec<&str> = rules.text.lines().rev().take(2).collect();
    expect![[r#"
        [
            "[The rest of this file is left out: all rules together may have 32768 bytes.]",
            "A line of rules: ü.",
        ]
    "#]]
    .assert_debug_eq(&end);
    let warnings: Vec<String> = rules.warnings.iter().map(|warning| warning.problem.to_string()).collect();
    expect!["only the beginning is used: all rules together are limited to 32768 bytes; make them shorter"]
        .assert_eq(&warnings.join("\n"));
}

#[test]
fn at_the_cap_nothing_is_cut_and_one_byte_more_is() {
    let home = Home::new();
    home.write("project/AGENTS.md", "x".repeat(RULE_BYTES_MAX));
    assert_eq!(home.load("project").warnings, []);
    home.write("project/AGENTS.md", "x".repeat(RULE_BYTES_MAX + 1));
    assert_eq!(home.load("project").warnings.len(), 1);
    // Drops a character that the cut splits.
    home.write("project/AGENTS.md", format!("x{}", "ü".repeat(RULE_BYTES_MAX)));
    assert!(home.load("project").text.contains("ü\n[The rest"));
}

#[test]
fn where_there_is_no_room_for_all_the_nearest_comes_first() {
    let home = Home::new();
    for dir in ["project", "project/a", "project/a/b"] {
        home.write(&format!("{dir}/AGENTS.md"), format!("{dir}\n").repeat(1_500));
    }
    home.write(".config/AGENTS.md", "user\n".repeat(7_000)).write(".config/rheon/AGENTS.md", "no room");
    let rules = home.load("project/a/b");
    let counts: Vec<usize> = ["user\n", "project\n", "project/a\n", "project/a/b\n"]
        .iter()
        .map(|line| rules.text.split_inclusive('\n').filter(|found| found == line).count())
        .collect();
    let root = format!("{}/", home.root().display());
    let warnings: Vec<String> =
        rules.warnings.iter().map(|warning| warning.to_string().replace(&root, "~/")).collect();
    expect![[r#"
        [6553, 0, 1476, 1499]
        rules in ~/.config/AGENTS.md: only the beginning is used: all rules together are limited to 32768 bytes; make them shorter
        rules in ~/.config/rheon/AGENTS.md: not used: rules nearer to the working directory fill the 32768 bytes allowed; make them shorter
        rules in ~/project/a/AGENTS.md: only the beginning is used: all rules together are limited to 32768 bytes; make them shorter
        rules in ~/project/AGENTS.md: not used: rules nearer to the working directory fill the 32768 bytes allowed; make them shorter"#]].assert_eq(&format!("{counts:?}\n{}", warnings.join("\n")));
}

#[test]
fn rules_in_every_one_of_many_parents_are_bounded() {
    let home = Home::new();
    let mut dir = "project".to_owned();
    for _ in 0..100 {
        home.write(&format!("{dir}/AGENTS.md"), "x");
        dir.push_str("/d");
    }
    fs::create_dir_all(home.path(&dir)).unwrap();
    let rules = home.load(&dir);
    assert_eq!((rules.files.len(), rules.warnings.len()), (63, 1));
}
