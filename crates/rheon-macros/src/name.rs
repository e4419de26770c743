//! Names of tools: from a Rust name, and whether services take them.

/// How many characters a name may have; services refuse longer ones.
const CHARACTERS_MAX: usize = 64;

/// `WebSearch` as `web_search`.
pub(crate) fn snake_case(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (index, character) in characters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| characters.get(before));
        let after = characters.get(index + 1);
        // A word begins at a capital after a small letter, and at the last of several capitals before a small one.
        let begins = character.is_uppercase()
            && before.is_some_and(|before| {
                let ends_capitals = before.is_uppercase() && after.is_some_and(|after| after.is_lowercase());
                before.is_lowercase() || before.is_numeric() || ends_capitals
            });
        if begins {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}

/// What is wrong with a name, if services would refuse it.
pub(crate) fn fault(name: &str) -> Option<String> {
    let is_taken = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    let is_fine = (1..=CHARACTERS_MAX).contains(&name.chars().count()) && name.chars().all(is_taken);
    (!is_fine).then(|| {
        format!("{name:?} is no name for a tool: use 1 to {CHARACTERS_MAX} letters, digits, `_` and `-`")
    })
}
