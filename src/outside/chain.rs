//! The JSON-RPC client for the chain: outcomes of authorizations, and gas prices. It reports "decided" only with the
//! configured confirmations, and reads everything at the same block, so that a lagging node can never make a payment look
//! unused.

mod client;
mod error;
mod feed;
mod income;
mod node;
mod settlements;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network, TransactionHash};
use crate::domain::limit_reached::LimitReached;
use crate::domain::margin::GasPrice;
use crate::domain::time::UnixSeconds;
use crate::outside::call::ConcurrencyLimit;
use crate::x402::onchain::{ExpectedPayment, Log, Mark, Proven};

use client::Client;
pub use error::{ChainError, SettingsError};
pub use income::{Income, Span};
use node::{Block, Node};
pub use settlements::{ABSENT_AFTER_SECONDS, Absence, CLAIMS_MAX, ChainFinding, Claimed};

/// Inquiries at once; further ones wait a moment and then come again later.
pub const INQUIRIES_MAX: usize = 8;
/// Transactions that are looked up at once.
pub const TRANSACTIONS_MAX: usize = 4;
/// Looks at reported settlements at once: those that buyers wait for, and all others.
pub const SETTLEMENT_LOOKS_MAX: usize = 2;
/// A look at many settlements has so many times the time of a look at one payment.
const SETTLEMENTS_TIME_FACTOR: u32 = 3;
/// A look at a whole day has so many times the time of a look at one payment.
const INCOME_TIME_FACTOR: u32 = 12;
const PLACE_WAIT_MAX: Duration = Duration::from_secs(2);
/// Blocks of logs that are asked for at once. Halved whenever the node refuses.
const LOG_BLOCKS: u64 = 2_000;
/// Looks at logs begin so long before the payment was made: clocks differ.
const SINCE_SLACK_SECONDS: u64 = 120;
/// Blocks between which a time is looked for no more exactly.
const SINCE_BLOCKS: u64 = 32;
/// An unused authorization must be out of its window for so long.
const EXPIRY_MARGIN_SECONDS: u64 = 30;
/// How far a node's newest block may be ahead of our clock.
const FUTURE_SECONDS_MAX: u64 = 120;

/// Where the node is and when its word counts.
#[derive(Clone, Debug)]
pub struct ChainSettings {
    /// It may hold a key: shown nowhere.
    pub rpc_url: String,
    /// What the node must be of.
    pub network: Network,
    /// For one inquiry, all its calls together.
    pub time_max: Duration,
    /// Blocks that a fact must stand in, its own included.
    pub confirmations: u64,
}

/// The client. Cheap to clone; clones share connections and places.
#[derive(Clone, Debug)]
pub struct Chain {
    client: Arc<Client>,
    network: Network,
    time_max: Duration,
    confirmations: u64,
    inquiries: ConcurrencyLimit,
    /// Anybody may name a transaction: who does never keeps a settlement from being looked into.
    transactions: ConcurrencyLimit,
    /// The price of gas has a place of its own: sales depend on it.
    prices: ConcurrencyLimit,
    /// Reported settlements are looked up together, one look after the other.
    settlements: ConcurrencyLimit,
    anchors: Arc<settlements::Anchors>,
}

/// In unit tests: tells in the node's place what became of an authorization.
#[cfg(test)]
pub(crate) type Fake = Arc<dyn Fn(&Inquiry, UnixSeconds) -> Result<Fate, ChainError> + Send + Sync>;

/// An authorization whose end is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inquiry {
    pub asked: ExpectedPayment,
    /// When we first saw it.
    pub since: UnixSeconds,
    pub valid_before: UnixSeconds,
}

/// What became of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The money is ours, by this transaction.
    Paid { transaction: TransactionHash },
    /// Its signer has cancelled it.
    Canceled,
    /// Its signer has used it for a payment to somebody else.
    Elsewhere,
    /// It was not used in its window, which is over.
    NeverUsed,
    /// Nothing of this yet, or not in blocks that are deep enough.
    Open,
}

/// What stands on chain under a transaction's hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// No block that counts holds it.
    Missing,
    /// It was undone; nothing moved.
    Failed,
    /// It stands, in so many blocks, which are too few.
    Shallow { confirmations: u64 },
    /// It stands deep enough since this time, with these logs.
    Deep { since: UnixSeconds, logs: Vec<Log> },
}

impl Chain {
    pub fn new(settings: ChainSettings) -> Result<Chain, SettingsError> {
        Ok(Chain {
            client: Arc::new(Client::open(&settings.rpc_url)?),
            network: settings.network,
            time_max: settings.time_max,
            confirmations: settings.confirmations.max(1),
            inquiries: ConcurrencyLimit::new(INQUIRIES_MAX, PLACE_WAIT_MAX),
            transactions: ConcurrencyLimit::new(TRANSACTIONS_MAX, PLACE_WAIT_MAX),
            prices: ConcurrencyLimit::new(1, PLACE_WAIT_MAX),
            settlements: ConcurrencyLimit::new(SETTLEMENT_LOOKS_MAX, PLACE_WAIT_MAX),
            anchors: Arc::default(),
        })
    }

    pub fn network(&self) -> Network {
        self.network
    }

    /// The same, but no node is asked.
    #[cfg(test)]
    pub(crate) fn replaced(settings: ChainSettings, fake: Fake) -> Chain {
        let mut chain = Chain::new(settings).expect("good settings");
        let client = Arc::get_mut(&mut chain.client).expect("not shared yet");
        client.fake = Some(fake);
        chain
    }

    /// What became of an authorization. Only what stands deep enough is told as decided.
    pub async fn fate(&self, inquiry: Inquiry, now: UnixSeconds) -> Result<Fate, ChainError> {
        #[cfg(test)]
        if let Some(fake) = &self.client.fake {
            return fake(&inquiry, now);
        }
        let confirmations = self.confirmations;
        self.on(&self.inquiries, move |node| {
            fate(node, &inquiry, confirmations, now)
        })
        .await
    }

    /// Whether an authorization is used or cancelled as of the newest block, however few blocks confirm it.
    pub async fn is_used(&self, inquiry: Inquiry, now: UnixSeconds) -> Result<bool, ChainError> {
        #[cfg(test)]
        if let Some(fake) = &self.client.fake {
            let fate = fake(&inquiry, now)?;
            return Ok(!matches!(fate, Fate::Open | Fate::NeverUsed));
        }
        self.on(&self.inquiries, move |node| {
            let newest = newest(node, now)?;
            node.is_used(&inquiry.asked, newest.number)
        })
        .await
    }

    /// What stands under a transaction's hash.
    pub async fn written(
        &self,
        hash: TransactionHash,
        now: UnixSeconds,
    ) -> Result<Written, ChainError> {
        let confirmations = self.confirmations;
        self.on(&self.transactions, move |node| {
            written(node, hash, confirmations, now)
        })
        .await
    }

    /// What the receiving address was paid in a span of time that is over. It takes many calls, so it has time for them,
    /// and shares the place of those who look at transactions.
    pub async fn income(&self, span: Span, now: UnixSeconds) -> Result<Option<Income>, ChainError> {
        let confirmations = self.confirmations;
        let time_max = self.time_max * INCOME_TIME_FACTOR;
        self.within(&self.transactions, time_max, move |node| {
            income::income(node, &span, confirmations, now)
        })
        .await
    }

    /// What the chain says of settlements that were reported, each in its place; of the first [`CLAIMS_MAX`].
    pub async fn settlements(
        &self,
        mut claims: Vec<Claimed>,
        now: UnixSeconds,
    ) -> Result<Vec<ChainFinding>, ChainError> {
        claims.truncate(CLAIMS_MAX);
        let (confirmations, anchors) = (self.confirmations, self.anchors.clone());
        let time_max = self.time_max * SETTLEMENTS_TIME_FACTOR;
        self.within(&self.settlements, time_max, move |node| {
            settlements::verdicts(node, &claims, &anchors, confirmations, now)
        })
        .await
    }

    /// What gas costs now.
    pub async fn gas_price(&self) -> Result<GasPrice, ChainError> {
        self.on(&self.prices, |node| {
            Ok(GasPrice {
                wei_per_gas: node.gas_price()?,
                l1_fee_wei: node.l1_fee()?,
            })
        })
        .await
    }

    /// What the network's coin costs in USDC by a feed of Chainlink's form, whose answer may be so old.
    pub async fn coin_price(
        &self,
        feed: Address,
        age_seconds_max: u64,
        now: UnixSeconds,
    ) -> Result<Amount, ChainError> {
        self.on(&self.prices, move |node| {
            feed::coin_price(node, feed, age_seconds_max, now)
        })
        .await
    }

    /// One job with the node, once it has named our network: a stranger is never listened to.
    async fn on<T: Send + 'static>(
        &self,
        limit: &ConcurrencyLimit,
        job: impl FnOnce(&mut Node<'_>) -> Result<T, ChainError> + Send + 'static,
    ) -> Result<T, ChainError> {
        self.within(limit, self.time_max, job).await
    }

    async fn within<T: Send + 'static>(
        &self,
        limit: &ConcurrencyLimit,
        time_max: Duration,
        job: impl FnOnce(&mut Node<'_>) -> Result<T, ChainError> + Send + 'static,
    ) -> Result<T, ChainError> {
        let (client, network) = (self.client.clone(), self.network);
        limit
            .run(move || {
                let mut node = Node::new(&client, Instant::now() + time_max);
                let found = node.network()?;
                if found != network {
                    return Err(ChainError::WrongNetwork {
                        expected: network,
                        found,
                    });
                }
                job(&mut node)
            })
            .await
            .unwrap_or_else(|LimitReached| Err(ChainError::Saturated))
    }
}

/// The newest block. A node whose blocks are of the future is believed in nothing.
fn newest(node: &mut Node<'_>, now: UnixSeconds) -> Result<Block, ChainError> {
    let head = node.head()?;
    match head.time > now.plus(FUTURE_SECONDS_MAX) {
        true => Err(ChainError::Contradiction(
            "its newest block is of the future",
        )),
        false => Ok(head),
    }
}

/// The newest block that counts, because so many confirm it.
fn deep(node: &mut Node<'_>, confirmations: u64, now: UnixSeconds) -> Result<Block, ChainError> {
    let head = newest(node, now)?;
    match confirmations - 1 {
        0 => Ok(head),
        above => node.block(head.number.saturating_sub(above)),
    }
}

fn fate(
    node: &mut Node<'_>,
    inquiry: &Inquiry,
    confirmations: u64,
    now: UnixSeconds,
) -> Result<Fate, ChainError> {
    let deep = deep(node, confirmations, now)?;
    if node.is_used(&inquiry.asked, deep.number)? {
        return end(node, inquiry, deep);
    }
    let over = inquiry.valid_before.plus(EXPIRY_MARGIN_SECONDS);
    Ok(if deep.time >= over && now >= over {
        Fate::NeverUsed
    } else {
        Fate::Open
    })
}

fn written(
    node: &mut Node<'_>,
    hash: TransactionHash,
    confirmations: u64,
    now: UnixSeconds,
) -> Result<Written, ChainError> {
    let Some(receipt) = node.receipt_of(hash)? else {
        return Ok(Written::Missing);
    };
    let head = newest(node, now)?;
    if head.number < receipt.block {
        return Ok(Written::Shallow { confirmations: 0 });
    }
    let (block, block_hash) = node.block_with_hash(receipt.block)?;
    // A reorganisation has put another block in its place.
    if block_hash != receipt.block_hash {
        return Ok(Written::Missing);
    }
    if !receipt.succeeded {
        return Ok(Written::Failed);
    }
    let found = head.number - receipt.block + 1;
    Ok(if found < confirmations {
        Written::Shallow {
            confirmations: found,
        }
    } else {
        Written::Deep {
            since: block.time,
            logs: receipt.logs,
        }
    })
}

/// The end of an authorization that the token knows as used or cancelled.
fn end(node: &mut Node<'_>, inquiry: &Inquiry, deep: Block) -> Result<Fate, ChainError> {
    let since = UnixSeconds(inquiry.since.0.saturating_sub(SINCE_SLACK_SECONDS));
    let from = block_before(node, since, deep)?;
    let logs = in_parts((from, deep.number), 0, |from, to| {
        node.marks(&inquiry.asked, from, to)
    })?;
    let log = logs.first().ok_or(ChainError::NoLog)?;
    if logs
        .iter()
        .any(|other| other.transaction != log.transaction)
    {
        return Err(ChainError::Contradiction("an authorization ended twice"));
    }
    if inquiry.asked.mark(log) == Some(Mark::Canceled) {
        return Ok(Fate::Canceled);
    }
    match inquiry.asked.proven(&node.receipt(log)?) {
        Proven::Paid => Ok(Fate::Paid {
            transaction: log.transaction,
        }),
        Proven::Elsewhere => Ok(Fate::Elsewhere),
        Proven::Unclear => Err(ChainError::Unclear(log.transaction)),
    }
}

/// What these blocks hold, in as few questions as the node allows, until there is more than `enough`.
fn in_parts<T>(
    (mut from, to): (u64, u64),
    enough: usize,
    mut ask: impl FnMut(u64, u64) -> Result<Vec<T>, ChainError>,
) -> Result<Vec<T>, ChainError> {
    let (mut found, mut blocks) = (Vec::new(), LOG_BLOCKS);
    while from <= to && found.len() <= enough {
        let until = to.min(from.saturating_add(blocks - 1));
        match ask(from, until) {
            Err(refusal) if refusal.is_about_size() && blocks > 1 => {
                blocks = blocks.min(until - from + 1).div_ceil(2);
            }
            Err(error) => return Err(error),
            Ok(part) => {
                found.extend(part);
                from = until + 1;
            }
        }
    }
    Ok(found)
}

/// A block from before `time`, and not long before.
fn block_before(node: &mut Node<'_>, time: UnixSeconds, deep: Block) -> Result<u64, ChainError> {
    around(node, time, deep, (2 * SINCE_BLOCKS, SINCE_BLOCKS)).map(|(before, _)| before)
}

/// Two blocks around `time`, the earlier from before it, at most `apart` from one another; the first block twice where
/// even that is not from before. `deep` is not from before, either. In steps that grow, then by halves.
fn around(
    node: &mut Node<'_>,
    time: UnixSeconds,
    deep: Block,
    (mut step, apart): (u64, u64),
) -> Result<(u64, u64), ChainError> {
    let (mut low, mut high) = (deep.number, deep.number);
    let mut earlier = deep.time;
    while earlier >= time && low > 0 {
        high = low;
        low = low.saturating_sub(step);
        step *= 4;
        earlier = node.block(low)?.time;
    }
    if earlier >= time {
        return Ok((low, low));
    }
    while high - low > apart {
        let middle = low + (high - low) / 2;
        if node.block(middle)?.time < time {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok((low, high))
}

#[cfg(test)]
mod tests;
