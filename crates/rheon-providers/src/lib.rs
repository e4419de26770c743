//! Model providers: a request becomes a stream of chunks.

pub mod scripted;
