//! How a value becomes bytes: a version byte, bincode, and the first eight bytes of their SHA-256. redb verifies its
//! pages only when all of the file is checked, so a flipped bit would otherwise be read as data.
//! bincode is used here and nowhere else.
//!
//! # The next encoding
//! bincode has no maintainer any more (RUSTSEC-2025-0141). No defect is known and its version is pinned, so nothing is
//! rewritten for that alone; the next record that changes is written by postcard 1.1 (default features off, `use-std`):
//!
//! 1. Version bytes from 128 on mean postcard, those below bincode. `encode_as` and `decode_as` choose by that; version
//!    byte, checksum and limit stay around both, and `beginning` takes the version, too.
//! 2. A record that changes gets 128 as its next number. Its reader knows the older numbers as it does today. Records
//!    that do not change stay as they are, under bincode: no migration, no second pass over the data file.
//! 3. postcard has no limit of its own: the length of the bytes is compared with `RECORD_BYTES_MAX` before decoding, and
//!    what is left over behind a value is damage, as it is now (`take_from_bytes`).
//! 4. A constant beside `OLD` holds postcard's bytes of the same value, and the test of flipped bits reads both. An
//!    older program answers `Damaged` for the new number, as for every new number: a backup comes before the upgrade.
//! 5. bincode leaves the program when the last table whose records it wrote is empty or rewritten. Ledger and payments
//!    are stored without end, so that is a migration of its own (`migrate.rs`), not a side effect of this one.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::store::StoreError;

/// Version of a record's encoding. Fields are only ever added under a new number, whose reader knows the old ones.
const VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 8;

/// The largest record. A length in a record that claims more is damage, and nothing is allocated for it.
const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<RECORD_BYTES_MAX>()
}

/// A record that has never changed.
pub(in crate::store) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    encode_as(VERSION, value)
}

/// A record that has changed: under the number of its newest form.
pub(in crate::store) fn encode_as<T: Serialize>(
    version: u8,
    value: &T,
) -> Result<Vec<u8>, StoreError> {
    let mut bytes = vec![version];
    bincode::serde::encode_into_std_write(value, &mut bytes, config())
        .map_err(|error| StoreError::File(error.to_string()))?;
    Ok(seal(bytes))
}

pub(in crate::store) fn decode<T: DeserializeOwned>(
    bytes: &[u8],
    table: &'static str,
) -> Result<T, StoreError> {
    decode_as(VERSION, bytes, table)
}

pub(in crate::store) fn decode_as<T: DeserializeOwned>(
    version: u8,
    bytes: &[u8],
    table: &'static str,
) -> Result<T, StoreError> {
    let damaged = StoreError::Damaged { table };
    let Some((body, sum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
        return Err(damaged);
    };
    if checksum(body) != *sum || body.first() != Some(&version) {
        return Err(damaged);
    }
    match bincode::serde::decode_from_slice(&body[1..], config()) {
        Ok((value, read)) if read == body.len() - 1 => Ok(value),
        _ => Err(damaged),
    }
}

/// The value that some bytes begin with, without version and checksum, whatever follows it.
pub(in crate::store) fn beginning<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let read = bincode::serde::decode_from_slice(bytes, config()).ok()?;
    Some(read.0)
}

/// Puts a good checksum behind a version and a body, whatever they are: for trying what no disk would hold.
pub(in crate::store) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = checksum(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

/// The same without its checksum.
pub(in crate::store) fn unseal(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len().saturating_sub(CHECKSUM_BYTES));
    bytes
}

/// The number under which a record was written.
pub(in crate::store) fn version(bytes: &[u8]) -> Option<u8> {
    bytes.first().copied()
}

/// Whether a record still carries the checksum that it was written with.
pub(in crate::store) fn is_whole(bytes: &[u8]) -> bool {
    match bytes.split_last_chunk::<CHECKSUM_BYTES>() {
        Some((body, sum)) => !body.is_empty() && checksum(body) == *sum,
        None => false,
    }
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    let mut sum = [0; CHECKSUM_BYTES];
    sum.copy_from_slice(&digest[..CHECKSUM_BYTES]);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::margin::MarginReceipt;

    const MARGIN: MarginReceipt = MarginReceipt {
        revenue: 30_000,
        gas: 500,
        facilitator_fee: 1_000,
        supplier: 1_000,
        profit: 27_500,
        minimum_profit: 2_000,
        evaluated_at: 1_795_000_000,
    };
    /// A record as version 1 wrote it. It must stay readable for ever.
    const OLD: &str = "01fb3075fbf401fbe803fbe803fb6c6bfbd007fcc086fd6a";

    #[test]
    fn old_bytes_stay_readable() {
        let encoded = encode(&MARGIN).expect("encodes");
        assert_eq!(hex::encode(&encoded[..encoded.len() - CHECKSUM_BYTES]), OLD);
        assert_eq!(decode::<MarginReceipt>(&encoded, "t"), Ok(MARGIN));
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let encoded = encode(&MARGIN).expect("encodes");
        for bit in 0..encoded.len() * 8 {
            let mut flipped = encoded.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                decode::<MarginReceipt>(&flipped, "t"),
                Err(StoreError::Damaged { table: "t" }),
                "bit {bit}"
            );
        }
        for length in 0..encoded.len() {
            assert!(
                decode::<MarginReceipt>(&encoded[..length], "t").is_err(),
                "length {length}"
            );
        }
    }
}
