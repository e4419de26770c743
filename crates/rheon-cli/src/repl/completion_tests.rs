//! Completing commands and files.

use super::{Completed, Completion};

fn added(text: &str) -> Option<Completed> {
    Some(Completed { added: text.into(), choices: Vec::new() })
}

#[test]
fn commands_and_files_are_completed() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["src/main.rs", "src/mail.rs", "notes.md", ".hidden", "two words"] {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let commands = ["review", "rewind", "resume"].map(str::to_owned).to_vec();
    let completion = Completion { commands, dir: dir.path().to_owned() };
    let complete = |before: &str| {
        completion.complete(before).map(|it| match it.added.is_empty() {
            true => it,
            false => Completed { choices: Vec::new(), ..it },
        })
    };
    assert_eq!(complete("/rev"), added("iew "));
    let choices = ["resume", "review", "rewind"].map(str::to_owned).to_vec();
    assert_eq!(complete("/re"), Some(Completed { added: String::new(), choices }));
    assert_eq!(complete("look at @n"), added("otes.md "));
    assert_eq!(complete("@s"), added("rc/"));
    assert_eq!(complete("@src/m"), added("ai"));
    assert_eq!(complete("@src/mail"), added(".rs "));
    assert_eq!(complete("@.h"), added("idden "));
    for none in ["", "n", "/nothing", "/review sr", "@nothing/x", "@two"] {
        assert_eq!(complete(none), None, "{none:?}");
    }
}
