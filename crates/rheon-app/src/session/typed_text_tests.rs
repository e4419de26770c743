//! What typed texts ask for.

use super::{Mention, Mentions, TypedText, mentions};

#[test]
fn commands_are_told_from_prompts() {
    use TypedText::{Prompt, Shell, Slash};
    for (typed, wanted) in [
        ("fix it", Prompt("fix it")),
        (" !ls -la ", Shell("ls -la")),
        ("!", Prompt("!")),
        ("/review src", Slash("/review src")),
        ("/git:commit", Slash("/git:commit")),
        ("/usr/bin/env is missing", Prompt("/usr/bin/env is missing")),
        ("/", Prompt("/")),
        ("/ a", Prompt("/ a")),
        ("a /review", Prompt("a /review")),
        ("", Prompt("")),
    ] {
        assert_eq!(TypedText::of(typed), wanted, "{typed:?}");
    }
}

fn found(text: &str) -> Mentions {
    let files = ["a.rs", "src/b.rs", "my notes.md", "dir", "shot.png", "/tmp/my shot.PNG"];
    mentions(text, |path| files.contains(&path))
}

fn names(text: &str) -> Vec<String> {
    found(text).found.into_iter().map(|mention| mention.path).collect()
}

#[test]
fn files_are_found_where_they_are_mentioned() {
    assert_eq!(names("look at @a.rs and @src/b.rs, then @dir."), ["a.rs", "src/b.rs", "dir"]);
    assert_eq!(names("@\"my notes.md\" and @my\\ notes.md"), ["my notes.md"]);
    assert_eq!(names("(@a.rs) mail me@a.rs @a.rs?"), ["a.rs"]);
    assert_eq!(names("what is in shot.png and '/tmp/my shot.PNG'"), ["shot.png", "/tmp/my shot.PNG"]);
    assert_eq!(names("/tmp/my\\ shot.PNG"), ["/tmp/my shot.PNG"]);
    assert_eq!(names("\"unclosed @a.rs"), ["a.rs"]);
    assert_eq!(names(""), Vec::<String>::new());
}

#[test]
fn lines_of_a_file_can_be_named() {
    let part = |first, last| Mention { path: "a.rs".into(), lines: Some((first, last)) };
    assert_eq!(found("@a.rs#L3-9, @a.rs#L4").found, [part(3, 9), part(4, 4)]);
    assert_eq!(found("@a.rs#L9-3 @a.rs#L0").found, []);
}

#[test]
fn only_what_looks_like_a_file_is_missed() {
    assert_eq!(found("@src/mian.rs @Override @angular/core @you").missing, ["src/mian.rs"]);
}
