//! `PendingReservation`: what is set aside of the budget for the call under way, and what the run had spent before it.

use rheon_types::Reservation;

use crate::state::Bill;

/// What is set aside for the call under way, and what the run had spent before it.
pub(crate) struct PendingReservation {
    pub(crate) reservation: Reservation,
    pub(crate) tokens_before: u64,
    pub(crate) bill_before: Bill,
}
