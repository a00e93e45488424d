//! Every way the service says no, free of HTTP. A refusal carries a code that programs branch on, a sentence for the
//! client, and what goes with it: a challenge, a credit, alternatives.

use crate::domain::ids::CreditId;
use crate::domain::level::Level;
use crate::domain::rate::{OF_DOMAIN, Standing, WINDOW_SECONDS};
use crate::domain::schema::ValidationError;
use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;

macro_rules! codes {
    ($($name:ident $text:literal $retryable:literal $meaning:literal $next:literal;)*) => {
        /// The closed set of error codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($name),* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The code on the wire.
            pub fn text(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }

            pub fn parse(text: &str) -> Option<Code> {
                Code::ALL.iter().copied().find(|code| code.text() == text)
            }

            /// Whether the same request may succeed later.
            pub fn is_retryable(self) -> bool {
                match self { $(Code::$name => $retryable),* }
            }

            /// What it means, for the documents.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$name => $meaning),* }
            }

            /// What the caller does next, for the documents.
            pub fn next_step(self) -> &'static str {
                match self { $(Code::$name => $next),* }
            }
        }
    };
}

#[rustfmt::skip]
codes! {
    InvalidRequest "invalid_request" false "The HTTP message is malformed." "Send a well-formed HTTP/1.1 request.";
    ValidationFailed "validation_failed" false "The request does not have the endpoint's shape." "Correct what `detail` names and send the request again.";
    InvalidTarget "invalid_target" false "The target is not a URL that can be fetched." "Send an absolute http or https URL.";
    TargetBlocked "target_blocked" false "The target is private, reserved, our own or blocked by the operator." "Name a page on the public web.";
    PortNotAllowed "port_not_allowed" false "Only the ports 80 and 443 are fetched." "Use the site's standard port.";
    DnsFailed "dns_failed" false "The target's name has no usable address." "Check the host name.";
    RedirectBlocked "redirect_blocked" false "The page redirects to an address that may not be fetched." "Name the final page directly, if it is public.";
    TooManyRedirects "too_many_redirects" false "The page redirects more often than is followed, or in a circle." "Name the final page directly.";
    UpstreamRefused "upstream_refused" false "The target answered with an error of its own, or its certificate is not valid." "Check the page in a browser; pages behind a login cannot be fetched.";
    ContentTooLarge "content_too_large" false "The page is larger than 5,242,880 bytes." "Name a smaller page.";
    UnsupportedContentType "unsupported_content_type" false "The target is not HTML, markdown, plain text, JSON, XML, a feed, CSV or a PDF with text." "Name a page or a document with text.";
    NothingReadable "nothing_readable" false "The page holds no readable text." "Name a page whose text does not depend on scripts, or a PDF that is no scan.";
    PageWalled "page_walled" false "The page shows a captcha, a login, a block, a paywall or a request for consent instead of its content." "Name a page that anybody can read without a login, a subscription or a choice.";
    InvalidTier "invalid_tier" false "There is no such tier." "Use starter, cached, basic, fresh or deep.";
    TierMismatch "tier_mismatch" false "Query, header and body name different tiers." "Name one tier, or only once.";
    InvalidPack "invalid_pack" false "There is no such pack." "Use quick, standard or deep.";
    InvalidBundle "invalid_bundle" false "There is no such bundle." "Use scout, builder or audit.";
    InvalidProduct "invalid_product" false "There is no such product." "Use context, proof_pack or proof_bundle.";
    PackMismatch "pack_mismatch" false "Query, header and body name different packs." "Name one pack, or only once.";
    InvalidPayment "invalid_payment" false "The PAYMENT-SIGNATURE header cannot be read." "Encode the x402 v2 payment payload as base64 JSON, once. POST /v1/agent/diagnose says what is wrong with it.";
    PaymentReplayed "payment_replayed" false "This authorization was already used." "Sign a new authorization for a new purchase.";
    PaymentRequired "payment_required" false "The call must be paid." "Sign the challenge in PAYMENT-REQUIRED and repeat the request.";
    PaymentHashRequired "payment_hash_required" false "The legacy endpoint needs the hash of a transfer." "Transfer the price as the answer says and send the transaction's hash in X-Service-Payment-Hash, or buy at /v1/x402/access.";
    InvalidPaymentHash "invalid_payment_hash" false "The hash is not that of a transfer which pays for this." "Send the hash of your own transfer of the price in USDC to the address in the 402.";
    PaymentHashUnconfirmed "payment_hash_unconfirmed" true "The transaction is not deep enough in the chain yet, or not known." "Wait for its confirmations and repeat the same request; do not transfer again.";
    PaymentHashReplayed "payment_hash_replayed" false "This transfer was already used." "Make a new transfer for a new purchase.";
    PaymentHashHeld "payment_hash_held" false "This transfer is held by a retry credit." "Redeem the credit that came with the 503 at /v1/x402/retry; do not transfer again.";
    PaymentProofRequired "payment_proof_required" false "The transfer's sender has to sign for it." "Sign the text in the answer with the key that has sent the transfer (personal_sign), and repeat the request with the signature in X-Service-Payment-Proof; do not transfer again.";
    TransfersNotTaken "transfers_not_taken" false "This service takes no transfers: its endpoints from before x402 version 2 are switched off." "Buy at /v1/x402/access; do not transfer anything.";
    MarginRejected "margin_rejected" false "The sale would not cover its costs at present." "Choose a dearer tier, or try again later.";
    CacheMiss "cache_miss" false "The tier reads the cache only, and the page is not there." "Choose a tier that fetches.";
    RetryCreditRequired "retry_credit_required" false "The retry endpoint needs a credit." "Send the X-Service-Retry-Credit that a 503 gave you.";
    RetryCreditInvalid "retry_credit_invalid" false "The credit is unknown, used, expired or for something else." "Send the original payment again to learn what became of it before you buy anew.";
    QuoteNotFound "quote_not_found" false "There is no such quote." "Ask for a new quote.";
    QuoteExpired "quote_expired" false "The quote is older than 7 days." "Ask for a new quote.";
    ReportNotFound "report_not_found" false "There is no such report." "Check the identifier; reports begin with ppr_.";
    ReportExpired "report_expired" false "The report is older than 30 days." "Buy a new one for the same source and question.";
    AlreadyPaid "already_paid" false "This request was paid for already." "Look for the delivery: /proof-pack/bundle/recover finds it by your e-mail address.";
    SessionNotFound "session_not_found" false "That is no checkout session of ours." "Use the address that the payment page led to or that we have mailed, or ask for it again at /proof-pack/bundle/recover.";
    LinkExpired "link_expired" false "The link is older than 30 days or was not made by us." "Ask for a new one at /proof-pack/bundle/recover.";
    NoMail "no_mail" false "This service sends no e-mail, and the way back to an order is given by e-mail alone." "Use the address that the payment page led to, or write to the operator at /contact.";
    InvalidSignature "invalid_signature" false "The event is not signed by the payment provider, or not now." "Check the webhook's signing secret, and the clocks on both sides.";
    WebhookNotTaken "webhook_not_taken" true "This service takes no events of a payment provider." "Set bundles.webhook_secrets; the provider sends the event again.";
    Conflict "conflict" true "The same payment, payment id or credit is being used by another request." "Wait and repeat the same request.";
    PaymentIdentifierUsed "payment_identifier_used" false "The payment identifier belongs to another purchase of yours." "Send an identifier of its own with each purchase; this payment was not used.";
    RateLimited "rate_limited" true "Too many requests in a minute." "Wait as long as Retry-After says; a payment that was sent along was not used.";
    UpstreamUnavailable "upstream_unavailable" true "The target or a supplier does not answer." "Use the retry credit, or try again later.";
    NetworkUnavailable "network_unavailable" true "The payment network does not answer." "Repeat the same request; do not sign again.";
    SettlementUnknown "settlement_unknown" true "The payment was sent for settlement and its result is not known yet." "Use the retry credit or repeat the same payment; do not sign again.";
    Paused "paused" true "The operator has paused what is paid for." "Nothing was charged: come back later with the same request.";
    ForeignOrigin "foreign_origin" false "The form was sent from a page of another site." "Open the form on this service's own page and send it there; programs send JSON without Origin.";
    Overloaded "overloaded" true "The service is at its limits." "Try again in a few seconds.";
    NotFound "not_found" false "There is nothing at this address." "See /docs for the addresses.";
    MethodNotAllowed "method_not_allowed" false "The address does not answer this method." "Use a method that Allow names.";
    RequestTimeout "request_timeout" true "The request body took too long to arrive." "Send the body at once.";
    BodyTooLarge "body_too_large" false "The request body is larger than the address takes: 64 KiB, and 256 KiB for the payment provider's events." "Send a smaller body.";
    UriTooLong "uri_too_long" false "The address is longer than 8,192 bytes." "Send long input in a request body; a long list of sources to POST /v1/quotes.";
    UnsupportedMediaType "unsupported_media_type" false "The body is not sent as JSON." "Send Content-Type: application/json.";
    UnsupportedTransferCoding "unsupported_transfer_coding" false "The body is sent in a transfer coding other than chunked." "Send the body with Content-Length, or with Transfer-Encoding: chunked alone.";
    HeadersTooLarge "headers_too_large" false "The header block is larger than 16,384 bytes." "Send fewer or shorter headers.";
    Internal "internal" true "Something broke on our side." "Repeat the same request; a payment is never taken twice.";
}

/// A refusal on its way to the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub code: Code,
    /// What happened, as a sentence for the client.
    pub message: String,
    pub with: With,
}

/// What a refusal carries beside its code.
#[derive(Clone, Debug, PartialEq)]
pub enum With {
    Nothing,
    /// The payment was taken, or may have been.
    Charged,
    /// This payment was not used; an earlier one for the same purchase may have been taken. The credit, where the payer
    /// is owed one, is the earlier payment's.
    Earlier(Option<RetryCredit>),
    /// A fresh challenge for this level; `error` is x402's machine word for what is wrong.
    Challenge {
        level: Level,
        error: String,
        settlement: Option<FailedSettlement>,
    },
    Credit(RetryCredit),
    /// Tiers that would deliver.
    Alternatives(Vec<Tier>),
    Validation(Vec<ValidationError>),
    /// Sources that cannot be read, each with the reason.
    Rejected(Vec<(String, String)>),
    /// A limit that was reached.
    Limit(Standing),
    /// A text that the buyer is to sign.
    TextToSign(String),
}

/// A settlement that is known to have moved nothing, for PAYMENT-RESPONSE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedSettlement {
    pub reason: String,
    /// Checksummed address.
    pub payer: String,
}

/// A retry credit as the buyer gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryCredit {
    pub id: CreditId,
    pub expires_at: UnixSeconds,
    pub attempts_left: u8,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            code,
            message: message.into(),
            with: With::Nothing,
        }
    }

    /// The code's own meaning as the message.
    pub fn of(code: Code) -> Self {
        Refusal::new(code, code.meaning())
    }

    pub fn with(mut self, with: With) -> Self {
        self.with = with;
        self
    }

    /// What broke on our side after the goods were kept: the money may have moved, and the answer must not deny it.
    pub fn after_settlement(self) -> Self {
        match self.code {
            Code::Internal | Code::Overloaded => self.with(With::Charged),
            _ => self,
        }
    }

    /// A limit was reached: which, and when to come back.
    pub fn limited(standing: Standing) -> Self {
        let Standing {
            quota,
            reset_seconds,
            ..
        } = standing;
        let whose = if standing.limit == OF_DOMAIN {
            "for pages of this domain"
        } else {
            "of this kind from your address"
        };
        let message = format!(
            "More than {quota} requests {whose} in {WINDOW_SECONDS} seconds. Nothing was charged; come back in \
             {reset_seconds} s."
        );
        Refusal::new(Code::RateLimited, message).with(With::Limit(standing))
    }

    pub fn validation(errors: Vec<ValidationError>) -> Self {
        Refusal::of(Code::ValidationFailed).with(With::Validation(errors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_explained_in_sentences() {
        for (position, code) in Code::ALL.iter().enumerate() {
            assert!(
                Code::ALL[..position]
                    .iter()
                    .all(|earlier| earlier.text() != code.text()),
                "{}",
                code.text()
            );
            assert!(
                code.meaning().ends_with('.') && code.next_step().ends_with('.'),
                "{}",
                code.text()
            );
        }
    }
}
