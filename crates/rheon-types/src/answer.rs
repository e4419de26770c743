//! `Answer`: a value or a future, so that answering immediately needs no allocation.

use std::future::Future;
use std::pin::Pin;

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A value that is ready now or has to be awaited.
pub enum Answer<'a, T> {
    /// The value is ready.
    Now(T),
    /// The value has to be awaited.
    Later(BoxFuture<'a, T>),
}

impl<'a, T> Answer<'a, T> {
    /// An answer produced by `future`.
    pub fn later(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self::Later(Box::pin(future))
    }

    /// Waits for the answer if it is not ready.
    pub async fn get(self) -> T {
        match self {
            Self::Now(value) => value,
            Self::Later(future) => future.await,
        }
    }
}

impl<T> From<T> for Answer<'_, T> {
    fn from(value: T) -> Self {
        Self::Now(value)
    }
}
