//! What a subscriber sees, whatever it missed.
