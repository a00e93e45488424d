//! The proof that a transfer's sender is the buyer: EIP-191's personal_sign, as every wallet offers it, over a text that
//! names the service, the transaction and the purchase. A hash alone can be read by anybody on chain.

use crate::domain::evm::{Address, Signature, TransactionHash};
use crate::domain::keccak::keccak256;
use crate::x402::eip3009::{Digest, SignatureError, recover};

/// What a sender signs.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// The service's own address, without a trailing slash: a signature for one service is none for another.
    pub service: &'a str,
    pub transaction: TransactionHash,
    /// The canonical target.
    pub target_url: &'a str,
    pub tier: &'a str,
    pub force_refresh: bool,
}

impl Statement<'_> {
    /// The text to sign. Lines end with a line feed, the last one with nothing.
    pub fn text(&self) -> String {
        let Statement {
            service,
            transaction,
            target_url,
            tier,
            force_refresh,
        } = self;
        format!(
            "Buy a page with a transfer\nservice: {service}\ntransaction: {transaction}\ntarget_url: {target_url}\n\
             tier: {tier}\nforce_refresh: {force_refresh}"
        )
    }

    /// The address whose key has signed it.
    ///
    /// # Errors
    ///
    /// When the signature is not 65 bytes of a key's; a contract wallet's (EIP-1271) is none.
    pub fn signer(&self, signature: &Signature) -> Result<Address, SignatureError> {
        recover(personal_digest(&self.text()), signature)
    }
}

/// What personal_sign signs of a text (EIP-191, version 0x45).
pub fn personal_digest(text: &str) -> Digest {
    Digest(keccak256(&[
        b"\x19Ethereum Signed Message:\n",
        text.len().to_string().as_bytes(),
        text.as_bytes(),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x402::eip3009::SecretKey;

    const STATEMENT: Statement<'_> = Statement {
        service: "https://context.example.com",
        transaction: TransactionHash([0xab; 32]),
        target_url: "https://example.com/a",
        tier: "fresh",
        force_refresh: false,
    };

    /// The example of ethers and web3: their digest of "hello world".
    #[test]
    fn the_digest_is_that_of_wallets() {
        assert_eq!(
            hex::encode(personal_digest("hello world").0),
            "d9eba16ed0ecae432b71fe008c98cc872bb4cc214d3220a36f365326cf807d68"
        );
    }

    #[test]
    fn a_signature_is_for_one_service_transaction_and_purchase() {
        let key = SecretKey::from_bytes([7; 32]).expect("a key");
        let signature = key.sign(personal_digest(&STATEMENT.text()));
        assert_eq!(STATEMENT.signer(&signature), Ok(key.address()));
        for other in [
            Statement {
                service: "https://other.example.com",
                ..STATEMENT
            },
            Statement {
                transaction: TransactionHash([0xac; 32]),
                ..STATEMENT
            },
            Statement {
                target_url: "https://example.com/b",
                ..STATEMENT
            },
            Statement {
                tier: "deep",
                ..STATEMENT
            },
            Statement {
                force_refresh: true,
                ..STATEMENT
            },
        ] {
            assert_ne!(other.signer(&signature), Ok(key.address()), "{other:?}");
        }
        assert!(STATEMENT.signer(&Signature(vec![1; 64])).is_err());
    }
}
