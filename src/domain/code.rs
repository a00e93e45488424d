//! The error codes of the API: one row for each, which the documents are made from.

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
    ValidationFailed "validation_failed" false "The request is invalid." "Correct what `detail` names and send the request again.";
    InvalidTarget "invalid_target" false "The target is not a URL that can be fetched." "Send an absolute http or https URL.";
    TargetBlocked "target_blocked" false "The target is private, reserved, our own or blocked by the operator." "Use a page on the public web.";
    PortNotAllowed "port_not_allowed" false "Only ports 80 and 443 are allowed." "Use the site's standard port.";
    DnsFailed "dns_failed" false "The target's host name has no usable address." "Check the spelling of the host name.";
    RedirectBlocked "redirect_blocked" false "The page redirects to an address that is not allowed." "Use the final page directly, if it is public.";
    TooManyRedirects "too_many_redirects" false "The page redirects too often or in a loop." "Use the final page directly.";
    UpstreamRefused "upstream_refused" false "The target returned an error, or its certificate is invalid." "Check the page in a browser; pages behind a login cannot be fetched.";
    ContentTooLarge "content_too_large" false "The page is larger than 5,242,880 bytes." "Use a smaller page.";
    UnsupportedContentType "unsupported_content_type" false "The target is in none of the supported formats: HTML, markdown, plain text, JSON, XML, feeds, CSV, PDF with text, DOCX, ODT, EPUB, XLSX, Jupyter notebooks." "Use a page or document with text.";
    NothingReadable "nothing_readable" false "The page has no readable text." "Use a page whose text does not depend on scripts, or a PDF that is not a scan.";
    SelectorUnmatched "selector_unmatched" false "The selector matches no element of the page." "Check the selector against the page's HTML; elements that scripts add are there only if the page is rendered.";
    BudgetTooSmall "budget_too_small" false "Not one passage of the page fits into the budget." "Send a larger max_tokens or max_characters.";
    PageWalled "page_walled" false "The page shows a captcha, login, block, paywall or consent form instead of its content." "Use a page that everybody can read without login, subscription or consent.";
    RenderUnavailable "render_unavailable" false "The page's text is made by scripts, and this service has no browser to run them." "Use another page, or send a new request without `render`.";
    RenderFailed "render_failed" false "The page's text is made by scripts, and the browser could not show it." "Check the page in a browser; it may need a login, or take too long to load.";
    InvalidTier "invalid_tier" false "No such tier." "Use starter, cached, basic, fresh or deep.";
    TierMismatch "tier_mismatch" false "Query, header and body name different tiers." "Send the same tier everywhere, or only once.";
    InvalidPack "invalid_pack" false "No such pack." "Use quick, standard or deep.";
    InvalidBundle "invalid_bundle" false "No such bundle." "Use scout, builder or audit.";
    BundleMismatch "bundle_mismatch" false "Query, header and body name different bundles." "Send the same bundle everywhere, or only once.";
    InvalidDepth "invalid_depth" false "No such depth." "Use quick or standard.";
    DepthMismatch "depth_mismatch" false "Query, header and body name different depths." "Send the same depth everywhere, or only once.";
    SourcesUnread "sources_unread" false "Too few of the sources can be read." "Nothing was charged. Buy again with the sources that `readable` lists; for a single one of a bundle, buy a Proof Pack.";
    InvalidProduct "invalid_product" false "No such product." "Use context, proof_pack, proof_bundle or check.";
    PackMismatch "pack_mismatch" false "Query, header and body name different packs." "Send the same pack everywhere, or only once.";
    InvalidPayment "invalid_payment" false "The PAYMENT-SIGNATURE header cannot be read." "Base64-encode the JSON of the x402 v2 payment payload exactly once. POST it to /v1/agent/diagnose to see what is wrong.";
    PaymentReplayed "payment_replayed" false "This authorization was already used." "Sign a new authorization for a new purchase.";
    PaymentRequired "payment_required" false "The call requires payment." "Sign the challenge in PAYMENT-REQUIRED and repeat the request.";
    PaymentHashRequired "payment_hash_required" false "The legacy endpoint needs the hash of a transfer." "If the response describes a transfer, make it and send its hash in X-Service-Payment-Hash. Otherwise buy at /v1/x402/access.";
    InvalidPaymentHash "invalid_payment_hash" false "The hash does not belong to a transfer that pays for this." "Send the hash of your own transfer of the price in USDC to the address in the 402.";
    PaymentHashUnconfirmed "payment_hash_unconfirmed" true "The transaction is unknown or does not have enough confirmations yet." "Wait for its confirmations and repeat the same request; do not transfer again.";
    PaymentHashReplayed "payment_hash_replayed" false "This transfer was already used." "Make a new transfer for a new purchase.";
    PaymentHashHeld "payment_hash_held" false "This transfer is held by a retry credit." "Redeem the credit from the 503 at /v1/x402/retry; do not transfer again.";
    PaymentProofRequired "payment_proof_required" false "The transfer's sender has to sign for it." "Sign the text in the response with the key that sent the transfer (personal_sign), and repeat the request with the signature in X-Service-Payment-Proof; do not transfer again.";
    TransfersNotTaken "transfers_not_taken" false "This service does not accept transfers: its endpoints from before x402 version 2 are disabled." "Buy at /v1/x402/access; do not transfer anything.";
    MarginRejected "margin_rejected" false "The price would not currently cover our costs." "Choose a more expensive tier, or try again later.";
    CacheMiss "cache_miss" false "The tier only reads the cache, and the page is not cached." "Choose a tier that fetches.";
    RetryCreditRequired "retry_credit_required" false "The retry endpoint needs a credit." "Send the X-Service-Retry-Credit from the 503.";
    RetryCreditInvalid "retry_credit_invalid" false "The credit is unknown, used, expired or for another purchase." "Send the original payment again to get its outcome before you buy again.";
    SignInRequired "sign_in_required" false "Purchases are shown only to the wallet that paid for them." "Sign the challenge in `extensions` with the paying key (sign-in-with-x) and repeat the request with the header SIGN-IN-WITH-X; nothing is paid.";
    SignInInvalid "sign_in_invalid" false "The SIGN-IN-WITH-X header is not accepted." "Correct what `detail` names, sign the fresh challenge in `extensions`, and repeat the request; each nonce works once.";
    PurchaseNotFound "purchase_not_found" false "You have no such purchase in the last 30 days." "List your purchases at /v1/x402/purchases.";
    AnswerExpired "answer_expired" false "The answer of this purchase is no longer stored." "Buy the page again; a report can be read for 30 days.";
    QuoteNotFound "quote_not_found" false "No such quote." "Request a new quote.";
    QuoteExpired "quote_expired" false "The quote is older than 7 days." "Request a new quote.";
    ReportNotFound "report_not_found" false "No such report: it may have expired or been deleted." "Check the identifier; reports begin with ppr_.";
    NotOfferedForReport "not_offered_for_report" false "The report exists, but this is not offered for reports of its kind." "Read the report at /v1/proof-pack/reports/{report_id}; it links what is offered for it.";
    ReportExpired "report_expired" false "The report is older than 30 days." "Buy a new one for the same source and question.";
    AlreadyPaid "already_paid" false "This request has already been paid." "Open the page that the payment provider sent you to, or see /proof-pack/bundle/recover.";
    SessionNotFound "session_not_found" false "Unknown checkout session." "Use the page that the payment provider sent you to, or the link in our e-mail if this service sends e-mail: see /proof-pack/bundle/recover.";
    LinkExpired "link_expired" false "The link is older than 30 days or invalid." "Use the page that the payment provider sent you to; /proof-pack/bundle/recover sends a new link if this service sends e-mail.";
    NoMail "no_mail" false "This service sends no e-mail, and links to orders are only sent by e-mail." "Use the link from the payment page, or contact the operator at /contact.";
    InvalidSignature "invalid_signature" false "The event's signature is invalid or too old." "Check the webhook's signing secret, and the clocks on both sides.";
    WebhookNotTaken "webhook_not_taken" true "This service does not accept payment provider events." "The operator has to set bundles.webhook_secrets. Send the event again after that.";
    Conflict "conflict" true "The same payment, payment id or credit is being used by another request." "Wait and repeat the same request.";
    PaymentIdentifierUsed "payment_identifier_used" false "The payment identifier belongs to another of your purchases." "Send a new identifier with each purchase; this payment was not used.";
    RateLimited "rate_limited" true "Too many requests in a period, or too many at the same time." "Wait as long as Retry-After says; a payment in the request was not used.";
    UpstreamUnavailable "upstream_unavailable" true "The target, or a service that we depend on, does not respond." "Use the retry credit, or try again later.";
    NetworkUnavailable "network_unavailable" true "The payment network does not respond." "Repeat the same request; do not sign again.";
    SettlementUnknown "settlement_unknown" true "The payment was sent for settlement and its outcome is not known yet." "Use the retry credit or repeat the same payment; do not sign again.";
    Paused "paused" true "The operator has paused sales." "Repeat the same request later.";
    ForeignOrigin "foreign_origin" false "The form was sent from another site." "Use the form on this service's own page; programs send JSON without Origin.";
    HttpsRequired "https_required" false "The request was sent without TLS." "Send it to the https address that `detail` names. If it carried a payment, sign a new one.";
    Overloaded "overloaded" true "The service is at its limits." "Try again in a few seconds.";
    NotFound "not_found" false "There is nothing at this address." "See /docs for the endpoints.";
    MethodNotAllowed "method_not_allowed" false "The endpoint does not support this method." "Use a method from the Allow header.";
    RequestTimeout "request_timeout" true "The request body took too long to arrive." "Send the whole body without pauses.";
    BodyTooLarge "body_too_large" false "The request body is larger than 64 KiB, or 256 KiB for the payment provider's events." "Send a smaller body.";
    UriTooLong "uri_too_long" false "The address is longer than 8,192 bytes." "Send long input in a request body; a long list of sources to POST /v1/quotes.";
    UnsupportedMediaType "unsupported_media_type" false "The body is not sent as JSON." "Send Content-Type: application/json.";
    UnsupportedTransferCoding "unsupported_transfer_coding" false "The body uses a transfer coding other than chunked." "Send the body with Content-Length, or with only Transfer-Encoding: chunked.";
    HeadersTooLarge "headers_too_large" false "The header block is larger than 16,384 bytes." "Send fewer or shorter headers.";
    Internal "internal" true "An internal error occurred." "Repeat the same request; a payment is never charged twice.";
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
