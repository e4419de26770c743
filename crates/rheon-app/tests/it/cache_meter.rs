//! How much of what was sent a service need not read again, found by comparing bytes.

use std::collections::HashSet;

use crate::prompt_bytes::Piece;

/// How far back from a mark services look for something that they have kept.
const LOOK_BACK_PIECES: usize = 20;
/// An odd number that spreads what it is multiplied with over all bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Compares each prompt with all that came before.
#[derive(Debug, Default)]
pub(crate) struct CacheMeter {
    /// Every beginning of every prompt so far.
    begun: HashSet<u64>,
    /// Those that the service was asked to keep.
    kept: HashSet<u64>,
    sent_bytes: usize,
    begun_bytes: usize,
    kept_bytes: usize,
}

impl CacheMeter {
    /// Takes in a prompt that was sent in a body of so many bytes.
    pub(crate) fn take<'a>(&mut self, pieces: impl Iterator<Item = &'a Piece>, body_bytes: usize) {
        let mut chain = 0_u64;
        let mut bytes = 0;
        let mut places = Vec::new();
        for piece in pieces {
            chain = (chain.rotate_left(5) ^ piece.hash).wrapping_mul(SPREAD);
            bytes += piece.bytes;
            places.push((chain, bytes, piece.is_marked));
        }
        assert!(bytes <= body_bytes, "{bytes} bytes in pieces of {body_bytes}");
        self.sent_bytes += body_bytes;
        // Whoever has a beginning has all that is shorter.
        let begun = places.partition_point(|(chain, ..)| self.begun.contains(chain));
        self.begun_bytes += begun.checked_sub(1).map_or(0, |last| places[last].1);
        self.kept_bytes += self.read(&places);
        self.begun.extend(places[begun..].iter().map(|(chain, ..)| *chain));
        self.kept.extend(places.iter().filter(|(.., marked)| *marked).map(|(chain, ..)| *chain));
    }

    /// What a service that keeps only what is marked need not read again.
    fn read(&self, places: &[(u64, usize, bool)]) -> usize {
        let marks = places.iter().enumerate().filter(|(_, (.., marked))| *marked).map(|(at, _)| at);
        let found = marks.rev().find_map(|mark| {
            let near = places[mark.saturating_sub(LOOK_BACK_PIECES)..=mark].iter();
            near.rev().find(|(chain, ..)| self.kept.contains(chain)).map(|(_, bytes, _)| *bytes)
        });
        found.unwrap_or(0)
    }

    /// How much of all that was sent had been sent before in the same place behind the same beginning, in percent.
    pub(crate) fn begun_percent(&self) -> f64 {
        percent(self.begun_bytes, self.sent_bytes)
    }

    /// The same for services that keep only what is marked; nothing where nothing was.
    pub(crate) fn kept_percent(&self) -> Option<f64> {
        (!self.kept.is_empty()).then(|| percent(self.kept_bytes, self.sent_bytes))
    }
}

#[allow(clippy::cast_precision_loss, reason = "these are megabytes")]
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
