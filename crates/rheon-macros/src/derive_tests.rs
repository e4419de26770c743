//! The code and the errors that the derive generates.

use expect_test::expect;

use crate::derive::expand;
use crate::name::snake_case;

/// The generated constants, or the error.
fn summary(source: &str) -> String {
    let tokens = match expand(source.parse().unwrap()) {
        Ok(tokens) => tokens.to_string(),
        Err(error) => return format!("error: {error}"),
    };
    let parts = ["type State", "const NAME", "const DESCRIPTION", "const EFFECT"].iter().map(|part| {
        let rest = tokens.split_once(part).unwrap().1;
        rest.split_once('=').unwrap().1.split(" ;").next().unwrap().trim().to_owned()
    });
    parts.collect::<Vec<_>>().join(" | ")
}

#[test]
fn attributes_and_doc_comments_become_constants() {
    let mut all = String::new();
    for source in [
        "/// Says the weather.\n///\n///  - one day  \n struct WebSearch { city: String }",
        "#[doc(hidden)] #[doc = include_str!(\"x.md\")] struct r#Type {}",
        "/// Not this. \n#[tool(description = \"This.\", name = \"other-name\", effect = \"pure\")] pub struct A {}",
        "/// x\n#[tool(effect = \"idempotent\")] #[tool(state = Arc<Mutex<u32>>, crate = \"my::rheon\")] struct A {}",
        "#[tool(description = TEXT)] struct A {}",
    ] {
        all.push_str(&summary(source));
        all.push('\n');
    }
    expect![[r#"
        () | "web_search" | "Says the weather.\n\n - one day" | :: rheon :: __private :: Effect :: Unsafe
        () | "type" | include_str ! ("x.md") | :: rheon :: __private :: Effect :: Unsafe
        () | "other-name" | "This." | :: rheon :: __private :: Effect :: Pure
        Arc < Mutex < u32 > > | "a" | "x" | my :: rheon :: __private :: Effect :: Idempotent
        () | "a" | TEXT | :: rheon :: __private :: Effect :: Unsafe
    "#]]
    .assert_eq(&all);
}

#[test]
fn a_struct_with_arguments_is_the_tool_itself() {
    let source = "#[tool(label = self.label, description = self.text(), claim = Self::hold, arguments = Given)] \
                  pub struct Keep<T: Send>(T);";
    let tokens = expand(source.parse().unwrap()).unwrap().to_string();
    // Only the parts that depend on the attributes.
    let parts = ["impl", "fn label", "fn description", "read_arguments", "(Self :: hold)", "const NAME"].map(
        |part| {
            let rest = tokens.split_once(part).unwrap().1;
            format!("{part}{}\n", rest.split([';', '}']).next().unwrap().trim_end())
        },
    );
    expect![[r#"
        impl < T : Send > :: rheon :: __private :: Tool for Keep < T > { fn name (& self) -> & str { Self :: NAME
        fn label (& self) -> & str { self . label
        fn description (& self) -> & str { self . text ()
        read_arguments :: < Given > (Self :: NAME , & arguments) ?
        (Self :: hold) (self , arguments , context)
        const NAME : & 'static str = "keep"
    "#]].assert_eq(&parts.concat());
}

#[test]
fn invalid_tools_give_an_error() {
    let mut all = String::new();
    for source in [
        "struct A {}",
        "/// \n struct A {}",
        "#[tool(description = \" \")] struct A {}",
        "/// x\n#[doc = include_str!(\"x.md\")] struct A {}",
        "/// x\nenum A { B }",
        "/// x\nunion A { b: u8 }",
        "/// x\nstruct A;",
        "/// x\nstruct A(String);",
        "/// x\nstruct A<T> { t: T }",
        "/// x\n#[tool(effect = \"pur\")] struct A {}",
        "/// x\n#[tool(effect = pure)] struct A {}",
        "/// x\n#[tool(nam = \"a\")] struct A {}",
        "/// x\n#[tool(name = \"a b\")] struct A {}",
        "/// x\n#[tool(name = \"\")] struct A {}",
        "/// x\n#[tool(name = \"a\", name = \"b\")] struct A {}",
        "/// x\n#[tool(crate = \"1\")] struct A {}",
        "/// x\n#[tool] struct A {}",
        "/// x\n#[tool(arguments = Given, state = u8)] struct A {}",
        "/// x\n#[tool(arguments = Given)] enum A { B }",
        "/// x\nstruct Caf\u{e9} {}",
        "fn a() {}",
    ] {
        all.push_str(&summary(source));
        all.push('\n');
    }
    expect![[r#"
        error: a tool needs a description for the model: write a doc comment on the struct, or `#[tool(description = "...")]`
        error: a tool needs a description for the model: write a doc comment on the struct, or `#[tool(description = "...")]`
        error: a tool needs a description for the model: write a doc comment on the struct, or `#[tool(description = "...")]`
        error: a doc comment cannot mix text and an expression; use `#[tool(description = ...)]`
        error: only a struct can hold the arguments of a tool; use this as the type of a field
        error: only a struct can hold the arguments of a tool; use this as the type of a field
        error: the arguments of a tool need names: write `struct Name { field: Type }`, or `struct Name {}` for none
        error: the arguments of a tool need names: write `struct Name { field: Type }`, or `struct Name {}` for none
        error: a tool cannot have generic parameters
        error: unknown effect "pur"; use "pure", "idempotent" or "unsafe"
        error: expected string literal
        error: unknown key of `tool`; the keys are `read_only`, `name`, `label`, `description`, `effect`, `claim`, `precheck`, `arguments`, `state` and `crate`
        error: invalid tool name "a b": use 1 to 64 letters, digits, `_` and `-`
        error: invalid tool name "": use 1 to 64 letters, digits, `_` and `-`
        error: duplicate key; remove one of them
        error: expected identifier
        error: expected attribute arguments in parentheses: #[tool(...)]
        error: a struct with `arguments` is the tool itself: make the state a field and remove `state`
        error: only a struct can be a tool
        error: invalid tool name "café": use 1 to 64 letters, digits, `_` and `-`; set one with `#[tool(name = "...")]`
        error: expected one of: `struct`, `enum`, `union`
    "#]].assert_eq(&all);
}

#[test]
fn names_are_split_into_words() {
    for (name, snake) in [
        ("Weather", "weather"),
        ("WebSearch", "web_search"),
        ("HTTPGet", "http_get"),
        ("GetHTTP", "get_http"),
        ("Sha256Sum", "sha256_sum"),
        ("already_snake", "already_snake"),
        ("X", "x"),
        ("", ""),
    ] {
        assert_eq!(snake_case(name), snake);
    }
}
