//! Before a call: the window is made to fit. Warns when it fills, compacts when it is nearly full.

use rheon_types::ProviderError;

use crate::halt::Halt;
use crate::live::Run;

/// Makes the window fit the model, if it does not.
pub(crate) async fn fit(_run: &mut Run) -> Result<(), Halt> {
    Ok(())
}

/// Whether the window became shorter after a service said that it is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refit {
    Shorter,
    NoShorter,
}

/// Makes the window shorter at once, if `error` says that it is too long.
pub(crate) async fn refit(_run: &mut Run, _error: &ProviderError) -> Result<Refit, Halt> {
    Ok(Refit::NoShorter)
}
