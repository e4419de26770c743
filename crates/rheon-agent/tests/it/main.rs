//! Tests of the loop through its public doors, with a scripted model.
#![cfg(test)]

mod adversarial;
mod adversarial_drop;
mod adversarial_input;
mod adversarial_races;
mod adversarial_reentry;
mod adversarial_seams;
mod adversarial_tools;
mod bad_input;
mod budget;
mod call_facts;
mod cancel;
mod changed_arguments;
mod compaction;
mod continuation;
mod cost;
mod counting;
mod decisions;
mod drop_anywhere;
mod finish;
mod hook_power;
mod hooks;
mod limits;
mod observe;
mod permission;
mod queues;
mod replays;
mod replays_budget;
mod replays_window;
mod retries;
mod sessions;
mod stores;
mod token_error;
mod tools;
mod turns;
