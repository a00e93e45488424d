//! What a seller's signatures prove to a buyer after a purchase. The seller's key is fetched from the seller's own host,
//! once, and from nowhere else.

use serde_json::Value;
use url::Url;

use crate::domain::time::UnixSeconds;
use crate::outside::buyer::{BuyError, Buyer, Paid, SellerRequest};
use crate::signing::{DID_PATH, PublicKey};
use crate::x402::offer_receipt::{self, Claimed, Receipt, Seen, Unproven};

/// What became of one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof<T> {
    /// The seller has signed nothing.
    None,
    /// Genuine, and of this purchase.
    Good { kid: String, says: T },
    /// Signed, and worth nothing: why.
    Bad(String),
}

/// The signatures of a purchase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proofs {
    pub offer: Proof<()>,
    pub receipt: Proof<Receipt>,
}

impl Buyer {
    /// Checks what the seller has signed of a purchase that `request` has made.
    pub fn check(&self, request: &SellerRequest, paid: &Paid, now: UnixSeconds) -> Proofs {
        let resource_url = paid.challenge.resource_url.as_deref().unwrap_or_default();
        let settlement = paid.settlement.as_ref();
        let seen = Seen {
            resource_url,
            requirements: &paid.choice.requirements,
            payer: paid.payment.authorization.from,
            transaction: settlement.map_or("", |settled| &settled.transaction),
            now,
        };
        let offer = paid.challenge.extensions();
        let receipt = settlement.and_then(|settled| settled.extensions.as_ref());
        let offer = offer.and_then(offer_receipt::claimed_offer);
        let receipt = receipt.and_then(offer_receipt::claimed_receipt);
        // Fetched only if there is something to check with it.
        let document = (offer.is_some() || receipt.is_some())
            .then(|| self.did_document(&request.url, resource_url));
        let document = document.as_ref();
        Proofs {
            offer: proof(offer, resource_url, document, |claimed, key| {
                claimed.check_offer(key, &seen)
            }),
            receipt: proof(receipt, resource_url, document, |claimed, key| {
                claimed.check_receipt(key, &seen)
            }),
        }
    }

    /// Who sells under one name can sign under that name alone, and we ask nobody else.
    fn did_document(&self, asked: &str, resource_url: &str) -> Result<Value, String> {
        let asked = Url::parse(asked).map_err(|error| error.to_string())?;
        match Url::parse(resource_url) {
            Ok(resource) if resource.origin() == asked.origin() => {}
            _ => return Err("the seller names its offer after another host".to_owned()),
        }
        let address = asked.join(DID_PATH).map_err(|error| error.to_string())?;
        let reply = self.ask(
            &SellerRequest {
                method: "GET".to_owned(),
                url: address.to_string(),
                headers: Vec::new(),
                body: None,
            },
            None,
        );
        match reply {
            Ok(reply) if reply.status == 200 => serde_json::from_slice(&reply.body)
                .map_err(|_| format!("{DID_PATH} of the seller is not JSON")),
            Ok(reply) => Err(format!("{DID_PATH} of the seller answers {}", reply.status)),
            Err(BuyError::Unreachable(detail)) => Err(detail),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn proof<T>(
    claimed: Option<Result<Claimed, Unproven>>,
    resource_url: &str,
    document: Option<&Result<Value, String>>,
    check: impl FnOnce(&Claimed, &PublicKey) -> Result<T, Unproven>,
) -> Proof<T> {
    let claimed = match claimed {
        None => return Proof::None,
        Some(Err(unproven)) => return Proof::Bad(unproven.to_string()),
        Some(Ok(claimed)) => claimed,
    };
    let document = match document {
        Some(Ok(document)) => document,
        Some(Err(why)) => return Proof::Bad(format!("Its key cannot be had: {why}")),
        None => return Proof::None,
    };
    let key = PublicKey::in_did_document(document, &claimed.kid)
        .filter(|_| claimed.is_named_by(resource_url));
    let checked = key
        .ok_or(Unproven::Stranger)
        .and_then(|key| check(&claimed, &key));
    match checked {
        Ok(says) => Proof::Good {
            kid: claimed.kid,
            says,
        },
        Err(unproven) => Proof::Bad(unproven.to_string()),
    }
}
