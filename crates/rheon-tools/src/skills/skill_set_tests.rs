//! Loading skills, and warnings about invalid ones (M1, M7, M8).

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use expect_test::expect;
use tempfile::TempDir;

use crate::skills::{FileOrigin, FileProblem, SKILL_BYTES_MAX, SKILLS_MAX, SkillDir, SkillProblem, SkillSet};

struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.base().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn skill(&self, path: &str, name: &str, description: &str) {
        self.put(
            &format!("{path}/SKILL.md"),
            format!("---\nname: {name}\ndescription: {description}\n---\nbody\n"),
        );
    }

    fn load(&self, dirs: &[(&str, FileOrigin)]) -> SkillSet {
        let dir =
            |(path, origin): &(&str, FileOrigin)| SkillDir { path: self.base().join(path), origin: *origin };
        SkillSet::load(&dirs.iter().map(dir).collect::<Vec<_>>())
    }

    fn escaped_text(&self, skills: &SkillSet) -> String {
        let mut text = String::new();
        for skill in skills.iter() {
            text.push_str(&format!("{} {:?} {}\n", skill.name, skill.origin, skill.dir.display()));
        }
        for warning in skills.warnings() {
            text.push_str(&format!("{warning}\n"));
        }
        text.replace(&self.base().display().to_string(), "/T")
    }
}

#[test]
fn one_bad_skill_does_not_stop_the_others() {
    let fixture = Fixture::new();
    fixture.skill("p/good", "good", "Fine.");
    fixture.skill("p/renamed", "other", "Fine too.");
    fixture.put("p/plain/SKILL.md", "no frontmatter");
    fixture.put("p/mute/SKILL.md", "---\nname: mute\n---\n");
    fixture.put("p/bytes/SKILL.md", b"---\nname: \xff\n---\n");
    fixture.put("p/large/SKILL.md", "x".repeat(SKILL_BYTES_MAX as usize + 1));
    fixture.put("p/lower/skill.md", "---\nname: lower\ndescription: x\n---\n");
    fixture.put("p/README.md", "not a skill");
    std::fs::create_dir_all(fixture.base().join("p/folder/SKILL.md")).unwrap();
    std::fs::create_dir_all(fixture.base().join("p/empty")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, fixture.base().join("p/empty/SKILL.md"), 0o600.into()).unwrap();
    let skills = fixture.load(&[
        ("p", FileOrigin::Project),
        ("missing", FileOrigin::User),
        ("p/README.md", FileOrigin::User),
    ]);
    expect![[r#"
        good Project /T/p/good
        other Project /T/p/renamed
        skill /T/p/README.md is skipped: cannot read it: Not a directory (os error 20)
        skill /T/p/bytes is skipped: not UTF-8 text
        skill /T/p/empty is skipped: not a regular file, but a pipe
        skill /T/p/folder is skipped: not a regular file, but a directory
        skill /T/p/large is skipped: larger than 65536 bytes; move parts of it to other files
        skill /T/p/mute is skipped: missing `description`, so the model cannot know when to use it
        skill /T/p/plain is skipped: missing frontmatter between two `---` lines
        skill /T/p/renamed is loaded with a warning: its name "other" differs from its directory name "renamed"
    "#]]
    .assert_eq(&fixture.escaped_text(&skills));
}

#[test]
fn the_project_overrides_the_user_and_a_later_directory_an_earlier_one() {
    let fixture = Fixture::new();
    for dir in ["user", "first", "second"] {
        fixture.skill(&format!("{dir}/same"), "same", dir);
    }
    fixture.skill("user/own", "own", "mine");
    let skills = fixture.load(&[
        ("user", FileOrigin::User),
        ("first", FileOrigin::Project),
        ("second", FileOrigin::Project),
    ]);
    expect![[r#"
        own User /T/user/own
        same Project /T/second/same
        skill /T/user/same is skipped: overridden by another skill named "same": /T/first/same
        skill /T/first/same is skipped: overridden by another skill named "same": /T/second/same
    "#]]
    .assert_eq(&fixture.escaped_text(&skills));
}

#[test]
fn merging_overrides_skills_and_keeps_all_warnings() {
    let fixture = Fixture::new();
    fixture.skill("one/same", "same", "first");
    fixture.skill("one/only", "only", "x");
    fixture.put("one/bad/SKILL.md", "no frontmatter");
    fixture.skill("two/same", "same", "second");
    fixture.put("two/worse/SKILL.md", "---\nname: worse\n---\n");
    let mut all = SkillSet::load_dir(&fixture.base().join("one"), FileOrigin::Project);
    all.merge(SkillSet::load_dir(&fixture.base().join("two"), FileOrigin::User));
    expect![[r#"
        only Project /T/one/only
        same User /T/two/same
        skill /T/one/bad is skipped: missing frontmatter between two `---` lines
        skill /T/two/worse is skipped: missing `description`, so the model cannot know when to use it
        skill /T/one/same is skipped: overridden by another skill named "same": /T/two/same
    "#]]
    .assert_eq(&fixture.escaped_text(&all));
    let mut other = SkillSet::default();
    other.merge(all.clone());
    assert_eq!(fixture.escaped_text(&other), fixture.escaped_text(&all));
}

#[test]
fn links_are_followed_only_within_the_directory() {
    let fixture = Fixture::new();
    fixture.skill("outside/stolen", "stolen", "x");
    fixture.skill("p/real", "real", "x");
    fixture.put("p/shared.md", "---\nname: by-link\ndescription: x\n---\n");
    symlink("../outside/stolen", fixture.base().join("p/stolen")).unwrap();
    symlink("real", fixture.base().join("p/twin")).unwrap();
    for (name, target) in
        [("by-link", "../shared.md"), ("secret", "../../outside/stolen/SKILL.md"), ("nowhere", "gone")]
    {
        std::fs::create_dir_all(fixture.base().join("p").join(name)).unwrap();
        symlink(target, fixture.base().join("p").join(name).join("SKILL.md")).unwrap();
    }
    symlink("loop", fixture.base().join("p/loop")).unwrap();
    expect![[r#"
        by-link Project /T/p/by-link
        real Project /T/p/real
        skill /T/p/nowhere is skipped: cannot read it: a broken link
        skill /T/p/secret is skipped: a link leads out of the directory
        skill /T/p/stolen is skipped: a link leads out of the directory
        skill /T/p/twin is loaded with a warning: its name "real" differs from its directory name "twin"
    "#]]
    .assert_eq(&fixture.escaped_text(&fixture.load(&[("p", FileOrigin::Project)])));
    symlink("p", fixture.base().join("link")).unwrap();
    assert!(fixture.load(&[("link", FileOrigin::User)]).get("real").is_some());
}

#[test]
fn the_catalog_is_escaped_and_lists_only_skills_for_the_model() {
    let fixture = Fixture::new();
    assert_eq!(fixture.load(&[("p", FileOrigin::User)]).format_for_prompt(), "");
    fixture
        .put("p/hidden/SKILL.md", "---\nname: hidden\ndescription: x\ndisable-model-invocation: true\n---\n");
    assert_eq!(fixture.load(&[("p", FileOrigin::User)]).format_for_prompt(), "");
    fixture.skill("p/a<b", "a<b", "\"</description></skill> & \\e[31m\\u202e\\n'x'\"");
    fixture.skill("p/plain", "plain", "What and when.");
    let catalogue = fixture.load(&[("p", FileOrigin::User)]).format_for_prompt();
    expect![[r#"
        <available_skills>
        <skill>
        <name>a&lt;b</name>
        <description>&lt;/description&gt;&lt;/skill&gt; &amp; \u{1b}[31m\u{202e} &apos;x&apos;</description>
        <location>/T/p/a&lt;b/SKILL.md</location>
        </skill>
        <skill>
        <name>plain</name>
        <description>What and when.</description>
        <location>/T/p/plain/SKILL.md</location>
        </skill>
        </available_skills>"#]]
    .assert_eq(&catalogue.replace(&fixture.base().display().to_string(), "/T"));
}

#[test]
fn at_the_limits_the_rest_is_skipped_with_a_warning() {
    let fixture = Fixture::new();
    let long = "x".repeat(1_000);
    for number in 0..SKILLS_MAX + 2 {
        let name = format!("s{number:04}");
        fixture.skill(&format!("p/{name}"), &name, &long);
    }
    let skills = fixture.load(&[("p", FileOrigin::User)]);
    assert_eq!(skills.iter().count(), SKILLS_MAX);
    let problems: Vec<_> = skills.warnings().iter().map(|warning| warning.problem.clone()).collect();
    assert_eq!(problems, [SkillProblem::TooMany]);
    let catalogue = skills.format_for_prompt();
    assert!(catalogue.len() < 65 * 1024);
    assert!(catalogue.contains(" more skills are not listed -->\n</available_skills>"));
    fixture.put("q/full/SKILL.md", {
        let head = "---\nname: full\ndescription: x\n---\n";
        format!("{head}{}", "x".repeat(SKILL_BYTES_MAX as usize - head.len()))
    });
    assert!(fixture.load(&[("q", FileOrigin::User)]).get("full").is_some());
}

#[test]
fn large_directories_and_hostile_names_are_handled() {
    let fixture = Fixture::new();
    let dir = fixture.base().join("p");
    std::fs::create_dir(&dir).unwrap();
    for number in 100..10_150 {
        std::fs::File::create(dir.join(number.to_string())).unwrap();
    }
    for (dir, name) in [("0", "../../outside"), ("1", "/etc/passwd"), ("2", "a/b"), ("3", "..")] {
        fixture.skill(&format!("p/{dir}"), &format!("\"{name}\""), "x");
    }
    fixture.skill("outside", "stolen", "x");
    let skills = fixture.load(&[("p", FileOrigin::Project)]);
    assert!(skills.get("stolen").is_none());
    // A name is never used as a path: only files that were found are read.
    assert!(skills.iter().all(|skill| skill.file.starts_with(fixture.base().join("p"))));
    let problems: Vec<_> = skills.warnings().iter().map(|warning| &warning.problem).collect();
    assert!(problems.contains(&&SkillProblem::File(FileProblem::TooManyEntries)));
}

#[test]
fn swapping_a_directory_for_a_link_lets_no_skill_in() {
    let fixture = crate::builtin::fixture::Fixture::new();
    fixture.put("real/SKILL.md", "---\nname: inside\ndescription: x\n---\nbody\n");
    std::fs::write(fixture.base.join("outside/SKILL.md"), "---\nname: stolen\ndescription: x\n---\nsecret\n")
        .unwrap();
    let _swapping = fixture.swap();
    let mut set = 0;
    for _ in 0..500 {
        let skills = SkillSet::load(&[SkillDir { path: fixture.at(""), origin: FileOrigin::User }]);
        assert!(skills.get("stolen").is_none());
        let Some(skill) = skills.get("inside") else { continue };
        set += 1;
        if let Ok(body) = skill.body() {
            assert_eq!(body, "body\n");
        }
    }
    assert!(set > 0);
}
