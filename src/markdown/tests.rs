//! Tests of the whole conversion.
