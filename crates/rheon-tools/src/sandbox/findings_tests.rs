//! Tests of the file with findings.
