//! `Typed`: what came of typing.

/// What came of typing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line; it has line breaks in it where they were pasted or asked for.
    Line(String),
    /// What is being typed is another, and is not drawn here.
    Draft,
    /// Escape was pressed.
    Escape,
    /// What was pasted is too long to be kept.
    TooLong,
    /// There will be no more.
    End,
}
