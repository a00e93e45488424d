//! Requests to a node and parsing of its responses, which are treated as untrusted.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};

use crate::domain::evm::{Address, Network, Nonce, TransactionHash};
use crate::domain::time::UnixSeconds;
use crate::outside::chain::client::Client;
use crate::outside::chain::error::ChainError;
use crate::x402::abi::{address_word, word_address, word_number};
use crate::x402::onchain::{
    ExpectedPayment, L1_FEE_ORACLE, Log, authorization_state_call, canceled_topic, l1_fee_call,
    paid_in, transfer_topic, used_topic,
};

/// For one inquiry.
const CALLS_MAX: u32 = 100;
const LOGS_MAX: usize = 10_000;
/// Size of the transaction that settles, unsigned: what the fee for the layer below is asked for.
const SETTLEMENT_BYTES: u32 = 500;

/// A conversation of bounded length.
pub(super) struct Node<'client> {
    client: &'client Client,
    deadline: Instant,
    calls_left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) number: u64,
    pub(super) time: UnixSeconds,
}

/// What a block says of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    pub(super) block: u64,
    pub(super) block_hash: [u8; 32],
    pub(super) succeeded: bool,
    pub(super) logs: Vec<Log>,
}

impl<'client> Node<'client> {
    pub(super) fn new(client: &'client Client, deadline: Instant) -> Self {
        Node {
            client,
            deadline,
            calls_left: CALLS_MAX,
        }
    }

    /// Lets this conversation be longer than most.
    pub(super) fn allow(&mut self, calls: u32) {
        self.calls_left = calls;
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, ChainError> {
        self.calls_left = self
            .calls_left
            .checked_sub(1)
            .ok_or(ChainError::TooManyCalls)?;
        self.client.call(method, params, self.deadline)
    }

    pub(super) fn network(&mut self) -> Result<Network, ChainError> {
        let id = self.ask("eth_chainId", &json!([]))?;
        Ok(Network(small(&id, "a chain id")?))
    }

    pub(super) fn head(&mut self) -> Result<Block, ChainError> {
        block(&self.block_value("latest")?)
    }

    pub(super) fn block(&mut self, number: u64) -> Result<Block, ChainError> {
        Ok(self.numbered(number)?.0)
    }

    /// A block with the hash that now stands for it.
    pub(super) fn block_with_hash(&mut self, number: u64) -> Result<(Block, [u8; 32]), ChainError> {
        let (block, value) = self.numbered(number)?;
        let hash = fixed(&value["hash"]).ok_or(ChainError::Garbled("a block's hash"))?;
        Ok((block, hash))
    }

    fn numbered(&mut self, number: u64) -> Result<(Block, Value), ChainError> {
        let value = self.block_value(&quantity(number))?;
        match block(&value)? {
            block if block.number == number => Ok((block, value)),
            _ => Err(ChainError::Contradiction("it is another block")),
        }
    }

    fn block_value(&mut self, name: &str) -> Result<Value, ChainError> {
        self.ask("eth_getBlockByNumber", &json!([name, false]))
    }

    /// Whether the token knows the authorization as used or cancelled, as of a block.
    pub(super) fn is_used(
        &mut self,
        asked: &ExpectedPayment,
        block: u64,
    ) -> Result<bool, ChainError> {
        let call = authorization_state_call(asked.from, asked.nonce);
        let answer = self.call_contract(asked.token, &call, &quantity(block))?;
        match word_number(&answer) {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(ChainError::Garbled(
                "authorizationState gives no truth value; the token may not be one of EIP-3009",
            )),
        }
    }

    /// The logs of these blocks that mark the authorization as used or cancelled.
    pub(super) fn marks(
        &mut self,
        asked: &ExpectedPayment,
        from: u64,
        to: u64,
    ) -> Result<Vec<Log>, ChainError> {
        let topics = json!([
            [hex_text(&used_topic()), hex_text(&canceled_topic())],
            hex_text(&address_word(asked.from)),
            hex_text(&asked.nonce.0),
        ]);
        self.logs_of(asked.token, &topics, (from, to), |log| {
            asked.mark(log).is_some()
        })
    }

    /// The logs of these blocks that mark authorizations of these payers and nonces as used or cancelled.
    pub(super) fn marks_of(
        &mut self,
        token: Address,
        (payers, nonces): (&BTreeSet<Address>, &BTreeSet<Nonce>),
        from: u64,
        to: u64,
    ) -> Result<Vec<Log>, ChainError> {
        let marks = [used_topic(), canceled_topic()];
        let wanted: Vec<String> = nonces.iter().map(|nonce| hex_text(&nonce.0)).collect();
        let topics = json!([marks.map(|topic| hex_text(&topic)), words(payers), wanted]);
        self.logs_of(token, &topics, (from, to), |log| {
            log.address == token
                && matches!(log.topics[..], [topic, payer, nonce] if marks.contains(&topic)
                    && nonces.contains(&Nonce(nonce))
                    && word_address(payer).is_some_and(|payer| payers.contains(&payer)))
        })
    }

    /// The logs of these blocks that transfer the token from one of `payers` to `to_whom`.
    pub(super) fn transfers_of(
        &mut self,
        token: Address,
        (payers, to_whom): (&BTreeSet<Address>, Address),
        from: u64,
        to: u64,
    ) -> Result<Vec<Log>, ChainError> {
        let to_word = hex_text(&address_word(to_whom));
        let topics = json!([hex_text(&transfer_topic()), words(payers), to_word]);
        self.logs_of(token, &topics, (from, to), |log| {
            let payer = log.topics.get(1).copied().and_then(word_address);
            paid_in(log, token, to_whom).is_some()
                && payer.is_some_and(|payer| payers.contains(&payer))
        })
    }

    /// The logs of these blocks that transfer the token to `to_whom`.
    pub(super) fn transfers_to(
        &mut self,
        token: Address,
        to_whom: Address,
        from: u64,
        to: u64,
    ) -> Result<Vec<Log>, ChainError> {
        let to_word = hex_text(&address_word(to_whom));
        let topics = json!([hex_text(&transfer_topic()), null, to_word]);
        self.logs_of(token, &topics, (from, to), |log| {
            paid_in(log, token, to_whom).is_some()
        })
    }

    fn logs_of(
        &mut self,
        token: Address,
        topics: &Value,
        (from, to): (u64, u64),
        fits: impl Fn(&Log) -> bool,
    ) -> Result<Vec<Log>, ChainError> {
        let filter = json!([{
            "fromBlock": quantity(from),
            "toBlock": quantity(to),
            "address": hex_text(&token.0),
            "topics": topics,
        }]);
        let mut logs = logs(&self.ask("eth_getLogs", &filter)?)?;
        // Not every node applies the whole filter.
        logs.retain(fits);
        if logs.iter().any(|log| !(from..=to).contains(&log.block)) {
            return Err(ChainError::Contradiction("a log of other blocks"));
        }
        Ok(logs)
    }

    /// All logs of the transaction that has written `mark`.
    pub(super) fn receipt(&mut self, mark: &Log) -> Result<Vec<Log>, ChainError> {
        let receipt = self.receipt_of(mark.transaction)?;
        let receipt = receipt
            .filter(|receipt| receipt.block_hash == mark.block_hash && receipt.block == mark.block)
            .ok_or(ChainError::Contradiction(
                "a log and its receipt are of different blocks",
            ))?;
        if !receipt.succeeded {
            return Err(ChainError::Contradiction("a failed transaction with logs"));
        }
        Ok(receipt.logs)
    }

    /// The receipt of a transaction. `None` when no block holds it.
    pub(super) fn receipt_of(
        &mut self,
        hash: TransactionHash,
    ) -> Result<Option<Receipt>, ChainError> {
        let receipt = self.ask("eth_getTransactionReceipt", &json!([hash.to_string()]))?;
        if receipt.is_null() {
            return Ok(None);
        }
        if fixed(&receipt["transactionHash"]) != Some(hash.0) {
            return Err(ChainError::Contradiction("it is another transaction"));
        }
        let logs = logs(&receipt["logs"])?;
        if logs.iter().any(|log| log.transaction != hash) {
            return Err(ChainError::Contradiction("a log of another transaction"));
        }
        Ok(Some(Receipt {
            block: small(&receipt["blockNumber"], "a block's number")?,
            block_hash: fixed(&receipt["blockHash"])
                .ok_or(ChainError::Garbled("a block's hash"))?,
            succeeded: small(&receipt["status"], "a receipt's status")? == 1,
            logs,
        }))
    }

    pub(super) fn gas_price(&mut self) -> Result<u128, ChainError> {
        let price = self.ask("eth_gasPrice", &json!([]))?;
        number(&price, "a gas price")
    }

    /// What the layer below charges for a settlement, in wei; nothing where the network has no such oracle.
    pub(super) fn l1_fee(&mut self) -> Result<u128, ChainError> {
        match self.call_contract(L1_FEE_ORACLE, &l1_fee_call(SETTLEMENT_BYTES), "latest") {
            Ok(answer) if answer.is_empty() => Ok(0),
            Ok(answer) => {
                word_number(&answer).ok_or(ChainError::Garbled("the fee of the layer below"))
            }
            // Something else stands at that address.
            Err(ChainError::Refused { code, message })
                if code == 3 || message.contains("revert") =>
            {
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn call_contract(
        &mut self,
        contract: Address,
        call: &[u8],
        block: &str,
    ) -> Result<Vec<u8>, ChainError> {
        let params = json!([{"to": hex_text(&contract.0), "data": hex_text(call)}, block]);
        let answer = self.ask("eth_call", &params)?;
        bytes(&answer).ok_or(ChainError::Garbled("a call's answer"))
    }
}

fn words(addresses: &BTreeSet<Address>) -> Vec<String> {
    let words = addresses.iter().map(|address| address_word(*address));
    words.map(|word| hex_text(&word)).collect()
}

fn block(value: &Value) -> Result<Block, ChainError> {
    Ok(Block {
        number: small(&value["number"], "a block's number")?,
        time: UnixSeconds(small(&value["timestamp"], "a block's time")?),
    })
}

fn logs(value: &Value) -> Result<Vec<Log>, ChainError> {
    let garbled = || ChainError::Garbled("a list of logs");
    let list = value.as_array().ok_or_else(garbled)?;
    if list.len() > LOGS_MAX {
        return Err(ChainError::TooLong);
    }
    list.iter()
        // A reorganisation has undone it.
        .filter(|log| log["removed"] != true)
        .map(|value| log(value).ok_or_else(garbled))
        .collect()
}

fn log(value: &Value) -> Option<Log> {
    let topics = value["topics"].as_array()?;
    Some(Log {
        address: Address(fixed(&value["address"])?),
        topics: topics.iter().map(fixed).collect::<Option<_>>()?,
        data: bytes(&value["data"])?,
        index: small(&value["logIndex"], "").ok()?,
        transaction: TransactionHash(fixed(&value["transactionHash"])?),
        block: small(&value["blockNumber"], "").ok()?,
        block_hash: fixed(&value["blockHash"])?,
    })
}

fn quantity(number: u64) -> String {
    format!("{number:#x}")
}

fn hex_text(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    hex::decode(value.as_str()?.strip_prefix("0x")?).ok()
}

fn fixed<const N: usize>(value: &Value) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(value.as_str()?.strip_prefix("0x")?, &mut bytes).ok()?;
    Some(bytes)
}

fn number(value: &Value, what: &'static str) -> Result<u128, ChainError> {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    digits
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .and_then(|digits| u128::from_str_radix(digits, 16).ok())
        .ok_or(ChainError::Garbled(what))
}

fn small(value: &Value, what: &'static str) -> Result<u64, ChainError> {
    number(value, what)?
        .try_into()
        .map_err(|_| ChainError::Garbled(what))
}
