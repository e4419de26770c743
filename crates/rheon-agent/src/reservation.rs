//! `PendingReservation`: the budget reservation of the current call.

use rheon_types::Reservation;

use crate::state::Bill;

/// The reservation of the current call, and what the run had spent before it.
pub(crate) struct PendingReservation {
    pub(crate) reservation: Reservation,
    pub(crate) tokens_before: u64,
    pub(crate) bill_before: Bill,
}
