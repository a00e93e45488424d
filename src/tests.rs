//! Tests that need more than one layer from within: sales over a store whose disk fails, with upstreams that lie, in
//! thousands of histories. What can be tested from outside stands in `tests/it`.

use std::io::Write as _;

pub(crate) mod dice;
mod disk;
mod power_loss;
mod simulation;

/// Says something that is seen even when the test succeeds: the seed of what was done must never be lost.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
