//! What counts as a mention.

use super::mention::TaskMentions;

#[test]
fn names_are_weighted_by_how_they_are_mentioned() {
    let mentions = TaskMentions::of("Make the session store use `RepoMap` and open() faster; see JSONParser");
    let weights =
        ["RepoMap", "SessionStore", "session_store", "open", "JSONParser", "Session", "Store2", "the"]
            .map(|name| mentions.weight(name));
    assert_eq!(weights, [10.0, 5.0, 5.0, 2.0, 10.0, 2.0, 0.0, 2.0]);
}

#[test]
fn files_match_by_whole_path_components() {
    let mentions = TaskMentions::of("fix src/store.rs, and (`lib.rs`). Not e.g. that");
    let weights = ["src/store.rs", "a/src/store.rs", "mysrc/store.rs", "b/lib.rs", "b/mylib.rs"]
        .map(|path| mentions.file_weight(path));
    assert_eq!(weights, [20.0, 20.0, 0.0, 20.0, 0.0]);
}

#[test]
fn an_empty_task_mentions_nothing() {
    let mentions = TaskMentions::of("");
    assert_eq!((mentions.weight("name"), mentions.file_weight("a.rs")), (0.0, 0.0));
}

#[test]
fn only_the_start_of_a_long_task_counts() {
    let task = format!("first_name {}é last_name", "word ".repeat(20_000));
    let mentions = TaskMentions::of(&task);
    assert_eq!((mentions.weight("first_name"), mentions.weight("last_name")), (10.0, 0.0));
}
