//! Everything that is tested from outside.

mod tidy;
