//! Sections of the reference that are the same in every deployment: headers, responses, retry credits, limits.

use maud::{Markup, html};

use crate::pages::parts;

/// Header, who sends it, what it means.
const HEADERS: [(&str, &str, &str); 24] = [
    (
        "PAYMENT-SIGNATURE",
        "you",
        "The signed payment, base64 of an x402 PaymentPayload.",
    ),
    (
        "SIGN-IN-WITH-X",
        "you",
        "A signed statement of the paying wallet, to read purchases again: base64 JSON.",
    ),
    ("X-Service-Tier", "you", "The tier, if not in the query."),
    ("X-Service-Pack", "you", "The pack, if not in the query."),
    (
        "X-Service-Bundle",
        "you",
        "The bundle, if not in the query.",
    ),
    ("X-Service-Depth", "you", "The depth, if not in the query."),
    (
        "X-Service-Retry-Credit",
        "you, us",
        "A retry credit, issued with a 503 and used at /v1/x402/retry.",
    ),
    (
        "X-Service-Payment-Hash",
        "you",
        "Only for /v1/access: the transaction hash of your transfer.",
    ),
    (
        "X-Service-Payment-Proof",
        "you",
        "Only for /v1/access: a signature by the transfer's sender.",
    ),
    (
        "Idempotency-Key",
        "you",
        "Only for /v1/access: a secret you choose, to request a lost response again.",
    ),
    (
        "X-Service-Source",
        "you",
        "Your referral source. Optional; not a credential.",
    ),
    (
        "PAYMENT-REQUIRED",
        "us",
        "With a 402: the challenge, the body in base64.",
    ),
    (
        "X-Payment-Required",
        "us",
        "The same as PAYMENT-REQUIRED, for older clients.",
    ),
    (
        "PAYMENT-RESPONSE",
        "us",
        "The settlement receipt, base64 of JSON; the proof that you paid.",
    ),
    ("X-Service-Payment-Tier", "us", "The priced or paid tier."),
    ("X-Service-Payment-Pack", "us", "The priced or paid pack."),
    (
        "X-Service-Payment-Bundle",
        "us",
        "The priced or paid bundle.",
    ),
    ("X-Service-Payment-Depth", "us", "The priced or paid depth."),
    (
        "X-Service-Payment-Error",
        "us",
        "With a 402 after a payment: why the payment was rejected, for people. Programs read error in the body.",
    ),
    (
        "X-Service-Cache",
        "us",
        "hit or miss: whether a cached copy was delivered.",
    ),
    (
        "ETag",
        "us",
        "content_sha256 of the page, or result_hash of the report.",
    ),
    (
        "X-Markdown-Tokens",
        "us",
        "Estimated number of tokens in the markdown.",
    ),
    ("Retry-After", "us", "Seconds to wait before you try again."),
    (
        "X-Request-Id",
        "us",
        "Identifies this request; include it when you ask for help.",
    ),
];

pub(crate) fn headers() -> Markup {
    let table = html! {
        table {
            thead { tr { th { "Header" } th { "Sent by" } th { "Meaning" } } }
            tbody {
                @for (name, sender, meaning) in HEADERS {
                    tr { td.tight { code { (name) } } td.tight { (sender) } td.long { (meaning) } }
                }
            }
        }
    };
    html! { h2 #headers { "Headers" } (parts::scrolling("Headers", &table)) }
}

/// Field and meaning of a report.
const REPORT: [(&str, &str); 12] = [
    (
        "answer, executive_summary",
        "What the source establishes, in one sentence and in a few.",
    ),
    (
        "decision, confidence_score",
        "supported, partially_supported, weak, unsupported or contradicted, and the engine's estimate that this label is right. In a bundle also contested: its sources contradict each other.",
    ),
    (
        "decision.answer_value, decision.reliability",
        "The answer in a few words, if there is one; and how often this label was right on questions of this kind, if measured.",
    ),
    (
        "agent_action, recommended_next_call",
        "What a program should do with the result, and which call to make next.",
    ),
    (
        "citations",
        "Verbatim excerpts of the source's markdown, each with an identifier and its position in UTF-8 bytes; as plain text (quote), with the sentences before and after, a link to the passage on the page, and the speaker and date that it names.",
    ),
    (
        "comparisons",
        "Each figure of the question beside the one in the source: same, within, differs or not_found; where it differs, whether the one of the question is less, more, earlier or later.",
    ),
    (
        "key_claims, supported_findings, gaps",
        "The claims with their citations, and what the source does not establish.",
    ),
    (
        "risks, source_profile, source_quality_score",
        "Codes of reasons for caution, explained in risk_details; publisher, date and quality of the source.",
    ),
    (
        "analysis",
        "How the question was interpreted, how each part was judged, and how thoroughly the source was read (depth).",
    ),
    (
        "result_hash, source_hash",
        "SHA-256 of the report as canonical JSON (RFC 8785), and of the source's markdown.",
    ),
    (
        "report_url, source_text_url, verify_url, follow_up_url, refresh_url",
        "Where to read the stored report and its source text, verify it, ask a follow-up question and get a new quote, all free.",
    ),
    ("cache, payment, ueg_receipt", "As in the page response."),
];

/// Field and meaning of the page response.
const ANSWER: [(&str, &str); 9] = [
    ("status", "Always success in a 200."),
    (
        "target_url, final_url",
        "The requested address, and the address after redirects.",
    ),
    ("tier", "The tier as resolved."),
    ("markdown", "The cleaned page."),
    (
        "metadata, headings, links",
        "Title, author, dates, language, next and previous page, JSON-LD types; the outline; the links.",
    ),
    (
        "content_sha256, source_sha256",
        "SHA-256 of the markdown, and of the fetched bytes.",
    ),
    (
        "warnings, policy",
        "Reasons for caution; what robots.txt, headers and meta tags say about using the page.",
    ),
    (
        "cache",
        "Whether a cached copy was used, its age and its expiry; shared is false if the site’s Cache-Control forbids selling the copy to others.",
    ),
    (
        "payment, ueg_receipt",
        "Amount, payer and transaction; what the delivery cost us.",
    ),
];

pub(crate) fn answer() -> Markup {
    let table = html! {
        table {
            thead { tr { th { "Fields" } th { "Meaning" } } }
            tbody {
                @for (names, meaning) in ANSWER {
                    tr { td.long { (field_names(names)) } td.long { (meaning) } }
                }
            }
        }
    };
    let report = html! {
        table {
            thead { tr { th { "Fields" } th { "Meaning" } } }
            tbody {
                @for (names, meaning) in REPORT {
                    tr { td.long { (field_names(names)) } td.long { (meaning) } }
                }
            }
        }
    };
    html! {
        h2 #answer { "Page response" }
        p {
            "A paid conversion returns 200 with this JSON. With " code { "Accept: text/markdown" } " the body is the markdown "
            "with a short front matter. Fields may be added later, but none will be removed."
        }
        (parts::scrolling("Fields of a page response", &table))
        h2 #report { "Report" }
        p {
            "A Proof Pack returns 200 with this JSON. It is stored for 30 days; anyone who knows its " code { "report_id" }
            " can read it. There is a free " a href="/v1/proof-pack/sample" { "sample" } "."
        }
        (parts::scrolling("Fields of a report", &report))
    }
}

fn field_names(names: &str) -> Markup {
    html! {
        @for (index, name) in names.split(", ").enumerate() {
            @if index > 0 { ", " }
            code { (name) }
        }
    }
}

pub(crate) fn retry() -> Markup {
    html! {
        h2 #retry { "Retry credits" }
        p {
            "If an outage prevents delivery after your payment was accepted, the response is 503 with "
            code { "X-Service-Retry-Credit" } ". Send the same body to " code { "POST /v1/x402/retry" }
            " with that header. You do not pay again."
        }
        ul {
            li { "A credit is valid for three attempts and 15 minutes, for the same target, tier or pack, question and cache mode." }
            li { "A payment that was not settled yet is settled only when the retry delivers." }
            li { "Never sign a new payment after a 503: the first one may still settle." }
        }
    }
}

pub(crate) fn purchases() -> Markup {
    html! {
        h2 #purchases { "Read purchases again" }
        p {
            code { "GET /v1/x402/purchases" } " lists what a wallet has paid for in the last 30 days, and "
            code { "GET /v1/x402/purchases/{purchase_id}" } " returns one of the responses again. Both are free. The wallet signs in "
            "(x402 extension " code { "sign-in-with-x" } ", EIP-4361) in place of paying."
        }
        ul {
            li {
                "A request without a signature gets 402 with " code { "accepts: []" } " and the fields of the statement in "
                code { "extensions[\"sign-in-with-x\"]" } ", both in the body and in " code { "PAYMENT-REQUIRED" } "."
            }
            li {
                "Sign the statement with the key that paid, and repeat the request with the signed statement as base64 JSON in "
                code { "SIGN-IN-WITH-X" } ". The official client extension does both."
            }
            li { "Each nonce works once and for five minutes, so each request needs a challenge of its own." }
            li { "A page's answer is stored for 15 minutes after it was sent, or for 7 days if you never received it; a report for 30 days. Later the response is 410." }
            li { code { "limit" } " (1 to 100) and " code { "before" } " (a purchase_id) page through the list; " code { "pagination.next" } " is the address of the next part." }
        }
    }
}

pub(crate) fn transfers() -> Markup {
    html! {
        h2 #transfers { "Direct transfers" }
        p {
            "Clients without x402 can transfer the price themselves and send the transaction hash to "
            code { "POST /v1/access" } " in " code { "X-Service-Payment-Hash" } ". Without the header the response is 402 with the recipient, the "
            "required confirmations and the maximum age of a transfer. If the operator has not enabled direct transfers, it "
            "says so; then do not transfer anything."
        }
        ul {
            li { "Each transfer buys once. A refused request leaves it unused, and a retry credit reserves it." }
            li {
                "Transaction hashes are public, so only the sender can use a transfer. The first response to a hash is 400 "
                code { "payment_proof_required" } " with the text to sign in " code { "payment_proof.text" } ": sign it with the key that sent the transfer "
                "(personal_sign, EIP-191), and repeat the request with the signature (0x and 130 hex digits) in "
                code { "X-Service-Payment-Proof" } ". For 15 minutes, the same request with the same signature returns the same response."
            }
            li {
                "An operator may turn this check off. Then the first to send a hash owns it: send yours at once, with an "
                code { "Idempotency-Key" } " of 16 to 128 characters that only you know, which lets the same request be answered "
                "again."
            }
            li { "Overpayments are not refunded automatically." }
            li { "The settlement of a signed payment does not count as a transfer: x402 payments go to " code { "/v1/x402/access" } "." }
        }
    }
}

pub(crate) fn signatures() -> Markup {
    html! {
        h2 #signatures { "Signed offers and receipts" }
        p {
            "If this service has a signing key, each 402 carries a signed offer and each settled response a receipt in " code { "PAYMENT-RESPONSE" } " (x402 extension " code { "offer-receipt" } ", format JWS, EdDSA). The "
            "receipt names payer, transaction, address and time, and the delivered content in " code { "contentSha256" } ". "
            "The public key is at " code { "/.well-known/did.json" } " and " code { "/.well-known/jwks.json" } "; "
            code { "context402 buy" } " checks both signatures."
        }
    }
}

/// Limit and value.
const LIMITS: [(&str, &str); 10] = [
    ("Page size", "5,242,880 bytes"),
    ("Target ports", "80 and 443"),
    ("Target address", "2,048 characters"),
    ("Question", "1,000 characters"),
    ("Request body", "64 KiB"),
    ("Validity of a payment", "300 seconds"),
    ("Retry credit", "3 attempts, 15 minutes at most"),
    ("Quote receipt", "7 days"),
    ("Cached pages", "24 hours"),
    ("Stored reports", "30 days"),
];

pub(crate) fn limits() -> Markup {
    html! {
        h2 #limits { "Limits" }
        dl.facts { @for (name, value) in LIMITS { dt { (name) } dd { (value) } } }
        p {
            "Requests are rate-limited by client, payer and target domain. A 429 carries " code { "Retry-After" } "."
        }
    }
}
