//! Our offers: the payment requirements of every level of every product, and their challenges.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::domain::evm::{Address, Network};
use crate::domain::figures::cents;
use crate::domain::level::{Level, LineItem, Product};
use crate::domain::purchase::Purchase;
use crate::domain::shapes::PAGES_REQUEST;
use crate::domain::time::UnixSeconds;
use crate::pages::assets::ICON_PATH;
use crate::signing::Signer;
use crate::x402::challenge::{Bazaar, Challenge, ChallengeError, ChallengeInputs};
use crate::x402::offer_receipt::{self, OFFER_RECEIPT};
use crate::x402::resource::Resource;
use crate::x402::wire::{Extra, PaymentRequirements, Scheme, WrittenRequirements};

/// How long a payment is valid.
pub const TIMEOUT_SECONDS_MAX: u64 = 300;

/// What a challenge says where nothing else is to be said.
pub const HEADER_REQUIRED: &str = "PAYMENT-SIGNATURE header is required";

/// Every offer of this service.
#[derive(Debug)]
pub struct Offers {
    /// In the order of [`Level::ALL`], each by quantity from 1 on.
    levels: Vec<Vec<Offer>>,
    /// Which addresses a payment for each product may name, in the order of [`Product::ALL`].
    resources: Vec<Resource>,
    base_url: String,
    service_name: String,
    current: Terms,
    /// Terms of an earlier configuration, each with the last moment at which it was offered.
    former: Vec<(Terms, UnixSeconds)>,
}

/// How to pay, whatever the price: what a change of configuration may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub network: Network,
    pub asset: Address,
    pub pay_to: Address,
    pub asset_name: String,
    pub asset_version: String,
}

/// The offer of a level, once or several times.
#[derive(Debug)]
pub struct Offer {
    pub item: LineItem,
    pub requirements: WrittenRequirements,
    /// The extensions beside those that every challenge has.
    extensions: Map<String, Value>,
    /// The challenge of a request that came without payment.
    pub challenge: Challenge,
}

impl Offers {
    /// `former` are the terms that were offered before, newest known moment included.
    pub fn new(
        config: &Config,
        signer: Option<&Signer>,
        former: Vec<(Terms, UnixSeconds)>,
    ) -> Result<Offers, Box<dyn std::error::Error + Send + Sync>> {
        let current = Terms::of(config);
        let resources = Product::ALL.map(|product| Resource::new(&config.base_url, product.path()));
        let resources: Option<Vec<Resource>> = resources.into_iter().collect();
        let mut offers = Offers {
            levels: Vec::new(),
            resources: resources.ok_or("base_url cannot be offered as a resource")?,
            base_url: config.base_url.clone(),
            service_name: config.service_name.clone(),
            former: former
                .into_iter()
                .filter(|(terms, _)| *terms != current)
                .collect(),
            current,
        };
        for level in Level::ALL {
            let quantities = 1..=level.product().quantity_max();
            let items = quantities.map(|quantity| LineItem { level, quantity });
            let made: Result<Vec<Offer>, ChallengeError> =
                items.map(|item| offers.make(signer, item)).collect();
            offers.levels.push(made?);
        }
        Ok(offers)
    }

    fn make(&self, signer: Option<&Signer>, item: LineItem) -> Result<Offer, ChallengeError> {
        let requirements = self.current.requirements(item);
        let extensions = self.signed(signer, item.product(), &requirements);
        let challenge = self.challenge(item, &requirements, &extensions, HEADER_REQUIRED)?;
        Ok(Offer {
            item,
            requirements: requirements.into(),
            extensions,
            challenge,
        })
    }

    pub fn item(&self, item: LineItem) -> &Offer {
        let of_level = &self.levels[item.level.position()];
        &of_level[item.quantity.clamp(1, of_level.len()) - 1]
    }

    /// All of them, those of one page or source first.
    pub fn all(&self) -> impl Iterator<Item = &Offer> {
        let quantities = self.levels.iter().map(Vec::len).max().unwrap_or_default();
        (0..quantities).flat_map(|place| self.levels.iter().filter_map(move |of| of.get(place)))
    }

    /// The offer of a level once.
    pub fn level(&self, level: Level) -> &Offer {
        self.item(level.into())
    }

    pub fn of(&self, purchase: &Purchase) -> &Offer {
        self.item(purchase.line_item())
    }

    /// Which addresses a payment for this product may name.
    pub fn resource(&self, product: Product) -> &Resource {
        &self.resources[product as usize]
    }

    /// The offer itself, and what was offered for it up to 300 seconds before `at` under another configuration: a buyer
    /// who signed or paid just before a restart is not turned away.
    pub fn honoured(&self, offer: &Offer, at: UnixSeconds) -> Vec<WrittenRequirements> {
        let former = self
            .former
            .iter()
            .filter(|(_, last)| at.since(*last) <= TIMEOUT_SECONDS_MAX);
        let former = former.map(|(terms, _)| terms.requirements(offer.item).into());
        std::iter::once(offer.requirements.clone())
            .chain(former)
            .collect()
    }

    /// Which tokens are received where, now and at any time after `since` under another configuration of the same network.
    pub fn receivers(&self, since: UnixSeconds) -> Vec<(Address, Address)> {
        let former = self
            .former
            .iter()
            .filter(|(terms, last)| terms.network == self.current.network && *last >= since);
        let terms = std::iter::once(&self.current).chain(former.map(|(terms, _)| terms));
        let mut receivers: Vec<_> = Vec::new();
        for receiver in terms.map(|terms| (terms.asset, terms.pay_to)) {
            if !receivers.contains(&receiver) {
                receivers.push(receiver);
            }
        }
        receivers
    }

    pub fn terms(&self) -> &Terms {
        &self.current
    }

    /// A fresh challenge that says why the last payment was not taken.
    pub fn challenge_because(&self, item: LineItem, error: &str) -> Challenge {
        let offer = self.item(item);
        // Only the error's text differs from the challenge that was made at start, and optional parts make room for it.
        self.challenge(item, &offer.requirements, &offer.extensions, error)
            .unwrap_or_else(|_| offer.challenge.clone())
    }

    /// The address of what is paid for, as offers and receipts name it.
    pub fn resource_url(&self, product: Product) -> String {
        format!("{}{}", self.base_url, product.path())
    }

    /// The offer under our signature. It names no end: it is signed once, and what we offered is honoured for as long
    /// as [`Offers::honoured`] says.
    fn signed(
        &self,
        signer: Option<&Signer>,
        product: Product,
        requirements: &PaymentRequirements,
    ) -> Map<String, Value> {
        let signed = signer.map(|signer| {
            let offer = offer_receipt::offer(signer, &self.resource_url(product), requirements);
            (OFFER_RECEIPT.to_owned(), offer)
        });
        signed.into_iter().collect()
    }

    fn challenge(
        &self,
        item: LineItem,
        requirements: &PaymentRequirements,
        extensions: &Map<String, Value>,
        error: &str,
    ) -> Result<Challenge, ChallengeError> {
        let product = item.product();
        Challenge::new(&ChallengeInputs {
            resource_url: &self.resource_url(product),
            description: &description(item),
            service_name: &self.service_name,
            tags: product.tags(),
            icon_url: Some(&format!("{}{ICON_PATH}", self.base_url)),
            requirements: std::slice::from_ref(requirements),
            bazaar: bazaar(item),
            further_extensions: extensions.clone(),
            error,
        })
    }
}

/// What a level buys, in a sentence with its price.
pub fn description(item: LineItem) -> String {
    let (word, name) = (item.product().level_word(), item.level.name());
    let what = match (item.product(), item.quantity) {
        (Product::Context, 1) => "Convert a public web page into clean markdown".to_owned(),
        (Product::Context, pages) => {
            format!("Convert {pages} public web pages into clean markdown")
        }
        (Product::ProofPack, _) => {
            "Report whether a public source supports a claim, with exact citations".to_owned()
        }
        (Product::ProofBundle, _) => {
            "Report what several sources say together on a question or claims, with exact citations"
                .to_owned()
        }
        (Product::Check, 1) => {
            "Check each claim of a text against a source, with exact citations".to_owned()
        }
        (Product::Check, sources) => {
            format!("Check each claim of a text against {sources} sources, with exact citations")
        }
    };
    format!("{what} ({word} {name}, {} USDC).", cents(item.price()))
}

/// How the endpoint of a level is called; for several pages, with the body of several.
pub fn bazaar(item: LineItem) -> Bazaar {
    let (level, product) = (item.level, item.product());
    let (page, other) = ("https://example.com/", "https://example.org/");
    let is_pages = product == Product::Context && item.quantity > 1;
    let request = match is_pages {
        true => &PAGES_REQUEST,
        false => product.request(),
    };
    let mut body_example = match product {
        Product::Context if is_pages => json!({"target_urls": [page, other]}),
        Product::Context => json!({"target_url": page}),
        Product::ProofPack => json!({"target_url": page, "question": "Is it free to use?"}),
        Product::ProofBundle => {
            json!({"target_urls": [page, other], "question": "Is it free to use?"})
        }
        Product::Check => json!({"text": "It is free to use.", "sources": [page]}),
    };
    body_example[product.level_word()] = level.name().into();
    Bazaar {
        body_example,
        body_schema: without_formats(request.json_schema()),
        output_example: match product {
            Product::Context if is_pages => {
                json!({"status": "success", "pages": [{"markdown": "# Example"}]})
            }
            Product::Context => json!({"status": "success", "markdown": "# Example"}),
            Product::ProofPack | Product::ProofBundle => {
                json!({"status": "success", "decision": {"label": "supported"}, "report_id": "ppr_sample"})
            }
            Product::Check => json!({"status": "success", "score": 0.5, "corrections": []}),
        },
    }
}

/// Validators of directories know no formats and complain of each.
fn without_formats(mut schema: Value) -> Value {
    for property in schema["properties"]
        .as_object_mut()
        .into_iter()
        .flat_map(|all| all.values_mut())
    {
        if let Some(property) = property.as_object_mut() {
            property.shift_remove("format");
        }
    }
    schema
}

impl Terms {
    fn of(config: &Config) -> Self {
        let payment = &config.payment;
        Terms {
            network: payment.network,
            asset: payment.asset,
            pay_to: payment.pay_to,
            asset_name: payment.asset_name.clone(),
            asset_version: payment.asset_version.clone(),
        }
    }

    fn requirements(&self, item: LineItem) -> PaymentRequirements {
        PaymentRequirements {
            scheme: Scheme::Exact,
            network: self.network,
            amount: item.price(),
            asset: self.asset,
            pay_to: self.pay_to,
            max_timeout_seconds: TIMEOUT_SECONDS_MAX,
            extra: Extra::domain(&self.asset_name, &self.asset_version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Resolved;
    use crate::domain::tier::Tier;

    const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

    fn every_item() -> impl Iterator<Item = LineItem> {
        Level::ALL.into_iter().flat_map(|level| {
            let quantities = 1..=level.product().quantity_max();
            quantities.map(move |quantity| LineItem { level, quantity })
        })
    }

    fn config(pay_to: &str) -> Config {
        let mut resolved = Resolved::defaults();
        resolved.set("base_url", "http://127.0.0.1:4020");
        resolved.set("payment.pay_to", pay_to);
        Config::from_resolved(&resolved).expect("a configuration")
    }

    #[test]
    fn an_earlier_receiving_address_is_honoured_for_as_long_as_its_challenges_live() {
        let before = Terms::of(&config("0x1111111111111111111111111111111111111111"));
        let now = config("0x2222222222222222222222222222222222222222");
        let offers = Offers::new(
            &now,
            None,
            vec![(before.clone(), NOW), (Terms::of(&now), NOW)],
        )
        .expect("offers");
        let fresh = offers.level(Level::Tier(Tier::Fresh));
        let vaults = |now| {
            let honoured = offers.honoured(fresh, now);
            honoured
                .into_iter()
                .map(|offer| (offer.pay_to, offer.amount))
                .collect::<Vec<_>>()
        };
        let (current, former) = (fresh.requirements.pay_to, before.pay_to);
        let price = Tier::Fresh.price();
        assert_eq!(vaults(NOW.plus(300)), [(current, price), (former, price)]);
        assert_eq!(vaults(NOW.plus(301)), [(current, price)]);
    }

    #[test]
    fn every_challenge_has_room_for_a_signed_offer() {
        let mut resolved = Resolved::defaults();
        resolved.set("base_url", "https://context.markdown-service.example.com");
        resolved.set("payment.facilitator_url", "https://f.example.com");
        resolved.set(
            "payment.pay_to",
            "0x2222222222222222222222222222222222222222",
        );
        resolved.set("signing.key", "0123456789abcdef".repeat(4));
        let config = Config::from_resolved(&resolved).expect("a configuration");
        let signing = config.signing.as_ref().expect("a key");
        let signer = Signer::new(&signing.key, &[], &config.base_url);
        let offers = Offers::new(&config, Some(&signer), Vec::new()).expect("offers");
        for item in every_item() {
            let challenge = offers.challenge_because(item, &"e".repeat(80));
            let json: Value = serde_json::from_slice(&challenge.json).expect("JSON");
            assert!(json["resource"]["description"].is_string(), "{json}");
            assert!(json["extensions"][OFFER_RECEIPT].is_object(), "{json}");
        }
    }

    #[test]
    fn every_challenge_fits_even_under_a_long_name() {
        let mut resolved = Resolved::defaults();
        let host = format!(
            "https://{}.example.com",
            ["a".repeat(60), "b".repeat(60), "c".repeat(60)].join(".")
        );
        resolved.set("base_url", host);
        resolved.set("payment.facilitator_url", "https://f.example.com");
        resolved.set(
            "payment.pay_to",
            "0x2222222222222222222222222222222222222222",
        );
        let config = Config::from_resolved(&resolved).expect("a configuration");
        let offers = Offers::new(&config, None, Vec::new()).expect("offers");
        for item in every_item() {
            let challenge = offers.challenge_because(item, &"e".repeat(80));
            assert!(challenge.json.len() <= 2_900);
            assert!(String::from_utf8_lossy(&challenge.json).contains(&"e".repeat(80)));
        }
    }
}
