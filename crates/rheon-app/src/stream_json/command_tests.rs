//! Which prompts of a program are commands.

use rheon_types::Content;

use super::HostPrompt;

#[test]
fn only_a_name_after_a_slash_is_a_command() {
    let texts = [
        "hello",
        "/compact keep the plan",
        " /cost\n",
        "/team:deploy staging",
        "/permissions allow Bash(*)",
        "/undo",
        "/tmp/x is broken",
        "/* a comment */",
        "/",
        "",
    ];
    let content: Vec<[Content; 1]> = texts.iter().map(|text| [Content::text(*text)]).collect();
    let read: Vec<HostPrompt<'_>> = content.iter().map(|content| HostPrompt::of(content)).collect();
    assert_eq!(
        read,
        [
            HostPrompt::Text,
            HostPrompt::Command("/compact keep the plan"),
            HostPrompt::Command("/cost"),
            HostPrompt::Command("/team:deploy staging"),
            HostPrompt::ForPeople("permissions"),
            HostPrompt::ForPeople("undo"),
            HostPrompt::Text,
            HostPrompt::Text,
            HostPrompt::Text,
            HostPrompt::Text,
        ]
    );
    let two = [Content::text("/cost"), Content::text("and more")];
    assert_eq!(HostPrompt::of(&two), HostPrompt::Text);
}
