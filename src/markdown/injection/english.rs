//! How English addresses a model. One list; knows no text.

use super::{Pattern, strong, weak};

const IGNORE: &[&str] = &[
    "ignore",
    "disregard",
    "forget",
    "override",
    "bypass",
    "ignoring",
    "disregarding",
];
const ORDERS: &[&str] = &[
    "instruction",
    "instructions",
    "prompt",
    "prompts",
    "directive",
    "directives",
    "guidelines",
    "programming",
];
const MODELS: &[&str] = &[
    "ai", "llm", "llms", "chatgpt", "gpt", "claude", "gemini", "copilot", "chatbot", "chatbots",
];

const USER: &[&str] = &["user"];
const LANGUAGE: &[&str] = &["language"];
const FREED: &[&str] = &["dan", "unrestricted", "jailbroken"];
const AIMS: &[&str] = &["instructions", "objective"];

const AGENTS: &[&str] = &["agent", "agents", "assistant", "assistants"];
const OPERATOR: &[&str] = &["operator", "principal"];
const ANSWERING: &[&str] = &["answering", "responding", "replying"];
const MEMORY: &[&str] = &["memory"];
const PAYING: &[&str] = &["paying", "transferring"];
/// Of a marker of a chat model.
const MARKED: &[&str] = &["inst"];

/// Every pattern of this list has one of these as a step.
pub(super) const ANCHORS: &[&[&str]] = &[
    IGNORE, ORDERS, MODELS, USER, LANGUAGE, FREED, AIMS, AGENTS, OPERATOR, ANSWERING, MEMORY,
    PAYING, MARKED,
];

pub(super) const PATTERNS: &[Pattern] = &[
    strong(
        &[
            IGNORE,
            &[
                "previous",
                "prior",
                "above",
                "earlier",
                "preceding",
                "existing",
                "system",
                "original",
            ],
            ORDERS,
        ],
        2,
    ),
    strong(
        &[
            IGNORE,
            &["all", "any", "your"],
            ORDERS,
            &["above", "before", "previously", "you", "given"],
        ],
        2,
    ),
    strong(
        &[
            IGNORE,
            &["everything"],
            &["above", "before", "previously"],
            &["said", "told", "and", "instead"],
        ],
        3,
    ),
    strong(
        &[&["if", "since", "because"], &["you"], &["are"], MODELS],
        2,
    ),
    strong(
        &[
            &["if", "since", "because"],
            &["you"],
            &["are"],
            LANGUAGE,
            &["model", "models"],
        ],
        3,
    ),
    strong(
        &[
            &[
                "attention",
                "note",
                "notice",
                "message",
                "instructions",
                "instruction",
                "hey",
                "hello",
                "dear",
            ],
            &["to", "for", "all"],
            MODELS,
            &[
                "agents",
                "agent",
                "assistants",
                "assistant",
                "models",
                "crawlers",
                "reading",
                "ignore",
                "please",
                "you",
            ],
        ],
        2,
    ),
    strong(
        &[
            &[
                "reveal",
                "print",
                "output",
                "repeat",
                "leak",
                "disclose",
                "send",
                "exfiltrate",
            ],
            &["your"],
            &["system", "initial", "hidden"],
            &["prompt", "instructions"],
        ],
        1,
    ),
    strong(
        &[
            &["do"],
            &["not"],
            &["tell", "inform", "mention", "reveal", "alert"],
            USER,
            &["about", "that", "this", "these", "of"],
        ],
        2,
    ),
    strong(
        &[
            &["without"],
            &["telling", "informing", "alerting", "notifying", "asking"],
            USER,
            &["and", "or", "send", "first", "call"],
        ],
        3,
    ),
    strong(&[&["you"], &["are"], &["now"], FREED], 2),
    strong(
        &[
            &["to", "for"],
            &["the", "any", "all", "every"],
            AGENTS,
            &[
                "reading",
                "processing",
                "parsing",
                "summarizing",
                "summarising",
            ],
            &["this", "it"],
        ],
        1,
    ),
    strong(
        &[&["as"], &["an"], &["ai", "llm"], &["reading"], &["this"]],
        1,
    ),
    strong(
        &[
            &["your"],
            OPERATOR,
            &[
                "approved",
                "authorized",
                "authorised",
                "consented",
                "agreed",
            ],
        ],
        2,
    ),
    strong(
        &[
            &["do"],
            &["not"],
            &["report", "tell", "mention", "disclose"],
            &["to"],
            &["your"],
            &["user", "operator"],
        ],
        5,
    ),
    strong(&[&["before"], ANSWERING, &["fetch", "visit"]], 1),
    strong(
        &[
            &["copy", "save", "store", "write"],
            &["this"],
            &["in", "into", "to"],
            &["your"],
            MEMORY,
        ],
        0,
    ),
    strong(&[&["retry", "continue", "proceed"], &["by"], PAYING], 0),
    weak(
        &[
            MODELS,
            &[
                "agents",
                "agent",
                "assistants",
                "assistant",
                "models",
                "crawlers",
            ],
            &["must", "should", "please", "shall"],
        ],
        2,
    ),
    weak(
        &[
            MODELS,
            &["agents", "agent", "assistants", "assistant", "models"],
            &[
                "state",
                "say",
                "report",
                "answer",
                "tell",
                "claim",
                "recommend",
                "respond",
                "reply",
                "confirm",
                "mark",
                "rate",
                "treat",
                "summarize",
                "summarise",
            ],
        ],
        0,
    ),
    weak(&[&["as"], &["an"], &["ai"], &["you", "please"]], 3),
    weak(&[&["system"], &["override"]], 0),
    weak(
        &[
            &["new"],
            &["system"],
            &["instructions", "prompt", "instruction"],
        ],
        0,
    ),
];
