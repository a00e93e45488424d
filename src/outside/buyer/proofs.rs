//! Verifies a seller's signatures after a purchase. The key is fetched once, from the seller's own host only.

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
    Good { by: String, says: T },
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
        let offers = paid.challenge.extensions();
        let offers = offers
            .map(offer_receipt::claimed_offers)
            .unwrap_or_default();
        let receipt = settlement.and_then(|settled| settled.extensions.as_ref());
        let receipt = receipt.and_then(offer_receipt::claimed_receipt);
        let named = offers.iter().chain(&receipt).flatten();
        // Asked for once, and only if there is something to check with it.
        let document = named
            .clone()
            .any(|claimed| matches!(claimed.kid(resource_url), Ok(Some(_))))
            .then(|| self.did_document(&request.url, resource_url));
        let keys = Keys {
            resource_url,
            document: document.as_ref(),
        };
        let offers = offers
            .into_iter()
            .map(|offer| keys.proof(offer, |claimed, key| claimed.check_offer(key, &seen)));
        Proofs {
            offer: offers.fold(Proof::None, Proof::or_better),
            receipt: receipt.map_or(Proof::None, |receipt| {
                keys.proof(receipt, |claimed, key| claimed.check_receipt(key, &seen))
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

impl<T> Proof<T> {
    /// One good signature is enough.
    fn or_better(self, other: Proof<T>) -> Proof<T> {
        match self {
            Proof::Good { .. } => self,
            _ => other,
        }
    }
}

/// The seller's keys, as far as they could be had.
struct Keys<'a> {
    resource_url: &'a str,
    document: Option<&'a Result<Value, String>>,
}

impl Keys<'_> {
    fn proof<T>(
        &self,
        claimed: Result<Claimed, Unproven>,
        check: impl FnOnce(&Claimed, Option<&PublicKey>) -> Result<T, Unproven>,
    ) -> Proof<T> {
        let found = claimed.map_err(|unproven| unproven.to_string());
        let checked = found.and_then(|claimed| {
            let key = self.key(&claimed)?;
            let says = check(&claimed, key.as_ref()).map_err(|unproven| unproven.to_string())?;
            Ok((says, claimed))
        });
        match checked {
            Ok((says, Claimed::Jws { kid, .. })) => Proof::Good { by: kid, says },
            Ok((says, Claimed::Typed { .. })) => Proof::Good {
                by: "the address that was paid".to_owned(),
                says,
            },
            Err(why) => Proof::Bad(why),
        }
    }

    fn key(&self, claimed: &Claimed) -> Result<Option<PublicKey>, String> {
        let kid = claimed.kid(self.resource_url);
        let Some(kid) = kid.map_err(|unproven| unproven.to_string())? else {
            return Ok(None);
        };
        match self.document {
            Some(Ok(document)) => Ok(PublicKey::in_did_document(document, kid)),
            Some(Err(why)) => Err(format!("Its key cannot be had: {why}")),
            None => Ok(None),
        }
    }
}
