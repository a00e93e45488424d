//! Bodies of all other requests: quotes, leads, messages, retained reports, the brokerage, diagnoses.

use crate::domain::lead::{CONTACT_CHARACTERS_MAX, LABEL_CHARACTERS_MAX, NOTES_CHARACTERS_MAX};
use crate::domain::schema::{Field, Kind, Object};
use crate::domain::shapes::purchases::{
    BUNDLE, FORCE_REFRESH, PACK, QUESTION, SOURCE_URL, TARGET_URL, TARGET_URLS, TIER,
};
use crate::domain::shapes::{HONEYPOT, QUOTED_PRODUCTS, TARGET_URL_CHARACTERS_MAX};

/// Longest attribution that is read at all; one that does not fit is dropped.
const SOURCE_CHARACTERS_MAX: usize = 256;
/// Longest name that an agent may give itself.
const AGENT_ID_CHARACTERS_MAX: usize = 256;

const SOURCE: Field = Field {
    name: "source",
    kind: Kind::Text {
        characters_max: SOURCE_CHARACTERS_MAX,
    },
    required: false,
    default: None,
    doc: "The referral source: a label, not a credential.",
    example: "\"newsletter\"",
};

/// Body that asks for a quote and its receipt.
pub static QUOTE_REQUEST: Object = Object {
    name: "QuoteRequest",
    doc: "What to quote. target_url and tier belong to the product context; target_url, pack and question to \
          proof_pack; target_urls, bundle and question to proof_bundle. Checks and several pages are quoted by GET \
          /v1/x402/check/quote and by GET /v1/x402/quote with target_urls; those quotes are not stored.",
    fields: &[
        Field {
            name: "product",
            kind: Kind::OneOf(&QUOTED_PRODUCTS),
            required: true,
            default: None,
            doc: "The product to quote.",
            example: "\"proof_pack\"",
        },
        Field {
            required: false,
            doc: "Absolute public HTTP or HTTPS URL of the page; required for context and proof_pack.",
            ..TARGET_URL
        },
        Field {
            required: false,
            doc: "The sources, for the product proof_bundle: public URLs or bare domains.",
            ..TARGET_URLS
        },
        Field {
            doc: "The tier to quote, for the product context.",
            ..TIER
        },
        Field {
            doc: "The pack to quote, for the product proof_pack.",
            ..PACK
        },
        Field {
            doc: "The bundle to quote, for the product proof_bundle. Default: builder, or audit for more sources; \
                  recommended_bundle in the answer is the smallest that fits, which a purchase without a bundle is of.",
            ..BUNDLE
        },
        QUESTION,
        SOURCE,
    ],
    closed: true,
};

/// For each product of [`QUOTE_REQUEST`]: its name, the member that it needs, and those that belong to the others.
#[rustfmt::skip]
pub const QUOTE_BELONGINGS: [(&str, &str, &[&str]); 3] = [
    (QUOTED_PRODUCTS[0], "target_url", &["target_urls", "pack", "bundle", "question"]),
    (QUOTED_PRODUCTS[1], "target_url", &["target_urls", "tier", "bundle"]),
    (QUOTED_PRODUCTS[2], "target_urls", &["target_url", "tier", "pack"]),
];

/// Body of a request for a lost delivery.
pub static RECOVER_REQUEST: Object = Object {
    name: "BundleRecoverRequest",
    doc: "Identifies the buyer of a lost delivery.",
    fields: &[
        Field {
            name: "email",
            kind: Kind::Text {
                characters_max: CONTACT_CHARACTERS_MAX,
            },
            required: true,
            default: None,
            doc: "The e-mail address used at checkout.",
            example: "\"you@example.com\"",
        },
        Field {
            name: "target_url",
            kind: Kind::Text {
                characters_max: TARGET_URL_CHARACTERS_MAX,
            },
            required: true,
            default: None,
            doc: "One of the submitted sources, in full or as a bare domain.",
            example: "\"https://example.com/\"",
        },
    ],
    closed: true,
};

const CONTACT: Field = Field {
    name: "contact",
    kind: Kind::Text {
        characters_max: CONTACT_CHARACTERS_MAX,
    },
    required: true,
    default: None,
    doc: "Your contact, preferably an e-mail address, to which a bundle is delivered.",
    example: "\"you@example.com\"",
};

const USE_CASE: Field = Field {
    name: "use_case",
    kind: Kind::Text {
        characters_max: NOTES_CHARACTERS_MAX,
    },
    required: false,
    default: None,
    doc: "The use case of the evidence.",
    example: "\"Choosing a vendor\"",
};

const BUDGET: Field = Field {
    name: "budget_usdc",
    kind: Kind::Text {
        characters_max: LABEL_CHARACTERS_MAX,
    },
    required: false,
    default: None,
    doc: "Your budget, for example per month.",
    example: "\"50 a month\"",
};

const NOTES: Field = Field {
    name: "notes",
    doc: "Further notes.",
    example: "\"Needed by Friday\"",
    ..USE_CASE
};

const QUOTE_ID: Field = Field {
    name: "quote_id",
    kind: Kind::Text {
        characters_max: LABEL_CHARACTERS_MAX,
    },
    required: false,
    default: None,
    doc: "The quote for this request.",
    example: "\"bq_00000000000000000000000000000000\"",
};

const WEBSITE: Field = Field {
    name: HONEYPOT,
    kind: Kind::Text {
        characters_max: NOTES_CHARACTERS_MAX,
    },
    required: false,
    default: None,
    doc: "Omit this. Requests that fill it in are treated as robots and dropped.",
    example: "\"\"",
};

/// Body of a request for a report.
pub static PACK_LEAD_REQUEST: Object = Object {
    name: "PackLeadRequest",
    doc: "A request for a report on one source, for manual follow-up.",
    fields: &[
        CONTACT, SOURCE_URL, QUESTION, LEAD_PACK, USE_CASE, BUDGET, SOURCE, NOTES, QUOTE_ID,
        WEBSITE,
    ],
    closed: true,
};

const LEAD_PACK: Field = Field {
    doc: "How thorough the report should be.",
    ..PACK
};

/// Body of a request for a bundle.
pub static BUNDLE_LEAD_REQUEST: Object = Object {
    name: "BundleLeadRequest",
    doc: "A request for an Evidence Bundle; the response says where to pay.",
    fields: &[
        CONTACT,
        TARGET_URLS,
        QUESTION,
        BUNDLE,
        USE_CASE,
        BUDGET,
        SOURCE,
        NOTES,
        QUOTE_ID,
        WEBSITE,
    ],
    closed: true,
};

/// Body of a message to the operator.
pub static CONTACT_REQUEST: Object = Object {
    name: "ContactRequest",
    doc: "A message to the operator.",
    fields: &[
        Field {
            name: "email",
            doc: "Your e-mail address for the reply.",
            ..CONTACT
        },
        Field {
            name: "message",
            required: true,
            doc: "Your message.",
            example: "\"Do you read PDF files?\"",
            ..USE_CASE
        },
        Field {
            name: "name",
            doc: "Your name.",
            example: "\"Ada\"",
            ..BUDGET
        },
        SOURCE,
        WEBSITE,
    ],
    closed: true,
};

/// Body of a question to a retained report.
pub static FOLLOW_UP_REQUEST: Object = Object {
    name: "FollowUpRequest",
    doc: "A follow-up question about a report's stored source.",
    fields: &[Field {
        required: true,
        default: None,
        ..QUESTION
    }],
    closed: true,
};

/// Body of a request to quote a report again. All of it may be absent.
pub static REFRESH_REQUEST: Object = Object {
    name: "RefreshRequest",
    doc: "Changes compared with the refreshed report.",
    fields: &[
        Field {
            default: None,
            doc: "The pack of the new report. Default: the old report's.",
            ..PACK
        },
        Field {
            default: None,
            doc: "The question of the new report. Default: the old report's.",
            ..QUESTION
        },
        Field {
            default: Some("true"),
            doc: "Whether the new report skips the cache.",
            ..FORCE_REFRESH
        },
    ],
    closed: true,
};

/// Body that shares a report.
pub static SHARE_REQUEST: Object = Object {
    name: "ShareRequest",
    doc: "How to share a report. All members are optional.",
    fields: &[Field {
        name: "listed",
        kind: Kind::Flag,
        required: false,
        default: Some("false"),
        doc: "Whether to list it among the public reports, after the operator's approval.",
        example: "false",
    }],
    closed: true,
};

const AGENT_ID: Field = Field {
    name: "agent_id",
    kind: Kind::Text {
        characters_max: AGENT_ID_CHARACTERS_MAX,
    },
    required: true,
    default: None,
    doc: "The agent that offers the task.",
    example: "\"agent-1\"",
};

const TASK_PAYLOAD: Field = Field {
    name: "task_payload",
    kind: Kind::Free,
    required: true,
    default: None,
    doc: "The task; it is neither run nor stored.",
    example: "{}",
};

const OFFERED_FEE: Field = Field {
    name: "offered_fee",
    kind: Kind::Number,
    required: true,
    default: None,
    doc: "The offered fee, in USDC.",
    example: "0.02",
};

/// Body of the simulated brokerage.
pub static COMPUTE_REQUEST: Object = Object {
    name: "ComputeRequest",
    doc: "A task whose acceptance is simulated.",
    fields: &[AGENT_ID, TASK_PAYLOAD, OFFERED_FEE],
    closed: false,
};

/// Longest pasted header: a payment's 16 KiB and room for a name and breaks.
const HEADER_CHARACTERS_MAX: usize = 20_000;

/// Body that asks what is wrong with a payment.
pub static DIAGNOSE_REQUEST: Object = Object {
    name: "DiagnoseRequest",
    doc: "A payment header to diagnose. It is neither forwarded nor stored.",
    fields: &[Field {
        name: "header",
        kind: Kind::Text {
            characters_max: HEADER_CHARACTERS_MAX,
        },
        required: true,
        default: None,
        doc: "The value of PAYMENT-SIGNATURE, PAYMENT-REQUIRED or PAYMENT-RESPONSE, or the JSON that it encodes.",
        example: "\"PAYMENT-SIGNATURE: eyJ4NDAyVmVyc2lvbiI6MiwicGF5bG9hZCI6e319\"",
    }],
    closed: true,
};
