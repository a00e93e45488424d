//! Tests that need more than one layer from within: sales over a store whose disk fails, with neighbours that lie, in
//! thousands of histories. What can be tested from outside stands in `tests/it`.

pub(crate) mod dice;
mod disk;
mod power_loss;
mod simulation;
