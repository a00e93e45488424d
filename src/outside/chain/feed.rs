//! The native coin's price from an on-chain Chainlink feed (AggregatorV3Interface, coin/USD), with its validity checks.

use crate::domain::amount::Amount;
use crate::domain::evm::Address;
use crate::domain::time::UnixSeconds;
use crate::outside::chain::FUTURE_SECONDS_MAX;
use crate::outside::chain::error::ChainError;
use crate::outside::chain::node::Node;
use crate::x402::abi::word_number;
use crate::x402::onchain::selector;

/// Decimals of a USDC amount.
const USDC_DECIMALS: u32 = 6;
/// Feeds have 8 or 18.
const DECIMALS_MAX: u128 = 18;
/// Round, answer, start, update, round of the answer: a word each.
const ROUND_BYTES: usize = 5 * 32;

const UNREADABLE: ChainError = ChainError::Garbled("a price; guard.coin_usdc may name no feed");

/// The price of one coin, rounded up. One that was not brought up to date for so long counts as none.
pub(super) fn coin_price(
    node: &mut Node<'_>,
    feed: Address,
    age_max: u64,
    now: UnixSeconds,
) -> Result<Amount, ChainError> {
    let decimals = node.call_contract(feed, &selector("decimals()"), "latest")?;
    let decimals = word_number(&decimals).filter(|decimals| *decimals <= DECIMALS_MAX);
    let round = node.call_contract(feed, &selector("latestRoundData()"), "latest")?;
    let (answer, updated_at) = read(&round).ok_or(UNREADABLE)?;
    if updated_at > now.plus(FUTURE_SECONDS_MAX) {
        return Err(ChainError::Contradiction("its price is of the future"));
    }
    let seconds = now.since(updated_at);
    if seconds > age_max {
        return Err(ChainError::Stale { seconds });
    }
    let price = decimals.and_then(|decimals| in_usdc(answer, u32::try_from(decimals).ok()?));
    price
        .filter(|price| *price > Amount::ZERO)
        .ok_or(UNREADABLE)
}

/// Answer and time of a round. A negative answer has no 128 bits to spare and is none.
fn read(round: &[u8]) -> Option<(u128, UnixSeconds)> {
    let round: &[u8; ROUND_BYTES] = round.try_into().ok()?;
    let word = |position: usize| word_number(&round[32 * position..32 * (position + 1)]);
    let updated_at = u64::try_from(word(3)?).ok()?;
    Some((word(1)?, UnixSeconds(updated_at)))
}

fn in_usdc(answer: u128, decimals: u32) -> Option<Amount> {
    let units = answer
        .checked_mul(10_u128.pow(USDC_DECIMALS))?
        .div_ceil(10_u128.checked_pow(decimals)?);
    u64::try_from(units).ok().map(Amount::from_units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(answer: [u8; 32], updated_at: u64) -> Vec<u8> {
        let mut bytes = vec![0; ROUND_BYTES];
        bytes[32..64].copy_from_slice(&answer);
        bytes[3 * 32 + 24..4 * 32].copy_from_slice(&updated_at.to_be_bytes());
        bytes
    }

    fn word(number: u128) -> [u8; 32] {
        let mut word = [0; 32];
        word[16..].copy_from_slice(&number.to_be_bytes());
        word
    }

    #[test]
    fn a_round_is_read_as_a_feed_writes_it() {
        let answer = read(&round(word(300_012_345_678), 1_795_000_000));
        assert_eq!(answer, Some((300_012_345_678, UnixSeconds(1_795_000_000))));
        let negative = [0xff; 32];
        assert_eq!(read(&round(negative, 1)), None);
        assert_eq!(read(&round(word(1), 1)[1..]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn prices_are_rounded_up_to_units() {
        for (answer, decimals, expected) in [
            (300_012_345_678, 8, Some(3_000_123_457)),
            (300_000_000_000, 8, Some(3_000_000_000)),
            (1, 18, Some(1)),
            (3_000_000_000_000_000_000_000, 18, Some(3_000_000_000)),
            (7, 0, Some(7_000_000)),
            (u128::MAX, 8, None),
            (u128::MAX / 1_000_000, 0, None),
        ] {
            let expected = expected.map(Amount::from_units);
            assert_eq!(in_usdc(answer, decimals), expected, "{answer} {decimals}");
        }
    }
}
