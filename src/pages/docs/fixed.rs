//! Sections of the reference that hold for every deployment: headers, the answer, retry credits, limits.

use maud::{Markup, html};

use crate::pages::parts;

/// Header, who sends it, what it means (specification sections 5 and 7).
const HEADERS: [(&str, &str, &str); 19] = [
    (
        "PAYMENT-SIGNATURE",
        "you",
        "The signed payment, base64 of an x402 PaymentPayload.",
    ),
    (
        "X-Service-Tier",
        "you",
        "The tier, when it is not in the query.",
    ),
    (
        "X-Service-Pack",
        "you",
        "The pack, when it is not in the query.",
    ),
    (
        "X-Service-Retry-Credit",
        "you, us",
        "A retry credit: given with a 503, spent at /v1/x402/retry.",
    ),
    (
        "X-Service-Payment-Hash",
        "you",
        "At /v1/access alone: the hash of a transfer that you have made.",
    ),
    (
        "X-Service-Payment-Proof",
        "you",
        "At /v1/access alone: the signature of the transfer's sender.",
    ),
    (
        "Idempotency-Key",
        "you",
        "At /v1/access alone: a secret of yours, by which a lost answer can be asked for again.",
    ),
    (
        "X-Service-Source",
        "you",
        "Where you heard of us. Optional, and not a credential.",
    ),
    (
        "PAYMENT-REQUIRED",
        "us",
        "With a 402: the challenge, base64 of the body.",
    ),
    (
        "X-Payment-Required",
        "us",
        "The same as PAYMENT-REQUIRED, for older clients.",
    ),
    (
        "PAYMENT-RESPONSE",
        "us",
        "The settlement receipt, base64 of JSON; the authority on whether you paid.",
    ),
    (
        "X-Service-Payment-Tier",
        "us",
        "The tier that was priced or paid for.",
    ),
    (
        "X-Service-Payment-Pack",
        "us",
        "The pack that was priced or paid for.",
    ),
    (
        "X-Service-Payment-Error",
        "us",
        "With a 402 after a payment: why it was not taken, as a sentence. The body's error is the word for programs.",
    ),
    (
        "X-Service-Cache",
        "us",
        "hit or miss: whether a kept copy was delivered.",
    ),
    (
        "ETag",
        "us",
        "Of what was paid for: its content_sha256, or a report's result_hash.",
    ),
    (
        "X-Markdown-Tokens",
        "us",
        "About how many tokens the markdown has.",
    ),
    ("Retry-After", "us", "Seconds to wait before you try again."),
    (
        "X-Request-Id",
        "us",
        "Names this request; quote it when you ask for help.",
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

/// Field and meaning of a report (specification 2.8).
const REPORT: [(&str, &str); 9] = [
    (
        "answer, executive_summary",
        "What the source establishes, in a sentence and in a few.",
    ),
    (
        "decision, confidence_score",
        "supported, partially_supported, weak, unsupported or contradicted; how likely that label is right.",
    ),
    (
        "agent_action, recommended_next_call",
        "What a program should do with it, and what to ask next.",
    ),
    (
        "citations",
        "Verbatim slices of the source's markdown, each with its identifier and its place in bytes of UTF-8.",
    ),
    (
        "key_claims, supported_findings, gaps",
        "What is claimed, on which citations; what they do not carry.",
    ),
    (
        "risks, source_profile, source_quality_score",
        "Why to be careful; who speaks, when, and how good a source it is.",
    ),
    (
        "result_hash, source_hash",
        "SHA-256 of the report in the form of RFC 8785, and of the source's markdown.",
    ),
    (
        "report_url, verify_url, follow_up_url, refresh_url",
        "Where the retained report is read, checked, asked and quoted anew, without payment.",
    ),
    (
        "cache, payment, ueg_receipt",
        "As in the answer for a page.",
    ),
];

/// Field and meaning of the context answer (specification 2.7).
const ANSWER: [(&str, &str); 9] = [
    ("status", "Always success in a 200."),
    (
        "target_url, final_url",
        "What you asked for, and where redirects led.",
    ),
    ("tier", "The tier as resolved."),
    ("markdown", "The cleaned page."),
    (
        "metadata, headings, links",
        "Title, author, dates, language, next and previous page, JSON-LD types; the outline; the links that were kept.",
    ),
    (
        "content_sha256, source_sha256",
        "SHA-256 of the markdown, and of the bytes it was made from.",
    ),
    (
        "warnings, policy",
        "What to be careful about; what robots.txt, headers and meta tags say about the use of the page.",
    ),
    (
        "cache",
        "Whether a kept copy was used, how old it is, and until when it is kept; shared is false where the site’s Cache-Control keeps the page from being sold to others.",
    ),
    (
        "payment, ueg_receipt",
        "What was paid, by whom, in which transaction; what it cost us to deliver.",
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
        h2 #answer { "The answer" }
        p {
            "A paid conversion answers 200 with this JSON. With " code { "Accept: text/markdown" } " the body is the "
            "markdown alone, under a short front matter. Fields may be added later; none is taken away."
        }
        (parts::scrolling("Fields of a paid answer", &table))
        h2 #report { "The report" }
        p {
            "A Proof Pack answers 200 with this JSON. It is retained for 30 days under its " code { "report_id" }
            ", readable by the one who knows it; " a href="/v1/proof-pack/sample" { "a sample" } " is there for nothing."
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
            "When your payment was accepted and then an outage kept us from delivering, the answer is 503 with "
            code { "X-Service-Retry-Credit" } ". Send the same body to " code { "POST /v1/x402/retry" }
            " with that header. You do not pay again."
        }
        ul {
            li { "A credit is good for three attempts and at most 15 minutes, for the same target, tier or pack, question and cache mode." }
            li { "If your payment was not settled yet, it is settled only when the retry delivers." }
            li { "Never sign a new payment after a 503: the first one may still settle." }
        }
    }
}

pub(crate) fn transfers() -> Markup {
    html! {
        h2 #transfers { "Transfers of your own" }
        p {
            "Clients from before x402 can transfer the price themselves and send the transaction's hash to "
            code { "POST /v1/access" } " in " code { "X-Service-Payment-Hash" } ". Without the header the answer is 402 and "
            "says whom to pay, how many confirmations to wait for, and how old a transfer may be. Where the operator has "
            "not switched this on, it says so: then transfer nothing."
        }
        ul {
            li { "Each transfer buys once. What we refuse to do leaves it unused, and a retry credit holds it." }
            li {
                "Anybody can read a hash on chain, so a transfer buys for its sender alone. The first answer to a hash is 400 "
                code { "payment_proof_required" } " with the text to sign in " code { "payment_proof.text" } ": sign it with the "
                "key that has sent the transfer (personal_sign, EIP-191), and repeat the request with the signature (0x and 130 "
                "hex digits) in " code { "X-Service-Payment-Proof" } ". With it the same request is answered again for 15 minutes."
            }
            li {
                "An operator may do without that. Then the first to send a hash has it: send yours at once, with an "
                code { "Idempotency-Key" } " of 16 to 128 characters that only you know, which lets the same request be answered "
                "again."
            }
            li { "A transfer pays the price, whatever more it brings. Nothing is paid back by itself." }
            li { "A transfer that settles a signed payment is none: x402 payments go to " code { "/v1/x402/access" } "." }
        }
    }
}

pub(crate) fn signatures() -> Markup {
    html! {
        h2 #signatures { "Signed offers and receipts" }
        p {
            "Where this service has a signing key, each 402 carries its offer under signature and each settled answer a "
            "receipt in " code { "PAYMENT-RESPONSE" } " (x402 extension " code { "offer-receipt" } ", format JWS, EdDSA). The "
            "receipt names payer, transaction, address and time, and in " code { "contentSha256" } " the content that came. "
            "The public key is at " code { "/.well-known/did.json" } " and " code { "/.well-known/jwks.json" } "; "
            code { "context402 buy" } " checks both signatures."
        }
    }
}

/// Limit and value (specification section 8 and decisions, Numbers).
const LIMITS: [(&str, &str); 10] = [
    ("Page size", "5,242,880 bytes"),
    ("Target ports", "80 and 443"),
    ("Target address", "2,048 characters"),
    ("Question to a source", "1,000 characters"),
    ("Request body", "64 KiB"),
    ("Validity of a payment", "300 seconds"),
    ("Retry credit", "3 attempts, 15 minutes at most"),
    ("Quote receipt", "7 days"),
    ("Kept pages", "24 hours"),
    ("Retained reports", "30 days"),
];

pub(crate) fn limits() -> Markup {
    html! {
        h2 #limits { "Limits" }
        dl.facts { @for (name, value) in LIMITS { dt { (name) } dd { (value) } } }
        p {
            "Rates are limited by client, by payer and by target domain. A 429 carries " code { "Retry-After" } "."
        }
    }
}
