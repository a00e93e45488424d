//! The field tables themselves: one row per member of a request body (specification section 2).

use crate::domain::schema::{Field, Kind, Object};
use crate::domain::tier::Tier;

/// Longest target URL (decisions, Numbers).
pub const TARGET_URL_CHARACTERS_MAX: usize = 2048;
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

/// Every body shape, for OpenAPI's components and the table tests.
pub static ALL: [&Object; 2] = [&ACCESS_REQUEST, &COMPUTE_REQUEST];
