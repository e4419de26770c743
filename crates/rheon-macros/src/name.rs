//! Tool names: derived from Rust names, and checked against what model APIs accept.

/// The longest name that model APIs accept.
const CHARACTERS_MAX: usize = 64;

/// Converts `WebSearch` to `web_search`.
pub(crate) fn snake_case(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (index, character) in characters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| characters.get(before));
        let after = characters.get(index + 1);
        // A word starts at a capital after a lower-case letter, and at the last of several capitals before one.
        let starts_word = character.is_uppercase()
            && before.is_some_and(|before| {
                let ends_capitals = before.is_uppercase() && after.is_some_and(|after| after.is_lowercase());
                before.is_lowercase() || before.is_numeric() || ends_capitals
            });
        if starts_word {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}

/// Why model APIs would reject this name, if they would.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    let is_allowed = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    let is_valid = (1..=CHARACTERS_MAX).contains(&name.chars().count()) && name.chars().all(is_allowed);
    (!is_valid).then(|| {
        format!("invalid tool name {name:?}: use 1 to {CHARACTERS_MAX} letters, digits, `_` and `-`")
    })
}
