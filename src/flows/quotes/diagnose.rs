//! Diagnosis of a pasted payment header: the checks of a sale that need no upstream, each as a finding. Nothing is fetched,
//! charged, stored or logged.

use serde_json::{Value, json};

use crate::app::App;
use crate::domain::figures::cents;
use crate::domain::level::{Level, LineItem, Product};
use crate::flows::sale::verified::{self, Reads};
use crate::state::offers::Offer;
use crate::x402::eip3009::{self, Domain, SignatureError};
use crate::x402::proof::{PaymentProof, ProofMismatch};
use crate::x402::wire::{PaymentRequirements, SettleResponse};
use crate::x402::{encoding, json as strict};

/// The kinds of headers.
const HEADERS: [&str; 4] = [
    "payment-signature",
    "payment-required",
    "x-payment-required",
    "payment-response",
];

/// A header and its findings.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    pub kind: &'static str,
    pub findings: Vec<Finding>,
    pub decoded: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub result: CheckResult,
    /// The code for programs; x402's own if there is one.
    pub code: &'static str,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    Good,
    /// Unusual, or cannot be checked here.
    Unsure,
    Wrong,
}

impl CheckResult {
    pub fn name(self) -> &'static str {
        match self {
            CheckResult::Good => "pass",
            CheckResult::Unsure => "warn",
            CheckResult::Wrong => "fail",
        }
    }
}

impl Diagnosis {
    pub fn is_good(&self) -> bool {
        self.kind != UNKNOWN
            && self
                .findings
                .iter()
                .all(|found| found.result != CheckResult::Wrong)
    }

    fn unknown(code: &'static str, message: String) -> Self {
        Diagnosis {
            kind: UNKNOWN,
            findings: vec![finding(CheckResult::Wrong, code, message)],
            decoded: None,
        }
    }
}

const UNKNOWN: &str = "unknown";

fn finding(result: CheckResult, code: &'static str, message: impl Into<String>) -> Finding {
    Finding {
        result,
        code,
        message: message.into(),
    }
}

/// Diagnoses a header's value, with or without its name, or the JSON that it encodes.
pub fn diagnose(app: &App, pasted: &str) -> Diagnosis {
    let text = value_of(pasted.trim());
    let bytes = match text.starts_with('{') {
        true => text.as_bytes().to_vec(),
        false => match encoding::decode(text) {
            Some(bytes) => bytes,
            None => {
                let message = "This is neither JSON nor standard base64 with padding. Paste the header's whole value.";
                return Diagnosis::unknown("invalid_payload", message.to_owned());
            }
        },
    };
    let value = match strict::parse(&bytes) {
        Ok(value) => value,
        Err(error) => return Diagnosis::unknown("invalid_payload", format!("{error}.")),
    };
    let has = |name: &str| value.get(name).is_some();
    let (kind, findings) = match () {
        () if has("payload") || has("accepted") => ("payment_signature", payment(app, &bytes)),
        () if has("accepts") => ("payment_required", challenge(app, &value)),
        () if has("success") => ("payment_response", settlement(&value)),
        () => {
            let message = "The JSON is neither a payment (payload), a challenge (accepts) nor a settlement (success).";
            (
                UNKNOWN,
                vec![finding(CheckResult::Wrong, "invalid_payload", message)],
            )
        }
    };
    Diagnosis {
        kind,
        findings,
        decoded: Some(value),
    }
}

/// Without the header's name in front.
fn value_of(text: &str) -> &str {
    match text.split_once(':') {
        Some((name, value))
            if HEADERS
                .iter()
                .any(|known| name.trim().eq_ignore_ascii_case(known)) =>
        {
            value.trim()
        }
        _ => text,
    }
}

fn payment(app: &App, decoded: &[u8]) -> Vec<Finding> {
    let proof = match PaymentProof::from_json(decoded) {
        Ok(proof) => proof,
        Err(error) => {
            return vec![finding(
                CheckResult::Wrong,
                error.reason(),
                format!("{error}."),
            )];
        }
    };
    let judged = app.offers.all();
    let judged: Vec<_> = judged
        .map(|offer| (offer, terms(app, offer, &proof)))
        .collect();
    let for_ours = |(_, outcome): &&(_, Result<_, ProofMismatch>)| {
        *outcome != Err(ProofMismatch::Requirements)
    };
    // An offer that it pays exactly, else one that it names.
    let paid = judged.iter().find(|(_, outcome)| outcome.is_ok());
    let Some((offer, outcome)) = paid.or_else(|| judged.iter().find(for_ours)) else {
        let mismatch = ProofMismatch::Requirements;
        let message = format!(
            "{mismatch}: copy one entry of accepts from a new 402 of this service unchanged into accepted. {}",
            differences(app, &proof)
        );
        return vec![finding(
            CheckResult::Wrong,
            mismatch.reason(),
            message.trim(),
        )];
    };
    let mut findings = vec![match outcome {
        Ok(_) => finding(
            CheckResult::Good,
            "terms",
            format!("It pays {}, as offered.", bought(offer.item)),
        ),
        Err(mismatch) => finding(
            CheckResult::Wrong,
            mismatch.reason(),
            format!("{mismatch}."),
        ),
    }];
    if let Err(mismatch) = proof.check_echo(&offer.challenge.advertised) {
        let found = finding(
            CheckResult::Wrong,
            mismatch.reason(),
            format!("{mismatch}."),
        );
        findings.push(found);
    }
    findings.push(signature(&offer.requirements, &proof));
    findings
}

/// Whether the payment meets the terms of an offer, as it is now or as it was a moment ago.
fn terms(app: &App, offer: &Offer, proof: &PaymentProof) -> Result<(), ProofMismatch> {
    let LineItem { level, quantity } = offer.item;
    let resource = app.offers.resource(level.product());
    // As the level is sold by default; what else the request would ask for is not in the header.
    let reads = match level {
        Level::Tier(_) | Level::Pack(_) if quantity == 1 => Reads::One {
            render: level.render(),
            has_screenshot: false,
        },
        _ => Reads::Several,
    };
    let work = verified::work_time_max(app, level, reads);
    let offers = app.offers.honoured(offer, app.now());
    let checked = proof.check(&offers, resource, app.now(), work.as_secs());
    checked.map(drop)
}

/// What an offer is for, with its price.
fn bought(item: LineItem) -> String {
    let (word, name, price) = (
        item.product().level_word(),
        item.level.name(),
        cents(item.price()),
    );
    match (item.product(), item.quantity) {
        (_, 1) => format!("{price} USDC for the {word} {name}"),
        (Product::Context, pages) => format!("{price} USDC for {pages} pages of the {word} {name}"),
        (_, sources) => format!("{price} USDC for the {word} {name} with {sources} sources"),
    }
}

/// How an accepted offer differs from the nearest of ours.
fn differences(app: &App, proof: &PaymentProof) -> String {
    let accepted = proof.payload().accepted.as_ref();
    let accepted = accepted.and_then(|accepted| serde_json::from_str(accepted.get()).ok());
    let accepted: Value = match accepted {
        Some(accepted) => accepted,
        None => return "It has no accepted member.".to_owned(),
    };
    let unlike = |offer: &Offer| -> Vec<String> {
        let ours = json!(offer.requirements);
        let members = ours.as_object().into_iter().flatten();
        members
            .filter(|(name, value)| !is_alike(accepted.get(name.as_str()), value))
            .map(|(name, _)| name.clone())
            .collect()
    };
    let nearest = app.offers.all().map(unlike).min_by_key(Vec::len);
    match nearest {
        Some(names) if !names.is_empty() => format!("It differs in {}.", names.join(", ")),
        _ => String::new(),
    }
}

/// Addresses are case-insensitive.
fn is_alike(theirs: Option<&Value>, ours: &Value) -> bool {
    match (theirs.and_then(Value::as_str), ours.as_str()) {
        (Some(theirs), Some(ours)) => theirs.eq_ignore_ascii_case(ours),
        _ => theirs == Some(ours),
    }
}

fn signature(offer: &PaymentRequirements, proof: &PaymentProof) -> Finding {
    let digest = Domain::of(offer).digest(proof.authorization());
    match eip3009::recover(digest, &proof.payload().payload.signature) {
        Ok(signer) if signer == proof.from() => finding(
            CheckResult::Good,
            "signature",
            "The signature is by from. Only the chain can check balance and nonce.",
        ),
        Ok(signer) => {
            let domain = Domain::of(offer);
            let message = format!(
                "The signature is by {signer}, not by from: another key signed, or other data. The EIP-712 domain is \
                 name {:?}, version {:?}, chain {}, contract {}.",
                domain.name, domain.version, domain.chain_id, domain.verifying_contract
            );
            finding(CheckResult::Wrong, "invalid_exact_evm_signature", message)
        }
        Err(error @ SignatureError::Length(_)) => finding(
            CheckResult::Unsure,
            "signature",
            format!("{error}: a contract wallet's signature can only be checked on chain."),
        ),
        Err(error) => finding(
            CheckResult::Wrong,
            "invalid_exact_evm_signature",
            format!("{error}."),
        ),
    }
}

fn challenge(app: &App, value: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    if value.get("x402Version").and_then(Value::as_u64) != Some(2) {
        let message = "x402Version is not the number 2: this is not a version 2 challenge.";
        findings.push(finding(CheckResult::Wrong, "invalid_x402_version", message));
    }
    let accepts = value.get("accepts").and_then(Value::as_array);
    let ours = app.offers.all().find(|offer| {
        let offer = json!(offer.requirements);
        accepts.is_some_and(|accepts| accepts.contains(&offer))
    });
    findings.push(match (accepts, ours) {
        (None, _) => finding(CheckResult::Wrong, "invalid_payload", "accepts is not a list."),
        (Some(accepts), _) if accepts.is_empty() => {
            finding(CheckResult::Wrong, "invalid_payload", "accepts is empty: there is no payment option.")
        }
        (_, Some(offer)) => {
            let message = format!("This is our current challenge: {}.", bought(offer.item));
            finding(CheckResult::Good, "terms", message)
        }
        (_, None) => finding(
            CheckResult::Unsure,
            "terms",
            "We do not currently offer any of its payment options: it is from another seller, or outdated. Request a new 402.",
        ),
    });
    if let Some(error) = value.get("error").and_then(Value::as_str) {
        let message = format!("The seller's error for that request: {error}.");
        findings.push(finding(CheckResult::Unsure, "error", message));
    }
    findings
}

fn settlement(value: &Value) -> Vec<Finding> {
    let Ok(settled) = serde_json::from_value::<SettleResponse>(value.clone()) else {
        let message = "The members of the settlement do not have the types of x402 version 2.";
        return vec![finding(CheckResult::Wrong, "invalid_payload", message)];
    };
    let (reason, transaction) = (
        settled.error_reason.unwrap_or_default(),
        settled.transaction,
    );
    vec![match (settled.success, transaction.is_empty()) {
        (true, false) => finding(
            CheckResult::Good,
            "settled",
            format!("Settled in the transaction {transaction}."),
        ),
        (true, true) => finding(
            CheckResult::Unsure,
            "settled",
            "Reported as settled, but without a transaction.",
        ),
        (false, true) => finding(
            CheckResult::Wrong,
            "not_settled",
            format!(
                "Not settled ({reason}), and no transaction was sent: nothing was charged. Sign a new payment."
            ),
        ),
        (false, false) => finding(
            CheckResult::Wrong,
            "not_settled",
            format!(
                "Not settled ({reason}), but the transaction {transaction} was sent: look it up before you sign again."
            ),
        ),
    }]
}
