//! Bodies of paid requests.

use crate::domain::bundle::{self, Bundle};
use crate::domain::check::{self, CheckDepth};
use crate::domain::excerpt;
use crate::domain::level::{PAGES_MAX, PAGES_MIN};
use crate::domain::pack::Pack;
use crate::domain::render::Render;
use crate::domain::schema::{Field, Kind, Object, SourceRules};
use crate::domain::shapes::{QUESTION_CHARACTERS_MAX, TARGET_URL_CHARACTERS_MAX};
use crate::domain::source_list::LISTED_MAX;
use crate::domain::tier::Tier;

pub(super) const TARGET_URL: Field = Field {
    name: "target_url",
    kind: Kind::Url {
        characters_max: TARGET_URL_CHARACTERS_MAX,
    },
    required: true,
    default: None,
    doc: "Absolute public HTTP or HTTPS URL of the page.",
    example: "\"https://example.com/\"",
};

pub(super) const TIER: Field = Field {
    name: "tier",
    kind: Kind::OneOf(&Tier::NAMES),
    required: false,
    default: Some("\"fresh\""),
    doc: "Must match the query parameter `tier` or the header X-Service-Tier, if sent.",
    example: "\"fresh\"",
};

pub(super) const FORCE_REFRESH: Field = Field {
    name: "force_refresh",
    kind: Kind::Flag,
    required: false,
    default: Some("false"),
    doc: "Skips the cache. Not supported for cached and starter, which never fetch.",
    example: "false",
};

const RENDER: Field = Field {
    name: "render",
    kind: Kind::OneOf(&Render::NAMES),
    required: false,
    default: None,
    doc: "Whether to open the page in a browser, for text that only scripts make: never, auto (if the plain page gives \
    too little) or always. Default: auto for fresh and deep, never for the other tiers. The quote says whether this \
    service has a browser.",
    example: "\"auto\"",
};

/// Body of the context endpoint and of the retry endpoint.
pub static ACCESS_REQUEST: Object = Object {
    name: "AccessRequest",
    doc: "Which page to convert, and how fresh it must be.",
    fields: &[
        TARGET_URL,
        TIER,
        FORCE_REFRESH,
        RENDER,
        QUERY,
        MAX_TOKENS,
        MAX_CHARACTERS,
        INCLUDE_LINKS,
        INCLUDE_IMAGES,
        INCLUDE_TABLES,
        INCLUDE_COMMENTS,
        SELECTOR,
        EXCLUDE_SELECTOR,
    ],
    closed: true,
};

const QUERY: Field = Field {
    name: "query",
    kind: Kind::Text {
        characters_max: QUESTION_CHARACTERS_MAX,
    },
    required: false,
    default: None,
    doc: "Returns the passages that answer this best, under their headings and in page order, with […] where something was \
          left out; 2,000 tokens unless max_tokens or max_characters is stated.",
    example: "\"What does it cost?\"",
};

const MAX_TOKENS: Field = Field {
    name: "max_tokens",
    kind: Kind::Integer {
        min: excerpt::TOKENS_MIN,
        max: excerpt::TOKENS_MAX,
    },
    required: false,
    default: None,
    doc: "Most tokens of the markdown, by an estimate from above that holds for common tokenizers; without query, the \
          page's beginning.",
    example: "500",
};

const MAX_CHARACTERS: Field = Field {
    name: "max_characters",
    kind: Kind::Integer {
        min: excerpt::CHARACTERS_MIN,
        max: excerpt::CHARACTERS_MAX,
    },
    doc: "Most characters (Unicode code points) of the markdown. With max_tokens, both hold.",
    example: "2000",
    ..MAX_TOKENS
};

const INCLUDE_LINKS: Field = Field {
    name: "include_links",
    kind: Kind::Flag,
    required: false,
    default: Some("true"),
    doc: "false leaves each link's text and drops its address.",
    example: "false",
};

const INCLUDE_IMAGES: Field = Field {
    name: "include_images",
    doc: "false drops images.",
    ..INCLUDE_LINKS
};

const INCLUDE_TABLES: Field = Field {
    name: "include_tables",
    doc: "false drops tables.",
    ..INCLUDE_LINKS
};

const INCLUDE_COMMENTS: Field = Field {
    name: "include_comments",
    kind: Kind::Flag,
    required: false,
    default: Some("false"),
    doc: "true includes the comments under an article. Requires a fresh fetch, so not available with the tiers cached and starter.",
    example: "true",
};

const SELECTOR: Field = Field {
    name: "selector",
    kind: Kind::Text {
        characters_max: excerpt::SELECTOR_CHARACTERS_MAX,
    },
    required: false,
    default: None,
    doc: "CSS selector of the elements to read. Requires a fresh fetch, so not available with the tiers cached and starter.",
    example: "\"main\"",
};

const EXCLUDE_SELECTOR: Field = Field {
    name: "exclude_selector",
    doc: "CSS selector of elements to leave out. Requires a fresh fetch, as selector does.",
    example: "\".comments\"",
    ..SELECTOR
};

/// Body of the context endpoint for several pages at once.
pub static PAGES_REQUEST: Object = Object {
    name: "PagesRequest",
    doc: "Which pages to convert for one payment, and how fresh they must be. The price is that of as many pages. \
          All of them are read within 90 seconds; a page that takes longer cannot be sold.",
    fields: &[
        Field {
            kind: Kind::Texts {
                items_min: PAGES_MIN,
                items_max: PAGES_MAX,
            },
            doc: "The pages: 2 to 10 different absolute public HTTP or HTTPS URLs.",
            ..TARGET_URLS
        },
        TIER,
        FORCE_REFRESH,
        RENDER,
        Field {
            name: "min_pages",
            kind: Kind::Integer {
                min: 1,
                max: PAGES_MAX as u64,
            },
            required: false,
            default: None,
            doc: "The fewest pages that you take at the full price. Default: all of them. With fewer the sale is refused \
                  and not charged.",
            example: "2",
        },
        QUERY,
        Field {
            doc: "Most tokens of each page's markdown, by an estimate from above; without query, its beginning.",
            ..MAX_TOKENS
        },
        Field {
            doc: "Most characters (Unicode code points) of each page's markdown. With max_tokens, both hold.",
            ..MAX_CHARACTERS
        },
        INCLUDE_LINKS,
        INCLUDE_IMAGES,
        INCLUDE_TABLES,
        INCLUDE_COMMENTS,
        SELECTOR,
        EXCLUDE_SELECTOR,
    ],
    closed: true,
};

pub(super) const SOURCE_URL: Field = Field {
    doc: "Absolute public HTTP or HTTPS URL of the source.",
    ..TARGET_URL
};

pub(super) const QUESTION: Field = Field {
    name: "question",
    kind: Kind::Text {
        characters_max: QUESTION_CHARACTERS_MAX,
    },
    required: false,
    default: Some("\"What does this source establish?\""),
    doc: "The question or claim to check against the source.",
    example: "\"Does it work without an account?\"",
};

pub(super) const PACK: Field = Field {
    name: "pack",
    kind: Kind::OneOf(&Pack::NAMES),
    required: false,
    default: Some("\"standard\""),
    doc: "Must match the query parameter `pack` or the header X-Service-Pack, if sent.",
    example: "\"standard\"",
};

const PACK_FORCE_REFRESH: Field = Field {
    default: None,
    doc: "Skips the cache. Default: true for the pack deep, false for the others.",
    ..FORCE_REFRESH
};

const PACK_RENDER: Field = Field {
    doc: "Whether to open the page in a browser, for text that only scripts make: never, auto (if the plain page gives \
    too little) or always. Default: auto for standard and deep, never for quick. The quote says whether this service \
    has a browser.",
    ..RENDER
};

const SOURCE_COMMENTS: Field = Field {
    doc: "true reads the comments under an article too. Requires a fresh fetch.",
    ..INCLUDE_COMMENTS
};

/// How the pages among several sources are read.
const SOURCES_RENDER: Field = Field {
    doc: "Whether to open the pages in a browser: never, auto (if the plain page gives too little) or always.",
    ..RENDER
};

const SCREENSHOT: Field = Field {
    name: "screenshot",
    kind: Kind::Flag,
    required: false,
    default: Some("false"),
    doc: "Adds a picture of the page to the report: PNG, at most 1 MB, around the first cited passage. Only with the pack \
          deep, and not with render never. If the picture cannot be made, the report is sold without it, at the same \
          price, and says why.",
    example: "false",
};

/// Body of the Proof Pack endpoint, and of the retry endpoint for a Proof Pack's credit.
pub static PROOF_PACK_REQUEST: Object = Object {
    name: "ProofPackRequest",
    doc: "The source, the question, and how thoroughly to check it.",
    fields: &[
        SOURCE_URL,
        QUESTION,
        PACK,
        PACK_FORCE_REFRESH,
        PACK_RENDER,
        SOURCE_COMMENTS,
        SCREENSHOT,
    ],
    closed: true,
};

pub(super) const TARGET_URLS: Field = Field {
    name: "target_urls",
    kind: Kind::Texts {
        items_min: 1,
        items_max: LISTED_MAX,
    },
    required: true,
    default: None,
    doc: "The sources: public URLs, or bare domains, which use https. A string with sources separated by line breaks, \
    commas or spaces is also accepted.",
    example: "[\"https://example.com/\", \"https://example.org/\"]",
};

pub(super) const BUNDLE: Field = Field {
    name: "bundle",
    kind: Kind::OneOf(&Bundle::NAMES),
    required: false,
    default: Some("\"builder\""),
    doc: "The number of sources. Default: builder, or audit for more sources than builder allows.",
    example: "\"builder\"",
};

/// Longest text that a request may bring along as a source. A request body has 64 KiB in all.
const SOURCE_TEXT_CHARACTERS_MAX: usize = 20_000;
const SOURCE_TITLE_CHARACTERS_MAX: usize = 200;

const SOURCES: Field = Field {
    name: "sources",
    kind: Kind::Sources(SourceRules {
        items_min: bundle::SOURCES_MIN,
        items_max: bundle::SOURCES_MAX,
        url_characters_max: TARGET_URL_CHARACTERS_MAX,
        text_characters_max: SOURCE_TEXT_CHARACTERS_MAX,
        title_characters_max: SOURCE_TITLE_CHARACTERS_MAX,
        reports: false,
    }),
    required: false,
    default: None,
    doc: "The sources: addresses, or objects with `url`, or with `text` and perhaps a `title` for a text of your own. Use \
          either this or target_urls.",
    example: "[\"https://example.com/\", {\"title\": \"Release notes\", \"text\": \"Version 2 is free to use.\"}]",
};

/// Longest list of claims of a bundle.
const CLAIMS_MAX: usize = 10;

/// Body of the endpoint that sells Evidence Bundles.
pub static PROOF_BUNDLE_REQUEST: Object = Object {
    name: "ProofBundleRequest",
    doc: "The sources, and the question or the claims to check against all of them. All sources are read within 90 \
          seconds; one that takes longer counts as unread. The bundle is sold if at least two sources, and at least half \
          of them, can be read; otherwise nothing is charged.",
    fields: &[
        Field {
            kind: Kind::Texts {
                items_min: bundle::SOURCES_MIN,
                items_max: bundle::SOURCES_MAX,
            },
            required: false,
            doc: "The sources: absolute public HTTP or HTTPS URLs, or bare domains. Use either this or sources.",
            ..TARGET_URLS
        },
        SOURCES,
        QUESTION,
        Field {
            name: "claims",
            kind: Kind::Texts {
                items_min: 0,
                items_max: CLAIMS_MAX,
            },
            required: false,
            default: None,
            doc: "Claims to check, in place of a question: at most 1,000 characters in all.",
            example: "[\"It is free to use.\"]",
        },
        Field {
            doc: "The number of sources. Default: the smallest bundle that takes them. A quote without a bundle is for \
                  builder, and recommends this one.",
            default: None,
            ..BUNDLE
        },
        Field {
            doc: "Skips the cache. Default: true for the bundle audit, false for the others.",
            ..PACK_FORCE_REFRESH
        },
        SOURCES_RENDER,
        SOURCE_COMMENTS,
    ],
    closed: true,
};

/// Body of the endpoint that checks a whole text.
pub static CHECK_REQUEST: Object = Object {
    name: "CheckRequest",
    doc: "A text, and the sources to check each of its claims against. The price is that of the depth for each \
          source. All sources are read within 90 seconds; one that takes longer counts as unread.",
    fields: &[
        Field {
            name: "text",
            kind: Kind::Text {
                characters_max: check::TEXT_CHARACTERS_MAX,
            },
            required: true,
            default: None,
            doc: "The text to check, as an agent wrote it.",
            example: "\"The library is free to use. Version 2 was released in 2024.\"",
        },
        Field {
            kind: Kind::Sources(SourceRules {
                items_min: 1,
                items_max: check::SOURCES_MAX,
                url_characters_max: TARGET_URL_CHARACTERS_MAX,
                text_characters_max: SOURCE_TEXT_CHARACTERS_MAX,
                title_characters_max: SOURCE_TITLE_CHARACTERS_MAX,
                reports: true,
            }),
            required: true,
            doc: "The sources: addresses, or objects with `url`, with `text` and perhaps a `title`, or with the \
                  `report_id` of one of your retained reports, whose stored source is used.",
            ..SOURCES
        },
        Field {
            name: "depth",
            kind: Kind::OneOf(&CheckDepth::NAMES),
            required: false,
            default: Some("\"standard\""),
            doc: "How thoroughly to check. Must match the query parameter `depth` or the header X-Service-Depth, if sent.",
            example: "\"standard\"",
        },
        Field {
            default: Some("false"),
            doc: "Skips the cache.",
            ..FORCE_REFRESH
        },
        SOURCES_RENDER,
        SOURCE_COMMENTS,
    ],
    closed: true,
};
