//! What every wire and every vendor must do. They join by existing: the suite goes over `WireKind::ALL` and over the
//! vendors' files, so a new one needs no line here.

mod bytes;
mod cuts;
mod failures;
mod hand_off;
mod limits;
mod mutations;
mod odd_answers;
mod recording;
mod retries;
mod stage;
mod streams;
mod vendors;
