//! `IntoShared`: where a builder takes a part, or an `Arc` of one.

use std::sync::Arc;

use super::{
    Budget, Clock, Gate, Hook, InputFilter, Provider, Random, Reminder, Store, Tool, ToolSource, Worker,
};

/// A part, or an `Arc` of one, as an `Arc<dyn Part>`. Builders take `impl IntoShared<dyn Hook>`: a hook, an `Arc` of your own hook
/// that you keep a handle to, or an `Arc<dyn Hook>`.
pub trait IntoShared<T: ?Sized> {
    /// The part, shared.
    fn into_shared(self) -> Arc<T>;
}

macro_rules! into_shared {
    ($($seam:ident)*) => {$(
        impl<P: $seam + 'static> IntoShared<dyn $seam> for P {
            fn into_shared(self) -> Arc<dyn $seam> {
                Arc::new(self)
            }
        }

        impl<P: $seam + 'static> IntoShared<dyn $seam> for Arc<P> {
            fn into_shared(self) -> Arc<dyn $seam> {
                self
            }
        }

        impl IntoShared<dyn $seam> for Arc<dyn $seam> {
            fn into_shared(self) -> Arc<dyn $seam> {
                self
            }
        }
    )*};
}

into_shared!(Budget Clock Gate Hook InputFilter Provider Random Reminder Store Tool ToolSource Worker);
