//! The field tables themselves: one row per member of a request body (specification section 2).

use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::schema::{Field, Kind, Object};
use crate::domain::tier::Tier;

/// Longest target URL (decisions, Numbers).
pub const TARGET_URL_CHARACTERS_MAX: usize = 2048;
/// Longest question (decisions, Numbers).
pub const QUESTION_CHARACTERS_MAX: usize = 1000;
/// Longest attribution that is read at all; one that does not fit is dropped.
const SOURCE_CHARACTERS_MAX: usize = 256;
/// Longest name that an agent may give itself.
const AGENT_ID_CHARACTERS_MAX: usize = 256;

const TARGET_URL: Field = Field {
    name: "target_url",
    kind: Kind::Url {
        characters_max: TARGET_URL_CHARACTERS_MAX,
    },
    required: true,
    default: None,
    doc: "Absolute public HTTP or HTTPS URL of the page.",
    example: "\"https://example.com/\"",
};

const TIER: Field = Field {
    name: "tier",
    kind: Kind::OneOf(&Tier::NAMES),
    required: false,
    default: Some("\"fresh\""),
    doc: "Must agree with the query parameter `tier` or the header X-Service-Tier where one is sent.",
    example: "\"fresh\"",
};

const FORCE_REFRESH: Field = Field {
    name: "force_refresh",
    kind: Kind::Flag,
    required: false,
    default: Some("false"),
    doc: "Skips reading the cache. Not supported for the tiers that never fetch, cached and starter.",
    example: "false",
};

/// Body of the context endpoint and of the retry endpoint (specification 2.4).
pub static ACCESS_REQUEST: Object = Object {
    name: "AccessRequest",
    doc: "Which page to convert, and how fresh it must be.",
    fields: &[TARGET_URL, TIER, FORCE_REFRESH],
    closed: true,
};

const SOURCE_URL: Field = Field {
    doc: "Absolute public HTTP or HTTPS URL of the source.",
    ..TARGET_URL
};

const QUESTION: Field = Field {
    name: "question",
    kind: Kind::Text {
        characters_max: QUESTION_CHARACTERS_MAX,
    },
    required: false,
    default: Some("\"What does this source establish?\""),
    doc: "A question or a claim that the source is examined for.",
    example: "\"Does it work without an account?\"",
};

const PACK: Field = Field {
    name: "pack",
    kind: Kind::OneOf(&Pack::NAMES),
    required: false,
    default: Some("\"standard\""),
    doc: "Must agree with the query parameter `pack` or the header X-Service-Pack where one is sent.",
    example: "\"standard\"",
};

const PACK_FORCE_REFRESH: Field = Field {
    default: None,
    doc: "Skips reading the cache. Absent, it is true for the pack deep and false for the others.",
    ..FORCE_REFRESH
};

/// Body of the Proof Pack endpoint (specification 2.5), and of the retry endpoint for a Proof Pack's credit.
pub static PROOF_PACK_REQUEST: Object = Object {
    name: "ProofPackRequest",
    doc: "Which source to examine, for what, and how thoroughly.",
    fields: &[SOURCE_URL, QUESTION, PACK, PACK_FORCE_REFRESH],
    closed: true,
};

/// Body that asks for a quote and its receipt.
pub static QUOTE_REQUEST: Object = Object {
    name: "QuoteRequest",
    doc: "What to quote. A tier belongs to the product context; pack and question belong to proof_pack.",
    fields: &[
        Field {
            name: "product",
            kind: Kind::OneOf(&Product::NAMES),
            required: true,
            default: None,
            doc: "What is to be bought.",
            example: "\"proof_pack\"",
        },
        TARGET_URL,
        Field {
            doc: "The tier to quote, for the product context.",
            ..TIER
        },
        Field {
            doc: "The pack to quote, for the product proof_pack.",
            ..PACK
        },
        QUESTION,
        Field {
            name: "source",
            kind: Kind::Text {
                characters_max: SOURCE_CHARACTERS_MAX,
            },
            required: false,
            default: None,
            doc: "Where the buyer came from: a label, no credential.",
            example: "\"newsletter\"",
        },
    ],
    closed: true,
};

/// Body of a question to a retained report.
pub static FOLLOW_UP_REQUEST: Object = Object {
    name: "FollowUpRequest",
    doc: "A further question to the source that a report has kept.",
    fields: &[Field {
        required: true,
        default: None,
        ..QUESTION
    }],
    closed: true,
};

/// Body of a request to quote a report anew. All of it may be absent.
pub static REFRESH_REQUEST: Object = Object {
    name: "RefreshRequest",
    doc: "What is to differ from the report that is refreshed.",
    fields: &[
        Field {
            default: None,
            doc: "The pack of the new report; the report's own when absent.",
            ..PACK
        },
        Field {
            default: None,
            doc: "The question of the new report; the report's own when absent.",
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
    doc: "How a report is shared. All of it may be absent.",
    fields: &[Field {
        name: "listed",
        kind: Kind::Flag,
        required: false,
        default: Some("false"),
        doc: "Whether the library names it.",
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
    doc: "Who offers the task.",
    example: "\"agent-1\"",
};

const TASK_PAYLOAD: Field = Field {
    name: "task_payload",
    kind: Kind::Free,
    required: true,
    default: None,
    doc: "The task; it is neither run nor kept.",
    example: "{}",
};

const OFFERED_FEE: Field = Field {
    name: "offered_fee",
    kind: Kind::Number,
    required: true,
    default: None,
    doc: "The fee that is offered, in USDC.",
    example: "0.02",
};

/// Body of the simulated brokerage (specification 2.6).
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
    doc: "A payment header to look at. It is neither sent on nor kept.",
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

/// Every body shape, for OpenAPI's components and the table tests.
pub static ALL: [&Object; 8] = [
    &ACCESS_REQUEST,
    &PROOF_PACK_REQUEST,
    &QUOTE_REQUEST,
    &FOLLOW_UP_REQUEST,
    &REFRESH_REQUEST,
    &SHARE_REQUEST,
    &COMPUTE_REQUEST,
    &DIAGNOSE_REQUEST,
];
