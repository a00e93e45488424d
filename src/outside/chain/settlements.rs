//! Batch lookup of settlements: one request for the events of all authorizations, one per receiving address for the
//! transfers. Only unresolved ones are looked up one by one, up to a limit.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use crate::domain::evm::{Address, Nonce, TransactionHash};
use crate::domain::time::UnixSeconds;
use crate::outside::chain::error::ChainError;
use crate::outside::chain::node::{Block, Node};
use crate::outside::chain::{
    Fate, Inquiry, SINCE_SLACK_SECONDS, around, block_before, end, in_parts, newest,
};
use crate::sync::lock;
use crate::x402::abi::word_address;
use crate::x402::onchain::{ExpectedPayment, Log, Mark, Proven};

/// Settlements of one look.
pub const CLAIMS_MAX: usize = 500;
/// Payers and nonces in one question for logs: nodes bound the length of a filter.
const FILTER_MAX: usize = 100;
/// Calls of one look.
const CALLS_MAX: u32 = 200;
/// Settlements of one look that are asked for one by one, with up to a few calls each.
const SINGLY_MAX: usize = 10;
/// A facilitator reports success once the transaction stands in a block. When the newest block is so much younger than
/// the report and does not know the authorization as used, the report is contradicted.
pub const ABSENT_AFTER_SECONDS: u64 = 20;
/// Blocks so much younger than the last report of a look are not searched.
const UNTIL_SECONDS: u64 = 900;
/// Newest blocks of former looks that are remembered, to find the block of a moment without asking.
const ANCHORS_MAX: usize = 2048;
/// Blocks between which the end of a search is looked for no more exactly.
const UNTIL_BLOCKS: u64 = 32;

/// A settlement that somebody has reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub inquiry: Inquiry,
    pub transaction: TransactionHash,
    /// When it was reported.
    pub reported_at: UnixSeconds,
}

/// What the chain says of a reported settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainFinding {
    /// The money is ours, by this transaction, in blocks that are deep enough.
    Paid {
        transaction: TransactionHash,
    },
    /// It stands on chain, in too few blocks.
    Shallow,
    /// The newest block does not know the authorization as used.
    Absent(Absence),
    Canceled,
    /// The authorization was used for another transfer.
    Elsewhere,
    /// The report is too young, or the node's answers leave it open.
    Open,
}

/// What stands under the transaction that was named for a settlement that is not on chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// No block holds it.
    NoTransaction,
    /// It was reverted.
    TransactionFailed,
    /// It stands, and does not use this authorization.
    OtherTransaction,
}

/// Newest blocks of former looks, by which the block of a moment is found.
#[derive(Debug, Default)]
pub(super) struct Anchors(Mutex<Vec<Block>>);

impl Anchors {
    /// The youngest known block from before `time`.
    fn before(&self, time: UnixSeconds) -> Option<u64> {
        let anchors = lock(&self.0);
        let place = anchors.partition_point(|block| block.time < time);
        place.checked_sub(1).map(|place| anchors[place].number)
    }

    fn note(&self, block: Block) {
        let mut anchors = lock(&self.0);
        match anchors.last() {
            Some(last) if last.number == block.number => return,
            // The node is of another chain, or has gone back.
            Some(last) if last.number > block.number || last.time > block.time => anchors.clear(),
            _ => {}
        }
        if anchors.len() >= ANCHORS_MAX {
            anchors.drain(..ANCHORS_MAX / 2);
        }
        anchors.push(block);
    }
}

/// The verdict on each claim, in their order.
pub(super) fn verdicts(
    node: &mut Node<'_>,
    claims: &[Claimed],
    anchors: &Anchors,
    confirmations: u64,
    now: UnixSeconds,
) -> Result<Vec<ChainFinding>, ChainError> {
    node.allow(CALLS_MAX);
    let head = newest(node, now)?;
    let deep = Block {
        number: head.number.saturating_sub(confirmations - 1),
        ..head
    };
    let (from, to) = range(node, claims, anchors, head)?;
    anchors.note(head);
    let logs = Logs::read(node, claims, (from, to))?;
    let mut singly_left = SINGLY_MAX;
    claims
        .iter()
        .map(|claim| match logs.verdict(claim, deep.number) {
            Quick::Known(verdict) => Ok(verdict),
            Quick::Absent if head.time < claim.reported_at.plus(ABSENT_AFTER_SECONDS) => {
                Ok(ChainFinding::Open)
            }
            Quick::Absent | Quick::Unclear if singly_left == 0 => Ok(ChainFinding::Open),
            quick => {
                singly_left -= 1;
                singly(node, claim, quick, head, deep)
            }
        })
        .collect()
}

/// The blocks in which all of these may stand.
fn range(
    node: &mut Node<'_>,
    claims: &[Claimed],
    anchors: &Anchors,
    head: Block,
) -> Result<(u64, u64), ChainError> {
    let since = claims.iter().map(|claim| claim.inquiry.since.0).min();
    let since = UnixSeconds(
        since
            .unwrap_or(head.time.0)
            .saturating_sub(SINCE_SLACK_SECONDS),
    );
    let from = match anchors.before(since) {
        Some(number) => number,
        None => block_before(node, since, head)?,
    };
    let last = claims.iter().map(|claim| claim.reported_at.0).max();
    let until = UnixSeconds(last.unwrap_or(head.time.0)).plus(UNTIL_SECONDS);
    let to = match head.time > until {
        true => around(node, until, head, (2 * UNTIL_BLOCKS, UNTIL_BLOCKS))?.1,
        false => head.number,
    };
    Ok((from, to))
}

/// What the two questions for logs tell.
struct Logs {
    /// By authorizer and nonce.
    marks: HashMap<(Address, Nonce), Log>,
    /// By transaction and place in its block.
    transfers: HashMap<(TransactionHash, u64), Log>,
}

enum Quick {
    Known(ChainFinding),
    Absent,
    Unclear,
}

impl Logs {
    fn read(
        node: &mut Node<'_>,
        claims: &[Claimed],
        range: (u64, u64),
    ) -> Result<Logs, ChainError> {
        let mut logs = Logs {
            marks: HashMap::new(),
            transfers: HashMap::new(),
        };
        let asked = |claim: &Claimed| claim.inquiry.asked;
        let terms: BTreeSet<(Address, Address)> = claims
            .iter()
            .map(|claim| (asked(claim).token, asked(claim).pay_to))
            .collect();
        for (token, pay_to) in terms {
            let of_terms: Vec<ExpectedPayment> = claims
                .iter()
                .map(asked)
                .filter(|asked| (asked.token, asked.pay_to) == (token, pay_to))
                .collect();
            for some in of_terms.chunks(FILTER_MAX) {
                // Of our payers alone: others can write as many logs as they like.
                let payers: BTreeSet<Address> = some.iter().map(|asked| asked.from).collect();
                let nonces: BTreeSet<Nonce> = some.iter().map(|asked| asked.nonce).collect();
                let marks = in_parts(range, usize::MAX, |from, to| {
                    node.marks_of(token, (&payers, &nonces), from, to)
                })?;
                if marks.is_empty() {
                    continue;
                }
                for log in marks {
                    if let [_, from, nonce] = log.topics[..]
                        && let Some(from) = word_address(from)
                    {
                        logs.marks.insert((from, Nonce(nonce)), log);
                    }
                }
                let transfers = in_parts(range, usize::MAX, |from, to| {
                    node.transfers_of(token, (&payers, pay_to), from, to)
                })?;
                let transfers = transfers.into_iter();
                logs.transfers
                    .extend(transfers.map(|log| ((log.transaction, log.index), log)));
            }
        }
        Ok(logs)
    }

    /// What the logs alone tell of a claim.
    fn verdict(&self, claim: &Claimed, deep: u64) -> Quick {
        let asked = &claim.inquiry.asked;
        let Some(mark) = self.marks.get(&(asked.from, asked.nonce)) else {
            return Quick::Absent;
        };
        if mark.block > deep {
            return Quick::Known(ChainFinding::Shallow);
        }
        if asked.mark(mark) == Some(Mark::Canceled) {
            return Quick::Known(ChainFinding::Canceled);
        }
        let next = self.transfers.get(&(mark.transaction, mark.index + 1));
        let pair = next.map(|next| [mark.clone(), next.clone()]);
        let is_paid = pair.is_some_and(|pair| {
            pair[1].block_hash == mark.block_hash && asked.proven(&pair) == Proven::Paid
        });
        match is_paid {
            true => Quick::Known(ChainFinding::Paid {
                transaction: mark.transaction,
            }),
            // Not followed by the payment: its whole receipt tells what it was used for.
            false => Quick::Unclear,
        }
    }
}

/// One claim by itself, asked for as any unknown settlement is.
fn singly(
    node: &mut Node<'_>,
    claim: &Claimed,
    quick: Quick,
    head: Block,
    deep: Block,
) -> Result<ChainFinding, ChainError> {
    // A node's index of logs may be behind its state.
    if matches!(quick, Quick::Absent) && !node.is_used(&claim.inquiry.asked, head.number)? {
        return absence(node, claim).map(ChainFinding::Absent);
    }
    Ok(match end(node, &claim.inquiry, deep) {
        Ok(Fate::Paid { transaction }) => ChainFinding::Paid { transaction },
        Ok(Fate::Canceled) => ChainFinding::Canceled,
        Ok(Fate::Elsewhere) => ChainFinding::Elsewhere,
        Ok(Fate::NeverUsed | Fate::Open) | Err(ChainError::NoLog | ChainError::Unclear(_)) => {
            ChainFinding::Open
        }
        Err(error) => return Err(error),
    })
}

fn absence(node: &mut Node<'_>, claim: &Claimed) -> Result<Absence, ChainError> {
    Ok(match node.receipt_of(claim.transaction)? {
        None => Absence::NoTransaction,
        Some(receipt) if !receipt.succeeded => Absence::TransactionFailed,
        Some(_) => Absence::OtherTransaction,
    })
}
