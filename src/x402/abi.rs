//! The words of 32 bytes in which contracts write addresses and numbers (Solidity ABI).

use crate::domain::evm::Address;

/// An address as a word of 32 bytes.
pub fn address_word(address: Address) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}

/// A number as a word of 32 bytes.
pub fn number_word(number: u128) -> [u8; 32] {
    let mut word = [0; 32];
    word[16..].copy_from_slice(&number.to_be_bytes());
    word
}

/// The address that a word of 32 bytes holds; `None` when it holds more.
pub fn word_address(word: [u8; 32]) -> Option<Address> {
    let (zeros, address) = word.split_at(12);
    let address: [u8; 20] = address.try_into().ok()?;
    zeros
        .iter()
        .all(|byte| *byte == 0)
        .then_some(Address(address))
}

/// A call's answer that is one word, as a number; `None` when it is something else or greater than 128 bits hold.
pub fn word_number(answer: &[u8]) -> Option<u128> {
    let word: &[u8; 32] = answer.try_into().ok()?;
    let (high, low) = word.split_at(16);
    let low: [u8; 16] = low.try_into().ok()?;
    high.iter()
        .all(|byte| *byte == 0)
        .then(|| u128::from_be_bytes(low))
}
