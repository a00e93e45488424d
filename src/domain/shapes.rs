//! The field tables themselves: one row per member of a request body (specification section 2).

use crate::domain::schema::{Field, Kind, Object};
use crate::domain::tier::Tier;

/// Longest target URL (decisions, Numbers).
pub const TARGET_URL_CHARACTERS_MAX: usize = 2048;

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
};

/// Every body shape, for OpenAPI's components and the table tests.
pub static ALL: [&Object; 1] = [&ACCESS_REQUEST];
