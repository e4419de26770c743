//! `CallFacts`: what a gate learned about a call, passed on to the tool.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What a gate learned about a call while it checked it. The tool receives it, so that nothing is computed twice and
/// the tool can detect whether the facts still hold.
///
/// It is a single value of a type that the gate and the tool agree on. The run passes it on without inspecting it. It
/// belongs to the checked arguments: for other arguments the gate is called again. It is not stored in the log: a tool
/// without facts computes them itself.
#[derive(Clone, Default)]
pub struct CallFacts(Option<Arc<dyn Any + Send + Sync>>);

impl CallFacts {
    /// Wraps `facts`.
    pub fn new(facts: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(facts)))
    }

    /// The facts, if they have type `T`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }
}

/// Equal if both are the same value or both are empty.
impl PartialEq for CallFacts {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl fmt::Debug for CallFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "CallFacts(some)" } else { "CallFacts(none)" })
    }
}

#[cfg(test)]
#[path = "call_facts_tests.rs"]
mod tests;
