//! What every wire and every vendor must satisfy. The suite iterates over `WireKind::ALL` and the vendor files, so new
//! ones are covered automatically.

mod bytes;
mod cuts;
mod failures;
mod fixture;
mod hand_off;
mod limits;
mod mutations;
mod recorded;
mod recording;
mod retries;
mod streams;
mod unusual_responses;
mod vendors;
