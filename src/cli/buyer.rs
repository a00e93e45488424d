//! Commands for buyers and visitors: demo, purchase, and the converter and the checks without payment.

pub(crate) mod buy;
pub(crate) mod check;
pub(crate) mod complaint;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod evidence;
pub(crate) mod input;
pub(crate) mod jsonl;
pub(crate) mod part;
pub(crate) mod report;
pub(crate) mod warnings;
