//! Lines of a program, good and bad.
