//! Token transfers to an address between two times, from the chain's logs, and its balance.

use crate::domain::evm::{Address, TransactionHash};
use crate::domain::time::UnixSeconds;
use crate::outside::chain::error::ChainError;
use crate::outside::chain::node::{Block, Node};
use crate::outside::chain::{around, deep, in_parts};
use crate::x402::abi::word_number;
use crate::x402::onchain::{balance_call, paid_in};

/// A look at a day takes more calls than one at a payment.
const CALLS_MAX: u32 = 2_000;
/// Blocks of the first step back: half an hour and more on Base.
const FIRST_STEP: u64 = 1024;
/// Transfers of one look. More is no day of ours.
const TRANSFERS_MAX: usize = 200_000;

/// Whose income of what, from when until before when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub token: Address,
    pub pay_to: Address,
    pub from: UnixSeconds,
    pub to: UnixSeconds,
}

/// What has arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Income {
    /// Each transfer's transaction and units.
    pub transfers: Vec<(TransactionHash, u64)>,
    /// What the receiving address held in the newest block that counts.
    pub balance: u128,
}

/// `None` while the chain has not got past the span in blocks that count.
pub(super) fn income(
    node: &mut Node<'_>,
    span: &Span,
    confirmations: u64,
    now: UnixSeconds,
) -> Result<Option<Income>, ChainError> {
    node.allow(CALLS_MAX);
    let deep = deep(node, confirmations, now)?;
    if deep.time < span.to {
        return Ok(None);
    }
    let first = first_since(node, span.from, deep)?;
    let end = first_since(node, span.to, deep)?;
    let transfers = transfers(node, span, first, end)?;
    let held = node.call_contract(
        span.token,
        &balance_call(span.pay_to),
        &format!("{:#x}", deep.number),
    )?;
    let balance = word_number(&held).ok_or(ChainError::Garbled("a balance"))?;
    Ok(Some(Income { transfers, balance }))
}

/// The first block of this time or later, up to `deep`, which is.
fn first_since(node: &mut Node<'_>, time: UnixSeconds, deep: Block) -> Result<u64, ChainError> {
    around(node, time, deep, (FIRST_STEP, 1)).map(|(_, since)| since)
}

/// The transfers of the blocks from `first` until before `end`.
fn transfers(
    node: &mut Node<'_>,
    span: &Span,
    first: u64,
    end: u64,
) -> Result<Vec<(TransactionHash, u64)>, ChainError> {
    let Some(last) = end.checked_sub(1) else {
        return Ok(Vec::new());
    };
    let found = in_parts((first, last), TRANSFERS_MAX, |from, to| {
        let logs = node.transfers_to(span.token, span.pay_to, from, to)?;
        let paid = logs.iter().filter_map(|log| {
            let amount = paid_in(log, span.token, span.pay_to)?;
            Some((log.transaction, amount.units()))
        });
        Ok(paid.collect())
    })?;
    match found.len() > TRANSFERS_MAX {
        true => Err(ChainError::TooLong),
        false => Ok(found),
    }
}
