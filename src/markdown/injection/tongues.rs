//! How other languages address a model, and how chat models mark who speaks. Lists; knows no text.

use super::{Pattern, strong};

const GERMAN_ORDERS: &[&str] = &[
    "anweisungen",
    "anweisung",
    "instruktionen",
    "befehle",
    "vorgaben",
];
const GERMAN_MODELS: &[&str] = &["ki", "sprachmodell", "chatbot", "llm"];
const FRENCH_ORDERS: &[&str] = &["instructions", "consignes", "directives"];
const FRENCH_MODELS: &[&str] = &["ia", "llm", "chatbot", "langage"];
const SPANISH_ORDERS: &[&str] = &["instrucciones", "indicaciones", "órdenes"];
const SPANISH_MODELS: &[&str] = &["ia", "llm", "chatbot", "lenguaje"];
const ITALIAN_ORDERS: &[&str] = &["istruzioni", "indicazioni"];
const PORTUGUESE_ORDERS: &[&str] = &["instruções", "orientações"];
const DUTCH_ORDERS: &[&str] = &["instructies", "opdrachten"];
const POLISH_ORDERS: &[&str] = &["instrukcje", "polecenia"];
const ARABIC_ORDERS: &[&str] = &["التعليمات", "الأوامر"];
const RUSSIAN_ORDERS: &[&str] = &["инструкции", "указания", "команды"];

/// Every pattern of this list has one of these as a step.
pub(super) const ANCHORS: &[&[&str]] = &[
    GERMAN_ORDERS,
    GERMAN_MODELS,
    FRENCH_ORDERS,
    FRENCH_MODELS,
    SPANISH_ORDERS,
    SPANISH_MODELS,
    ITALIAN_ORDERS,
    PORTUGUESE_ORDERS,
    DUTCH_ORDERS,
    POLISH_ORDERS,
    RUSSIAN_ORDERS,
    ARABIC_ORDERS,
];

pub(super) const PATTERNS: &[Pattern] = &[
    // German
    strong(
        &[
            &[
                "ignoriere",
                "ignorieren",
                "vergiss",
                "vergessen",
                "missachte",
            ],
            &[
                "vorherigen",
                "bisherigen",
                "vorigen",
                "obigen",
                "früheren",
                "alle",
            ],
            GERMAN_ORDERS,
        ],
        2,
    ),
    strong(
        &[
            &["wenn", "falls"],
            &["du", "sie"],
            GERMAN_MODELS,
            &["bist", "sind"],
        ],
        2,
    ),
    // French
    strong(
        &[
            &["ignore", "ignorez", "ignorer", "oublie", "oubliez"],
            FRENCH_ORDERS,
            &["précédentes", "antérieures", "ci", "système"],
        ],
        2,
    ),
    strong(
        &[&["si"], &["tu", "vous"], &["es", "êtes"], FRENCH_MODELS],
        3,
    ),
    // Spanish
    strong(
        &[
            &["ignora", "ignore", "ignorar", "olvida", "olvide"],
            SPANISH_ORDERS,
            &["anteriores", "previas", "sistema"],
        ],
        2,
    ),
    strong(&[&["si"], &["eres", "es"], SPANISH_MODELS], 3),
    // Italian
    strong(
        &[
            &["ignora", "ignorate", "dimentica"],
            ITALIAN_ORDERS,
            &["precedenti", "sistema"],
        ],
        2,
    ),
    // Portuguese
    strong(
        &[
            &["ignore", "ignora", "esqueça", "desconsidere"],
            PORTUGUESE_ORDERS,
            &["anteriores", "prévias", "sistema"],
        ],
        2,
    ),
    // Dutch
    strong(
        &[
            &["negeer", "vergeet"],
            &["vorige", "voorgaande", "eerdere", "bovenstaande"],
            DUTCH_ORDERS,
        ],
        2,
    ),
    // Polish
    strong(
        &[
            &["zignoruj", "ignoruj", "zapomnij"],
            &["poprzednie", "wcześniejsze", "powyższe"],
            POLISH_ORDERS,
        ],
        2,
    ),
    // Russian
    strong(
        &[
            &["игнорируй", "игнорируйте", "забудь", "забудьте"],
            &["предыдущие", "прежние", "прошлые", "вышеуказанные"],
            RUSSIAN_ORDERS,
        ],
        2,
    ),
    // Arabic
    strong(
        &[&["تجاهل", "تجاهلوا"], ARABIC_ORDERS, &["السابقة", "أعلاه"]],
        2,
    ),
];

/// For languages that set no spaces: two parts near each other.
pub(super) const PAIRS: [(&[&str], &[&str]); 3] = [
    (
        &["忽略", "无视", "忘记", "忽視", "無視"],
        &[
            "之前的指令",
            "先前的指令",
            "以上指令",
            "上述指令",
            "所有指令",
            "之前的指示",
            "之前所有",
            "系统提示",
        ],
    ),
    (
        &[
            "以前の指示",
            "これまでの指示",
            "上記の指示",
            "前の指示",
            "システムプロンプト",
        ],
        &["無視", "忘れ"],
    ),
    (
        &[
            "이전 지시",
            "이전 지침",
            "이전의 지시",
            "이전의 지침",
            "앞의 지시",
            "모든 지시",
            "모든 지침",
            "시스템 프롬프트",
        ],
        &["무시", "잊"],
    ),
];
pub(super) const PAIR_CHARACTERS: usize = 12;

/// How chat models mark who speaks. On a page they are either documentation or an attempt.
pub(super) const MARKERS: [&str; 8] = [
    "<|im_start|>",
    "<|im_end|>",
    "[inst]",
    // In markdown.
    "[inst\\]",
    "[/inst",
    "<|system|>",
    "<<sys>>",
    "<|start_header_id|>",
];
