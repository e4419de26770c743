//! Panic messages.

use std::any::Any;

/// The message of a panic, if it has one.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "no message".into(),
    }
}
