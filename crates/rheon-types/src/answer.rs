//! `Answer`: a value now or a future of it, so that a seam that answers at once costs no allocation.

use std::future::Future;
use std::pin::Pin;

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a seam answers: ready, or worth waiting for.
pub enum Answer<'a, T> {
    /// The answer is known already.
    Now(T),
    /// The answer has to be waited for.
    Later(BoxFuture<'a, T>),
}

impl<'a, T> Answer<'a, T> {
    /// An answer that the future `future` will give.
    pub fn later(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self::Later(Box::pin(future))
    }

    /// Waits for the answer, if there is anything to wait for.
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
