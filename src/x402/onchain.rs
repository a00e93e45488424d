//! What the chain says of an authorization (EIP-3009): the calls that ask for it, the logs that it leaves, and what a
//! transaction's logs prove. It does not know where the logs come from, nor whether their blocks stay.

use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network, Nonce, TransactionHash};
use crate::domain::keccak::keccak256;
use crate::x402::abi::{address_word, number_word, word_address, word_number};

/// The authorization that is asked about, and the payment that it should have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedPayment {
    pub network: Network,
    pub token: Address,
    pub from: Address,
    pub nonce: Nonce,
    pub pay_to: Address,
    pub amount: Amount,
}

/// One log of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub address: Address,
    pub topics: Vec<[u8; 32]>,
    pub data: Vec<u8>,
    /// Its place in the block.
    pub index: u64,
    pub transaction: TransactionHash,
    pub block: u64,
    pub block_hash: [u8; 32],
}

/// What a token's log says of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Used,
    Canceled,
}

/// What the transaction that used an authorization proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proven {
    /// The transfer that follows the mark is the payment.
    Paid,
    /// The authorization is spent on another transfer: to somebody else, or of another amount.
    Elsewhere,
    /// Neither: not what this kind of token is known to write.
    Unclear,
}

/// `AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)`.
pub fn used_topic() -> [u8; 32] {
    keccak256(&[b"AuthorizationUsed(address,bytes32)"])
}

/// `AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)`.
pub fn canceled_topic() -> [u8; 32] {
    keccak256(&[b"AuthorizationCanceled(address,bytes32)"])
}

/// `Transfer(address indexed from, address indexed to, uint256 value)`.
pub fn transfer_topic() -> [u8; 32] {
    keccak256(&[b"Transfer(address,address,uint256)"])
}

/// How a contract names a function: the first four bytes of its signature's hash.
pub fn selector(signature: &str) -> [u8; 4] {
    let [a, b, c, d, ..] = keccak256(&[signature.as_bytes()]);
    [a, b, c, d]
}

/// The call `authorizationState(authorizer, nonce)`: a word that is 1 once the authorization is used or cancelled.
pub fn authorization_state_call(from: Address, nonce: Nonce) -> Vec<u8> {
    [
        &selector("authorizationState(address,bytes32)")[..],
        &address_word(from),
        &nonce.0,
    ]
    .concat()
}

/// The oracle of the fee for the layer below that the OP stack (Base among others) has at this address.
pub const L1_FEE_ORACLE: Address = Address([
    0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0f,
]);

/// The call `getL1FeeUpperBound(uint256)` for an unsigned transaction of so many bytes; its answer is in wei.
pub fn l1_fee_call(transaction_bytes: u32) -> Vec<u8> {
    [
        &selector("getL1FeeUpperBound(uint256)")[..],
        &number_word(transaction_bytes.into()),
    ]
    .concat()
}

/// The call `balanceOf(address)`.
pub fn balance_call(holder: Address) -> Vec<u8> {
    [&selector("balanceOf(address)")[..], &address_word(holder)].concat()
}

impl ExpectedPayment {
    /// What this log says of the authorization; `None` when it is about something else.
    pub fn mark(&self, log: &Log) -> Option<Mark> {
        let [topic, from, nonce] = log.topics[..] else {
            return None;
        };
        let ours =
            log.address == self.token && from == address_word(self.from) && nonce == self.nonce.0;
        match topic {
            _ if !ours => None,
            topic if topic == used_topic() => Some(Mark::Used),
            topic if topic == canceled_topic() => Some(Mark::Canceled),
            _ => None,
        }
    }

    /// Whether the transaction whose logs these are has made the payment. A token of EIP-3009 writes AuthorizationUsed
    /// and then, as its next log, the Transfer of the same call. Each mark is judged by that Transfer alone: a single
    /// transfer never counts for two marks, and no other transfer of the transaction keeps a mark undecided. Anyone who
    /// has the authorization can use it in a transaction that also sends us something; that must not leave the payment
    /// without an end.
    pub fn proven(&self, logs: &[Log]) -> Proven {
        let mut logs: Vec<&Log> = logs
            .iter()
            .filter(|log| log.address == self.token)
            .collect();
        logs.sort_by_key(|log| log.index);
        let Some(position) = logs
            .iter()
            .position(|log| self.mark(log) == Some(Mark::Used))
        else {
            return Proven::Unclear;
        };
        match logs.get(position + 1) {
            Some(next) if self.is_payment(next) => Proven::Paid,
            Some(next)
                if next.index == logs[position].index + 1
                    && self.is_from_payer(next)
                    && !self.is_paid_before(&logs, position) =>
            {
                Proven::Elsewhere
            }
            _ => Proven::Unclear,
        }
    }

    /// The transfer of exactly the amount, from the payer to us.
    fn is_payment(&self, log: &Log) -> bool {
        self.is_from_payer(log)
            && log.topics.get(2) == Some(&address_word(self.pay_to))
            && log.data == number_word(self.amount.units().into())
    }

    fn is_from_payer(&self, log: &Log) -> bool {
        log.address == self.token
            && log.topics.len() == 3
            && log
                .topics
                .starts_with(&[transfer_topic(), address_word(self.from)])
    }

    /// Whether the log before the mark is the payment and belongs to no mark of its own. Only a token that writes the
    /// Transfer first would do that: then the log after the mark proves nothing.
    fn is_paid_before(&self, logs: &[&Log], mark: usize) -> bool {
        let used = used_topic();
        let before = mark.checked_sub(1).map(|at| logs[at]);
        let owner = mark.checked_sub(2).map(|at| logs[at]);
        before.is_some_and(|log| self.is_payment(log))
            && owner.is_none_or(|log| log.topics.first() != Some(&used))
    }
}

/// A transfer of the token to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The place of its log in the block.
    pub index: u64,
    pub from: Address,
    pub amount: Amount,
}

/// The transfers to `pay_to` among a transaction's logs, in their order. `None` when an authorization was used in it,
/// of whichever token: such a transfer settles somebody's signed payment, and pays for that alone.
pub fn received(logs: &[Log], token: Address, pay_to: Address) -> Option<Vec<Received>> {
    let used = used_topic();
    if logs.iter().any(|log| log.topics.first() == Some(&used)) {
        return None;
    }
    let mut found: Vec<Received> = logs
        .iter()
        .filter(|log| log.address == token)
        .filter_map(|log| transferred(log, pay_to))
        .collect();
    found.sort_by_key(|transfer| transfer.index);
    Some(found)
}

/// What a log of the token says that `pay_to` has received; `None` when it says something else.
pub fn paid_in(log: &Log, token: Address, pay_to: Address) -> Option<Amount> {
    let transfer = transferred(log, pay_to).filter(|_| log.address == token);
    transfer.map(|transfer| transfer.amount)
}

fn transferred(log: &Log, pay_to: Address) -> Option<Received> {
    let [topic, from, to] = log.topics[..] else {
        return None;
    };
    if topic != transfer_topic() || to != address_word(pay_to) || from == to {
        return None;
    }
    let from = word_address(from)?;
    let units = u64::try_from(word_number(&log.data)?).ok()?;
    Some(Received {
        index: log.index,
        from,
        amount: Amount::from_units(units),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: Address = Address([0x83; 20]);
    const PAYER: Address = Address([0x70; 20]);
    const US: Address = Address([0x40; 20]);
    const NONCE: Nonce = Nonce([7; 32]);

    fn asked() -> ExpectedPayment {
        ExpectedPayment {
            network: Network(8453),
            token: TOKEN,
            from: PAYER,
            nonce: NONCE,
            pay_to: US,
            amount: Amount::from_units(30_000),
        }
    }

    fn log(index: u64, topics: [[u8; 32]; 3], data: &[u8]) -> Log {
        Log {
            address: TOKEN,
            topics: topics.to_vec(),
            data: data.to_vec(),
            index,
            transaction: TransactionHash([1; 32]),
            block: 1,
            block_hash: [2; 32],
        }
    }

    fn used(index: u64, nonce: Nonce) -> Log {
        log(index, [used_topic(), address_word(PAYER), nonce.0], &[])
    }

    fn transfer(index: u64, from: Address, to: Address, units: u128) -> Log {
        log(
            index,
            [transfer_topic(), address_word(from), address_word(to)],
            &number_word(units),
        )
    }

    fn of_another_token(mut log: Log) -> Log {
        log.address = Address([9; 20]);
        log
    }

    fn check(logs: &[Log], expected: Proven) {
        assert_eq!(asked().proven(logs), expected, "{logs:?}");
    }

    #[test]
    fn signatures_hash_to_what_the_token_s_explorers_show() {
        let shown = [used_topic(), canceled_topic(), transfer_topic()].map(hex::encode);
        assert_eq!(
            shown,
            [
                "98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5",
                "1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81",
                "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
            ]
        );
        let call = authorization_state_call(PAYER, NONCE);
        assert_eq!(
            (hex::encode(&call[..4]).as_str(), call.len()),
            ("e94a0102", 68)
        );
        assert_eq!(hex::encode(&l1_fee_call(450)[..4]), "f1c7a58b");
    }

    #[test]
    fn a_payment_is_the_transfer_that_follows_its_own_mark() {
        let other = Nonce([8; 32]);
        check(
            &[used(1, NONCE), transfer(2, PAYER, US, 30_000)],
            Proven::Paid,
        );
        // A facilitator's batch, told in any order.
        check(
            &[
                transfer(4, PAYER, US, 30_000),
                used(1, other),
                transfer(2, PAYER, US, 12_000),
                used(3, NONCE),
            ],
            Proven::Paid,
        );
        // One transfer is not the payment of two marks.
        check(
            &[
                used(1, NONCE),
                used(2, other),
                transfer(3, PAYER, US, 30_000),
            ],
            Proven::Unclear,
        );
        check(
            &[used(1, NONCE), transfer(2, PAYER, US, 29_999)],
            Proven::Elsewhere,
        );
        check(
            &[transfer(1, PAYER, US, 30_000), used(2, NONCE)],
            Proven::Unclear,
        );
        // The payer has signed the same nonce for somebody else.
        check(
            &[used(1, NONCE), transfer(2, PAYER, PAYER, 30_000)],
            Proven::Elsewhere,
        );
        check(
            &[used(1, NONCE), transfer(2, US, PAYER, 30_000)],
            Proven::Unclear,
        );
        check(
            &[
                used(1, NONCE),
                of_another_token(transfer(2, PAYER, US, 30_000)),
            ],
            Proven::Unclear,
        );
        check(&[used(1, NONCE)], Proven::Unclear);
        check(&[transfer(1, PAYER, US, 30_000)], Proven::Unclear);
        check(
            &[
                of_another_token(used(1, NONCE)),
                transfer(2, PAYER, US, 30_000),
            ],
            Proven::Unclear,
        );
        check(&[], Proven::Unclear);
    }

    /// The attack: the payer uses the nonce for himself and sends us one unit, or the amount of another payment, in the
    /// same transaction. The mark's own transfer decides; otherwise the settlement would stay unknown for ever.
    #[test]
    fn no_other_transfer_keeps_a_mark_undecided() {
        let (other, elsewhere) = (Nonce([8; 32]), Proven::Elsewhere);
        let to_self = |index| transfer(index, PAYER, PAYER, 30_000);
        let unit = |index| transfer(index, PAYER, US, 1);
        check(&[used(1, NONCE), to_self(2), unit(3)], elsewhere);
        check(&[unit(1), used(2, NONCE), to_self(3)], elsewhere);
        let amount = transfer(3, PAYER, US, 30_000);
        check(&[used(1, NONCE), to_self(2), amount.clone()], elsewhere);
        // Another payment of the same payer, settled in the same transaction.
        let batch = [
            used(2, other),
            amount.clone(),
            used(4, NONCE),
            to_self(5),
            unit(6),
        ];
        check(&batch, elsewhere);
        // A token that wrote the transfer first would look like this; nothing is decided by it.
        check(&[amount, used(4, NONCE), to_self(5)], Proven::Unclear);
        // Something else stands between the mark and the transfer.
        check(&[used(1, NONCE), to_self(3)], Proven::Unclear);
    }

    #[test]
    fn a_mark_is_of_one_token_payer_and_nonce() {
        let canceled = log(1, [canceled_topic(), address_word(PAYER), NONCE.0], &[]);
        assert_eq!(asked().mark(&canceled), Some(Mark::Canceled));
        assert_eq!(asked().mark(&used(1, NONCE)), Some(Mark::Used));
        assert_eq!(asked().mark(&used(1, Nonce([8; 32]))), None);
        assert_eq!(asked().mark(&of_another_token(canceled.clone())), None);
        let mut short = canceled;
        short.topics.pop();
        assert_eq!(asked().mark(&short), None);
    }

    fn received_units(logs: &[Log]) -> Option<Vec<(u64, u64)>> {
        let found = received(logs, TOKEN, US)?;
        let pairs = found
            .iter()
            .map(|transfer| (transfer.index, transfer.amount.units()));
        Some(pairs.collect())
    }

    #[test]
    fn transfers_to_us_are_found_in_their_order() {
        let logs = [
            transfer(9, PAYER, US, 20_000),
            transfer(2, PAYER, US, 30_000),
            transfer(3, PAYER, PAYER, 30_000),
            transfer(4, US, US, 30_000),
            of_another_token(transfer(5, PAYER, US, 30_000)),
            transfer(6, PAYER, US, u128::from(u64::MAX) + 1),
        ];
        let expected = Some(vec![(2, 30_000), (9, 20_000)]);
        assert_eq!(received_units(&logs), expected);
        assert_eq!(
            received(&logs, TOKEN, US).map(|found| found[0].from),
            Some(PAYER)
        );
        assert_eq!(received_units(&[]), Some(vec![]));
    }

    #[test]
    fn logs_of_other_forms_are_no_transfers() {
        let good = transfer(1, PAYER, US, 30_000);
        let changed = |change: &dyn Fn(&mut Log)| {
            let mut log = good.clone();
            change(&mut log);
            received_units(&[log])
        };
        assert_eq!(changed(&|_| {}), Some(vec![(1, 30_000)]));
        assert_eq!(changed(&|log| log.data.truncate(31)), Some(vec![]));
        assert_eq!(changed(&|log| log.data.push(0)), Some(vec![]));
        assert_eq!(changed(&|log| log.topics[0] = used_topic()), None);
        assert_eq!(
            changed(&|log| log.topics[0] = canceled_topic()),
            Some(vec![])
        );
        assert_eq!(
            changed(&|log| log.topics[1][0] = 1),
            Some(vec![]),
            "no address"
        );
        assert_eq!(changed(&|log| log.topics.truncate(2)), Some(vec![]));
        assert_eq!(changed(&|log| log.topics.push([0; 32])), Some(vec![]));
    }

    /// A settlement of somebody's signed payment is nobody's transfer, of whichever token the authorization was.
    #[test]
    fn a_transaction_that_uses_an_authorization_holds_no_transfers() {
        let settled = [used(1, NONCE), transfer(2, PAYER, US, 30_000)];
        assert_eq!(received_units(&settled), None);
        let another = [
            transfer(2, PAYER, US, 30_000),
            of_another_token(used(3, NONCE)),
        ];
        assert_eq!(received_units(&another), None);
    }

    #[test]
    fn a_word_is_32_bytes_and_fits() {
        assert_eq!(word_number(&number_word(u128::MAX)), Some(u128::MAX));
        assert_eq!(word_number(&[0; 31]), None);
        assert_eq!(word_number(&[0; 64]), None);
        let mut large = [0; 32];
        large[15] = 1;
        assert_eq!(word_number(&large), None);
    }
}
