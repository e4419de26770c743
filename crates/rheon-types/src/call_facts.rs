//! `CallFacts`: what a gate found out about a call, on its way to the tool.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What a gate found out about a call while it judged it, handed to the tool that runs the call, so that nothing is found out
/// twice and the tool can tell whether what was judged still holds.
///
/// It is one value of a type that gate and tool agree on; the loop hands it on without looking. It belongs to the arguments that
/// were judged: with other arguments the gate is asked again. It is not kept in the log: a tool that finds nothing here finds
/// out itself.
#[derive(Clone, Default)]
pub struct CallFacts(Option<Arc<dyn Any + Send + Sync>>);

impl CallFacts {
    /// These facts.
    pub fn new(facts: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(facts)))
    }

    /// The facts, if there are any of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }
}

/// Whether both are the same value, or nothing.
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
