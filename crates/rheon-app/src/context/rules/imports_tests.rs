//! What is an import and what only looks like one.

use expect_test::expect;
use proptest::prelude::*;

use super::imports::Lines;

fn imports(text: &str) -> String {
    let mut lines = Lines::default();
    let found: Vec<&str> = text.lines().flat_map(|line| lines.imports(line)).collect();
    found.join("\n")
}

#[test]
fn paths_behind_an_at_sign_are_imports_and_code_is_not() {
    let text = "\
@docs/style.md
- See @README, (@notes/a.md) and \"@b.md\". Write to me@example.com or x@@y.
`@not/this.md` but @this.md; ``a ` @nor/this.md`` and @that.md
An odd ` sign, then @still.md
```
@not/in/a/fence.md
~~~
@still/not.md
````
@after.md
   ~~~~ rust
@not.md
~~~
```
~~~~
@end.md
    ``` is code by its indent, no fence
@last.md
``` a span on one line ``` @behind.md
```unclosed
@never.md";
    expect![[r#"
        docs/style.md
        README
        notes/a.md
        b.md
        this.md
        that.md
        still.md
        after.md
        end.md
        last.md
        behind.md"#]]
    .assert_eq(&imports(text));
}

#[test]
fn nothing_in_any_text_is_a_panic() {
    for text in ["", "@", "`", "``", "```", "@`", "`@", "@.", "@ü`", "~", "@(((", "\u{feff}@a", "````` @a `"]
    {
        imports(text);
    }
    assert_eq!(imports(&"`".repeat(100_001)), "");
}

proptest! {
    #[test]
    fn what_is_found_stands_behind_an_at_sign_of_the_same_text(text in "[@`~a./ \n]{0,80}") {
        let mut lines = Lines::default();
        for line in text.lines() {
            for path in lines.imports(line) {
                let mention = format!("@{path}");
                prop_assert!(line.contains(&mention), "{path:?} in {line:?}");
            }
        }
    }
}
